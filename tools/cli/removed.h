/* Features that were removed, and what to use now. tools/CHANGELOG.md has the reasons. */
#pragma once

struct bz_gone {
    const char *command; /* NULL ends the table */
    const char *option;  /* without the dashes; NULL: an argument of the command, or the command */
    const char *value;   /* of the option, or an argument; NULL: the option, or the command */
    const char *instead; /* the rest of the sentence "... was removed in 0.2: " */
    char letter;         /* of the option, as '-o'; 0: none */
};

extern const struct bz_gone bz_gone[];

/* The row of an option, a value or a command that is no longer there; NULL: there never was one.
 * `command` may have the name of the program before it: "buzzer run". The value may be a list with
 * commas. */
const struct bz_gone *bz_gone_find(const char *command, const char *option, const char *value);

/* The same for an option that is written as a letter. */
const struct bz_gone *bz_gone_find_letter(const char *command, char letter);

/* Prints the sentence, and ends the process with BZ_EXIT_USAGE. */
_Noreturn void bz_gone_refuse(const struct bz_gone *gone);
