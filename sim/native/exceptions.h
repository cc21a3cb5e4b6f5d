/* Programs and plug-ins in C++: their tasks may wait in catch blocks. */
#pragma once

struct bz_loop;

/* bz_loop_keep_exceptions() with the C++ runtime of the program or plug-in in which `part` lies, as
 * a variant or a scenario. Does nothing if that is not in C++, or if the loop has one. C code pays
 * nothing, and this library needs no C++ runtime. */
void bz_exceptions_find(struct bz_loop *loop, const void *part);
