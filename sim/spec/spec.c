#include <stdarg.h>
#include <stdio.h>

#include "sim/spec/packed.h"

const struct bz_spec *const bz_specs[] = {&bz_spec_tla, &bz_spec_buzzer, NULL};

uint32_t bz_spec_words(const struct bz_spec_constants *constants) {
    return bz_packed_is_narrow(constants) ? 1 : 2;
}

struct bz_spec_state bz_spec_initial(const struct bz_spec_constants *constants) {
    struct bz_packed state = {.level = (int32_t)constants->permits};
    return bz_packed_store(bz_packed_is_narrow(constants), &state);
}

/* Leaves out what does not fit. */
static __attribute__((format(printf, 4, 5))) void append(char *buffer, size_t buffer_bytes,
                                                         size_t *used, const char *format, ...) {
    va_list arguments;
    if (*used >= buffer_bytes) {
        return;
    }
    va_start(arguments, format);
    int count = vsnprintf(buffer + *used, buffer_bytes - *used, format, arguments);
    va_end(arguments);
    *used += count > 0 ? (size_t)count : 0;
}

void bz_spec_print(const struct bz_spec *spec, const struct bz_spec_constants *constants,
                   struct bz_spec_state state, char *buffer, size_t buffer_bytes) {
    struct bz_packed unpacked = bz_packed_load(bz_packed_is_narrow(constants), state);
    size_t used = 0;
    append(buffer, buffer_bytes, &used, "level %d; ", unpacked.level);
    for (uint32_t client = 0; client < constants->clients; client++) {
        append(buffer, buffer_bytes, &used, "%sc%u %s", client == 0 ? "" : ", ", client + 1,
               spec->statuses[bz_packed_status(&unpacked, client)]);
    }
    append(buffer, buffer_bytes, &used, "; queue%s", unpacked.length == 0 ? " empty" : "");
    for (uint32_t position = 0; position < unpacked.length; position++) {
        append(buffer, buffer_bytes, &used, " c%u", bz_packed_at(&unpacked, position) + 1);
    }
}
