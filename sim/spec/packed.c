#include "sim/spec/packed.h"

#include <stdarg.h>
#include <stdio.h>

/* Appends to what is in the buffer; what does not fit is left out. */
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

void bz_packed_print(const struct bz_packed *state, const struct bz_spec_constants *constants,
                     const char *const *statuses, char *buffer, size_t buffer_bytes) {
    size_t used = 0;
    append(buffer, buffer_bytes, &used, "level %d; ", state->level);
    for (uint32_t client = 0; client < constants->clients; client++) {
        append(buffer, buffer_bytes, &used, "%sc%u %s", client == 0 ? "" : ", ", client + 1,
               statuses[bz_packed_status(state, client)]);
    }
    append(buffer, buffer_bytes, &used, "; queue%s", state->length == 0 ? " empty" : "");
    for (uint32_t position = 0; position < state->length; position++) {
        append(buffer, buffer_bytes, &used, " c%u", bz_packed_at(state, position) + 1);
    }
}
