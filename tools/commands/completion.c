/* buzzer completion: the completion script of bash, which zsh loads by its bashcompinit. The
 * shell's part is small. It asks the program at every Tab, `buzzer completion words ...`, so it
 * knows the options of this program, and what its plug-ins bring. */
#include <stdio.h>
#include <string.h>

#include "tools/cli/cli.h"
#include "tools/cli/embedded.h"
#include "tools/cli/manual/completion.h"
#include "tools/cli/options.h"

int bz_command_completion(int argc, char **argv) {
    static const struct bz_option no_options[] = {{NULL}};
    const char *what = NULL;
    const struct bz_syntax syntax = {
        .options = no_options,
        .args_doc = "bash|words [WORD...]",
        .arguments = &what,
        .arguments_max = 1,
        .doc = "Prints the completion script for bash. With 'words', prints the words that can "
               "replace the last WORD of a command line, one a line. Exit status: 0 done, 2 no "
               "script for this shell."};
    if (argc > 1 && strcmp(argv[1], "words") == 0) { /* among them may be options */
        bz_completion_print((size_t)argc - 2, argv + 2);
        return BZ_EXIT_OK;
    }
    (void)bz_options_parse(&syntax, argc, argv);
    if (what == NULL || strcmp(what, "bash") != 0) {
        return bz_cli_fail(BZ_EXIT_USAGE, "%s%.32s%s: give 'bash'",
                           what == NULL ? "the shell is missing" : "nothing for the shell '",
                           what == NULL ? "" : what, what == NULL ? "" : "'");
    }
    fputs(bz_embedded_text(bz_completion_scripts, "buzzer.bash"), stdout);
    return BZ_EXIT_OK;
}
