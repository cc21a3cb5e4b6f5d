/* buzzer completion: the completion script of a shell for command lines of the program. The shell's
 * part is small. It asks the program at every Tab, `buzzer completion words ...`, so it knows the
 * options of this program, and what its plug-ins bring. */
#include <stdio.h>
#include <string.h>

#include "tools/cli.h"
#include "tools/completion.h"
#include "tools/embedded.h"
#include "tools/options.h"

int bz_command_completion(int argc, char **argv) {
    static const struct bz_option no_options[] = {{NULL}};
    static const char *const names[] = {"bash", "fish", "words", "zsh"};
    const char *what = NULL;
    const struct bz_syntax syntax = {
        .options = no_options,
        .args_doc = "bash|fish|zsh|words [WORD...]",
        .arguments = &what,
        .arguments_max = 1,
        .doc = "Prints the completion script for a shell. With 'words', prints the words that can "
               "replace the last WORD of a command line, one a line. Exit status: 0 done, 2 no "
               "script for this shell."};
    if (argc > 1 && strcmp(argv[1], "words") == 0) { /* among them may be options */
        bz_completion_print((size_t)argc - 2, (const char *const *)argv + 2);
        return BZ_EXIT_OK;
    }
    (void)bz_options_parse(&syntax, argc, argv);
    if (what == NULL) {
        return bz_cli_fail(argv[0], BZ_EXIT_USAGE, "a shell is missing: bash, fish or zsh");
    }
    char file[64];
    snprintf(file, sizeof file, "buzzer.%s", what);
    const char *text = bz_embedded_text(bz_completion_scripts, file);
    if (text == NULL) {
        return bz_cli_fail(
            argv[0], BZ_EXIT_USAGE,
            "no completion script for the shell '%.32s'%s (there are bash, fish and zsh)", what,
            bz_cli_hint(what, names, sizeof names / sizeof names[0]));
    }
    fputs(text, stdout);
    return BZ_EXIT_OK;
}
