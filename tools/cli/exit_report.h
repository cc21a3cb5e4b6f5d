/* How a command ends for readers that are programs.
 *
 * With --json there is exactly one document on stdout, whatever happens. A command that has results
 * prints them and says so. Where it ends without results (a wrong option, a plug-in that is
 * refused, no memory), the document is
 *
 *     {"command": "run", "error": "the last message on stderr", "exit_code": 2}
 *
 * A process that is killed prints none. Only the process that began the command prints: not its
 * workers. */
#pragma once

/* A command begins: "run". The name must last. */
void bz_ending_begin(const char *command);

/* --json was given. */
void bz_ending_want_json(void);

/* A document was printed: there is nothing to do at the end. */
void bz_ending_has_json(void);

/* The message with which the command would end now, and its exit code; the last one counts.
 * BZ_EXIT_OK: it would not. */
void bz_ending_note(int code, const char *message);

/* A second listener to an ending without results: called with the exit code and the message.
 * NULL: nothing. */
void bz_ending_owe(void (*tell)(int code, const char *message));

/* The command ends with this exit code. Only the first call after bz_ending_begin() counts. */
void bz_ending_close(int code);

/* The process ends, by exit(): the exit code is that of the last message. */
void bz_ending_close_at_exit(void);
