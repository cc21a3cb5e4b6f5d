# bash, and zsh with bashcompinit: completes command lines of buzzer. The program says what fits,
# `buzzer completion words`.
_buzzer() {
    local line=${COMP_LINE:0:$COMP_POINT} words value found array=-a
    # bash cuts words at '=' and ':', so the line is taken anew; a backslash keeps a blank.
    [ -z "${ZSH_VERSION-}" ] || array=-A
    # shellcheck disable=SC2162
    read "${array?}" words <<<"$line"
    while [ "${#words[@]}" -gt 1 ] && [ "${words[0]##*/}" != "${1##*/}" ]; do
        words=("${words[@]:1}") # assignments before the command
    done
    case $line in *[[:blank:]]) words+=('') ;; esac
    local last=${words[-1]} cut='' before
    value=$last
    case $last in --*=*) value=${last#*=} ;; esac
    COMPREPLY=()
    while IFS=$'\t' read -r found _; do
        case $found in
        :files | :folders)
            compopt -o filenames 2>/dev/null
            local kind=-f
            [ "$found" = :files ] || kind=-d
            while IFS= read -r found; do
                COMPREPLY+=("${last%"$value"}$found")
            done < <(compgen "$kind" -- "$value")
            ;;
        *) COMPREPLY+=("$found") ;;
        esac
    done < <("${1/#\~/$HOME}" completion words "${words[@]:1}" 2>/dev/null)
    # What is before the last place where bash cuts stays on the line.
    before=${COMP_WORDBREAKS//[^=:]/}
    [ -z "$before" ] || cut=${last%"${last##*[$before]}"}
    COMPREPLY=("${COMPREPLY[@]#"$cut"}")
    if [ "${#COMPREPLY[@]}" -eq 1 ]; then
        case ${COMPREPLY[0]} in *=) compopt -o nospace 2>/dev/null ;; esac
    fi
}
complete -F _buzzer buzzer
