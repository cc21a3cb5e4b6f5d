/* The commands of buzzer-lab. */
#ifndef BZ_TOOLS_LAB_LAB_H
#define BZ_TOOLS_LAB_LAB_H

int bz_command_lockstep(int argc, char **argv);
int bz_command_scale(int argc, char **argv);

#endif
