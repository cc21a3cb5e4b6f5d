/* Names that a layer must not use, as compiler errors. tools/cmake/BuzzerPoison.cmake includes this
 * header before each source file and lists the exceptions. The system headers that declare the
 * names come first. */
#ifndef BZ_TOOLS_CMAKE_POISON_H
#define BZ_TOOLS_CMAKE_POISON_H

#include <locale.h>
#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

/* They draw outside the choice tape. */
#pragma GCC poison rand srand rand_r random_r srandom drand48 lrand48
#pragma GCC poison getrandom getentropy arc4random

#ifndef BZ_MAY_SET_LOCALE /* it makes the output depend on the machine */
#pragma GCC poison setlocale
#endif

#ifndef BZ_MAY_TELL_TIME /* the loop's clock is bz_loop_now_ns() */
#pragma GCC poison time clock gettimeofday clock_gettime timespec_get localtime gmtime
#pragma GCC poison usleep nanosleep clock_nanosleep
#endif

#ifndef BZ_MAY_ALLOCATE /* memory comes from the loop's arena */
#pragma GCC poison malloc calloc realloc strdup strndup asprintf vasprintf open_memstream
#endif

#ifndef BZ_MAY_DIFFER /* between machines, C libraries or environments */
#pragma GCC poison float double qsort qsort_r getenv secure_getenv
#endif

#endif
