#include "sim/choice/choice.h"

#include <stddef.h>

const char *bz_choice_kind_name(enum bz_choice_kind kind) {
    static const char *const names[BZ_CHOICE_KIND_COUNT] = {"next", "cancel", "delay", "data"};
    return (unsigned)kind < BZ_CHOICE_KIND_COUNT ? names[kind] : NULL;
}

const char *bz_window_name(enum bz_window window) {
    static const char *const names[BZ_WINDOW_COUNT] = {NULL,         "unstarted", "waiting",
                                                       "woken",      "sleeping",  "holding",
                                                       "cancelling", "done",      "running"};
    return (unsigned)window < BZ_WINDOW_COUNT ? names[window] : NULL;
}
