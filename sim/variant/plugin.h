/* A plug-in: variants in a shared object, for `buzzer ... --plugin FILE.so`. It is the one header
 * to include; it brings everything that a variant needs.
 *
 *     #include "sim/variant/plugin.h"
 *     ...
 *     static const struct bz_variant mine = {.version = BZ_VARIANT_VERSION, .name = "mine", ...};
 *     BZ_PLUGIN(&mine);
 *
 * A plug-in is compiled against the installed headers and linked with nothing: the program that
 * loads it provides all functions that primitives/runtime declares for users. It exports one
 * symbol, bz_plugin. Before the program uses anything else, it compares the numbers in that table
 * with its own, and refuses a plug-in that does not fit.
 *
 * The code runs with all rights of the user, in processes of its own: if it crashes, hangs or
 * exits, that is a finding (sim/contain/contain.h). Only --plugin on a command line loads it.
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

/* `version` stays the first member forever. The sizes check that both sides were compiled with the
 * same structures: functions that the headers define are compiled into both. */
struct bz_plugin {
    uint32_t version; /* BZ_VARIANT_VERSION */
    uint32_t variant_bytes;
    uint32_t future_bytes;
    uint32_t timer_bytes;
    const struct bz_variant *const *variants; /* ends with NULL */
};

#define BZ_PLUGIN_SYMBOL "bz_plugin"
#define BZ_EXCEPTIONS_SYMBOL "bz_exceptions_mem" /* of new.hpp */

extern __attribute__((__visibility__("default"))) const struct bz_plugin bz_plugin;

/* Defines the table, from pointers to the variants. For use once in a plug-in, outside of
 * functions. */
#define BZ_PLUGIN(...)                                                                             \
    static const struct bz_variant *const bz_plugin_variants[] = {__VA_ARGS__, NULL};              \
    const struct bz_plugin bz_plugin = {BZ_VARIANT_VERSION, sizeof(struct bz_variant),             \
                                        sizeof(struct bz_future), sizeof(struct bz_timer),         \
                                        bz_plugin_variants}

/* The same for one variant with one lock or semaphore: BZ_PRIMITIVE_..., name, summary, claims, the
 * struct of an instance, and the other members of struct bz_permit_ops, by name. For C. */
#define BZ_PERMIT_PLUGIN(primitive, variant_name, text, claimed, instance, ...)                    \
    static const struct bz_permit_ops bz_plugin_permits = {.instance_bytes = sizeof(instance),     \
                                                           __VA_ARGS__};                           \
    static const struct bz_variant bz_plugin_variant = {                                           \
        .version = BZ_VARIANT_VERSION,                                                             \
        .claims = (claimed),                                                                       \
        .name = (variant_name),                                                                    \
        .summary = (text),                                                                         \
        .permits = {[primitive] = &bz_plugin_permits}};                                            \
    BZ_PLUGIN(&bz_plugin_variant)

BZ_END_DECLS

#endif
