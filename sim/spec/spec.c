#include "sim/spec/packed.h"
#include "traces/text.h"

const struct bz_spec *const bz_specs[] = {&bz_spec_tla, &bz_spec_buzzer, NULL};

struct bz_spec_state bz_spec_initial(const struct bz_spec_constants *constants) {
    struct bz_packed state = {.level = (int32_t)constants->permits};
    return bz_packed_store(&state);
}

void bz_spec_print(const struct bz_spec *spec, const struct bz_spec_constants *constants,
                   struct bz_spec_state state, char *buffer, size_t buffer_bytes) {
    struct bz_packed unpacked = bz_packed_load(state);
    struct bz_cut_text text = {.text = buffer, .bytes = buffer_bytes};
    bz_cut_add(&text, "level %d; ", unpacked.level);
    for (uint32_t client = 0; client < constants->clients; client++) {
        bz_cut_add(&text, "%sc%u %s", client == 0 ? "" : ", ", client + 1,
                   spec->statuses[bz_packed_status(&unpacked, client)]);
    }
    bz_cut_add(&text, "; queue%s", unpacked.length == 0 ? " empty" : "");
    for (uint32_t position = 0; position < unpacked.length; position++) {
        bz_cut_add(&text, " c%u", bz_packed_at(&unpacked, position) + 1);
    }
}
