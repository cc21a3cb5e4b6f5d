/* Lock for readers and writers: how many read, and whether one writes. If it prefers writers,
 * a read does not take effect while a write waits. convert acquires to write and downgrades at
 * once; it takes effect as a read that needs to be alone. */
#include "primitives/sync/rwlock.h"

#include "scenarios/variants/modelled.h"

enum { READ, END_READ, WRITE, END_WRITE, CONVERT, END_CONVERT, OP_COUNT };

struct state {
    int64_t readers;
    int64_t writers;
};

static bool step(void *memory, uint32_t op, const int64_t *arguments, int64_t *answer) {
    struct state *state = memory;
    (void)arguments;
    (void)answer;
    switch (op) {
    case READ:
        state->readers++;
        return state->writers == 0;
    case WRITE:
        state->writers++;
        return state->writers == 1 && state->readers == 0;
    case CONVERT:
        state->readers++;
        return state->writers == 0 && state->readers == 1;
    case END_WRITE:
        state->writers--;
        return true;
    default: /* END_READ, END_CONVERT */
        state->readers--;
        return true;
    }
}

#define WRITER(the_undo) .line = 1, .cancel = BZ_MODEL_CANCEL_UNDOES, .undo = (the_undo)

#define OPS(the_preferred)                                                                         \
    {                                                                                              \
        [READ] = {.name = "read",                                                                  \
                  .yields_to = (the_preferred),                                                    \
                  .cancel = BZ_MODEL_CANCEL_UNDOES,                                                \
                  .undo = END_READ},                                                               \
        [END_READ] = {.name = "end_read", .gives_back = 1 + READ},                                 \
        [WRITE] = {.name = "write", WRITER(END_WRITE)},                                            \
        [END_WRITE] = {.name = "end_write", .gives_back = 1 + WRITE},                              \
        [CONVERT] = {.name = "convert", WRITER(END_CONVERT)}, [END_CONVERT] = {                    \
            .name = "end_convert",                                                                 \
            .gives_back = 1 + CONVERT                                                              \
        }                                                                                          \
    }

static const struct bz_model_op ops[] = OPS(1u << WRITE | 1u << CONVERT);
static const struct bz_model_op ops_for_readers[] = OPS(0);

#define MODEL(the_ops)                                                                             \
    {                                                                                              \
        .name = "rwlock", .state_bytes = sizeof(struct state), .ops = (the_ops),                   \
        .op_count = OP_COUNT, .step = step                                                         \
    }

const struct bz_model bz_model_rwlock = MODEL(ops);
static const struct bz_model model_for_readers = MODEL(ops_for_readers);

/* --- what ships ------------------------------------------------------------------------------- */

static enum bz_status init(void *instance, struct bz_loop *loop, const int64_t *parameters) {
    (void)parameters;
    bz_rwlock_init(instance, loop, BZ_RWLOCK_PREFERS_WRITERS);
    return BZ_OK;
}

static enum bz_status init_for_readers(void *instance, struct bz_loop *loop,
                                       const int64_t *parameters) {
    (void)parameters;
    bz_rwlock_init(instance, loop, BZ_RWLOCK_PREFERS_READERS);
    return BZ_OK;
}

static enum bz_status convert(struct bz_rwlock *lock) {
    enum bz_status status = bz_rwlock_acquire_write(lock);
    return status == BZ_OK ? bz_rwlock_downgrade(lock) : status;
}

static enum bz_status call(void *instance, uint32_t op, const int64_t *arguments, int64_t *answer) {
    enum bz_status status = op == READ        ? bz_rwlock_acquire_read(instance)
                            : op == WRITE     ? bz_rwlock_acquire_write(instance)
                            : op == CONVERT   ? convert(instance)
                            : op == END_WRITE ? bz_rwlock_release_write(instance)
                                              : bz_rwlock_release_read(instance);
    (void)arguments;
    return bz_modelled_ended(status, answer);
}

BZ_VARIANT_OF_MODEL(rwlock, "buzzer/rwlock", "the rwlock that ships, preferring writers",
                    struct bz_rwlock, bz_model_rwlock, init);
BZ_VARIANT_OF_MODEL(rwlock_readers, "buzzer/rwlock-readers",
                    "the rwlock that ships, preferring readers", struct bz_rwlock,
                    model_for_readers, init_for_readers);
