/* The words that fit into a command line: for the shells, which ask at every Tab. */
#pragma once

#include <stddef.h>

/* Prints what may stand instead of the last one of `count` words, those behind "buzzer". One a
 * line: the whole word, a tab, what it means. A line ":files" or ":folders" stands for the names of
 * those. Prints nothing if the words make no sense. Does not return once a command is named.
 *
 * A value is completed by the name that its option or argument has in the help: "any|fifo" stands
 * for these words, "V" for a variant, and so on (`kinds` in completion.c). The plug-ins that
 * --plugin names are loaded, for their variants and scenarios. */
void bz_completion_print(size_t count, char **words);
