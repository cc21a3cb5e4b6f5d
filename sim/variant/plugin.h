/* A plug-in: variants in a shared object, for `buzzer ... --plugin FILE.so`. The one header to
 * include; what a variant is made of comes with it.
 *
 *     #include "sim/variant/plugin.h"
 *     ...
 *     static const struct bz_variant mine = {.version = BZ_VARIANT_VERSION, .name = "mine", ...};
 *     BZ_PLUGIN(&mine);
 *
 * A plug-in is compiled against the installed headers and linked with nothing: the program that
 * loads it has the runtime, and hands out its functions (all that primitives/runtime declares for
 * users, so that timeouts, task groups and deferreds are there, too). It holds one symbol that
 * others see, bz_plugin. Before anything of it is used, the program compares the numbers in that
 * table with its own and refuses what does not fit.
 *
 * Its code runs inside the program, with all the rights of whoever started it. It is loaded because
 * somebody wrote --plugin on a command line, and for no other reason.
 */
#ifndef BZ_SIM_VARIANT_PLUGIN_H
#define BZ_SIM_VARIANT_PLUGIN_H

#include <stddef.h>
#include <stdint.h>

#include "primitives/runtime/future.h"
#include "primitives/runtime/list.h"
#include "primitives/runtime/loop.h"
#include "primitives/runtime/mem.h"
#include "primitives/runtime/status.h"
#include "primitives/runtime/task.h"
#include "primitives/runtime/timer.h"
#include "sim/variant/variant.h"

BZ_BEGIN_DECLS

/* `version` comes first, for ever. The sizes say that both sides mean the same by a variant, a
 * future and a timer: functions that the headers define were compiled into both. */
struct bz_plugin {
    uint32_t version; /* BZ_VARIANT_VERSION */
    uint32_t variant_bytes;
    uint32_t future_bytes;
    uint32_t timer_bytes;
    const struct bz_variant *const *variants; /* ends with NULL */
};

#define BZ_PLUGIN_SYMBOL "bz_plugin"

extern __attribute__((visibility("default"))) const struct bz_plugin bz_plugin;

/* Defines the table. Takes pointers to the variants; stands once in a plug-in, outside of every
 * function. */
#define BZ_PLUGIN(...)                                                                             \
    static const struct bz_variant *const bz_plugin_variants[] = {__VA_ARGS__, NULL};              \
    const struct bz_plugin bz_plugin = {BZ_VARIANT_VERSION, sizeof(struct bz_variant),             \
                                        sizeof(struct bz_future), sizeof(struct bz_timer),         \
                                        bz_plugin_variants}

BZ_END_DECLS

#endif
