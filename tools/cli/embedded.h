/* Files embedded into the program by cmake/BuzzerEmbed.cmake. */
#pragma once

#include <stddef.h>
#include <string.h>

struct bz_embedded {
    const char *name; /* NULL ends a list */
    const char *text;
};

/* The text of the file; NULL if the list has none of that name. */
static inline const char *bz_embedded_text(const struct bz_embedded *list, const char *name) {
    while (list->name != NULL && strcmp(list->name, name) != 0) {
        list++;
    }
    return list->text;
}

/* The templates of `buzzer new variant` and `buzzer new scenario`. */
extern const struct bz_embedded bz_variant_templates[];
extern const struct bz_embedded bz_scenario_templates[];

/* The commands of `buzzer replay --gdb`: buzzer_gdb.py */
extern const struct bz_embedded bz_gdb_scripts[];

/* The work of `buzzer adequacy`: each file comes behind those that it imports */
extern const struct bz_embedded bz_adequacy_scripts[];

/* The templates of `buzzer show`: page.html, player.py */
extern const struct bz_embedded bz_show_templates[];

/* The player of `buzzer-lab lockstep`: player_loop.py, player.py, and deferreds.py for Twisted */
extern const struct bz_embedded bz_lockstep_scripts[];

/* Manual pages, the parts written by hand: manual.txt, buzzer.1 (tools/cli/manual/manual.c) */
extern const struct bz_embedded bz_manual_parts[];

/* The output of `buzzer completion`: buzzer.bash */
extern const struct bz_embedded bz_completion_scripts[];
