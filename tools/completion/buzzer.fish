# fish: completes command lines of buzzer. The program says what fits, `buzzer completion words`.
function __buzzer_complete
    set -l words (commandline -opc)
    set -l last (commandline -ct)
    set -l lead (string match -r -- '^--[^=]*=' $last)
    for found in ($words[1] completion words $words[2..] "$last" 2>/dev/null)
        switch $found
            case ':files'
                printf '%s\n' "$lead"(__fish_complete_path (string replace -r -- '^--[^=]*=' '' $last))
            case ':folders'
                printf '%s\n' "$lead"(__fish_complete_directories (string replace -r -- '^--[^=]*=' '' $last) '')
            case '*'
                printf '%s\n' $found
        end
    end
end
complete -c buzzer -f -a '(__buzzer_complete)'
