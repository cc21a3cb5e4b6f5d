/* The commands of `buzzer`, in the order of --help: the function bz_command_..., whose file has the
 * same name in tools/commands; the name; the summary. CMake reads the rows for the list of sources
 * and for buzzer(1). The prose of a command's page is in manual/manual.txt. */
#ifndef COMMAND
#define COMMAND(function, name, summary)
#endif
/* clang-format off */
COMMAND(list, "list", "list scenarios, variants, strategies, oracles, windows")
COMMAND(run, "run", "run a scenario under many seeded schedules")
COMMAND(merge, "merge", "join the shards of a campaign into one report")
COMMAND(fuzz, "fuzz", "run scenarios for hours, with each strategy in turn")
COMMAND(replay, "replay", "replay one run from its trace or its token")
COMMAND(shrink, "shrink", "find the smallest run that fails in the same way")
COMMAND(show, "show", "show a run as a picture, or as a program that repeats it")
COMMAND(diff, "diff", "compare two runs side by side")
COMMAND(explain, "explain", "explain why a run fails")
COMMAND(corpus, "corpus", "replay every trace of a folder, also on fixed code")
COMMAND(explore, "explore", "search every schedule of a scenario")
COMMAND(spec, "spec", "search all states of an executable specification")
COMMAND(zoo, "zoo", "find every declared fault, and count the schedules it takes")
COMMAND(check_plugin, "check-plugin", "check that a plug-in keeps the contract of a variant")
COMMAND(adequacy, "adequacy", "report the faults that no campaign would notice")
COMMAND(new, "new", "write the skeleton of a new variant or scenario")
COMMAND(bench, "bench", "measure how fast schedules run on this machine")
COMMAND(help, "help", "describe a command, or list all commands")
COMMAND(completion, "completion", "print the completion script for a shell")
#undef COMMAND
/* clang-format on */
