/* Addresses that are the same in every process of the program, for a search that can be continued
 * (sim/explore/checkpoint.h): without the system's randomization of addresses, as under gdb. */
#pragma once

#include <stdbool.h>

/* The words of the command line, with NULL behind them, read before a parser changes them. NULL if
 * the system does not tell. They are never freed. */
char **bz_command_line(void);

/* Begins the program again without randomization, and returns true there. False if the system does
 * not allow that, as containers with a filter of system calls may not. Called before anything was
 * done that must not be done twice. */
bool bz_fixed_addresses(char **command_line);

/* Calls run(context) with a fixed stack guard, the word that a compiler with a stack protector puts
 * into each frame: it is another one in each process, and would be part of every state. Only on
 * x86-64; elsewhere, states of code that is compiled so are others in another process. */
void bz_fixed_guard(void (*run)(void *context), void *context);
