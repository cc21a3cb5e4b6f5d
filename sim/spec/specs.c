#include "sim/spec/spec.h"

const struct bz_spec *const bz_specs[] = {&bz_spec_tla, &bz_spec_buzzer, NULL};
