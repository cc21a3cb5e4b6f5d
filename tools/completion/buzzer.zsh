#compdef buzzer
# zsh: completes command lines of buzzer. The program says what fits, `buzzer completion words`.
_buzzer() {
    local found
    local -a candidates unfinished
    for found in "${(@f)$("${(Q)words[1]/#\~/$HOME}" completion words \
        "${(@Q)words[2,CURRENT-1]}" "${(Q)PREFIX}" 2>/dev/null)}"; do
        case $found in
            :files) [[ $PREFIX != --*=* ]] || compset -P '*='; _files ;;
            :folders) [[ $PREFIX != --*=* ]] || compset -P '*='; _files -/ ;;
            *=$'\t'*) unfinished+=("${${found%%$'\t'*}//:/\\:}:${found#*$'\t'}") ;;
            *$'\t'*) candidates+=("${${found%%$'\t'*}//:/\\:}:${found#*$'\t'}") ;;
        esac
    done
    (( ! $#candidates )) || _describe -V buzzer candidates
    (( ! $#unfinished )) || _describe -V buzzer unfinished -S ''
}
if [ "$funcstack[1]" = _buzzer ]; then
    _buzzer "$@"
else
    compdef _buzzer buzzer
fi
