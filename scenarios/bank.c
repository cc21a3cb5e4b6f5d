/* bank: two accounts at a remote bank, and cards that pay in at the same time.
 *
 * A request reads the balance of an account, adds the payment, and writes the sum back. The bank
 * serves several requests at a time. Its replies take a drawn time, so a later request can overtake
 * an earlier one. Two requests that read the same balance lose one payment, though only one task
 * runs at a time. So each account has a lock; with `lock=0` no task takes it, and the lost update
 * must be found.
 *
 * Beside the balance the bank keeps the sum of all payments that reached it. Both must be equal
 * after every write, whatever was cancelled. */
#include "scenarios/scenario_support.h"
#include "scenarios/scenarios.h"

enum { ACCOUNTS, CARDS, PAYMENTS, LATENCY_NS, LOCK };

static const struct bz_param params[] = {
    {"accounts", "accounts at the bank", 2, 1, 1000},
    {"cards", "tasks that pay in", 4, 1, 1000},
    {"payments", "payments with each card", 1, 1, 1000},
    {"latency-ns", "a message takes 1..latency-ns nanoseconds, either way", 5, 1, 1000000000},
    {"lock", "1: an account is locked for a payment; 0: it is not, and payments are lost", 1, 0, 1},
    {NULL, NULL, 0, 0, 0},
};

static const struct bz_size sizes[] = {
    {"accounts", 1, 3, 0},   {"cards", 1, 6, 12},
    {"payments", 1, 3, 8},   {"cards", 7, 129, BZ_TAIL_TASKS},
    {"payments", 4, 257, 0}, {NULL, 0, 0, 0},
};

struct account {
    struct bz_sut_permits lock;
    uint64_t balance;
    uint64_t paid_in;
};

struct bank {
    struct bz_scene scene;
    struct bz_sut_pool pool;
    bool is_pool;
    struct account accounts[];
};

/* --- the remote bank -------------------------------------------------------------------------- */

static enum bz_status travel(struct bank *bank, const char *label) {
    return bz_sleep_drawn(bank->scene.world, label, 1, bank->scene.values[LATENCY_NS]);
}

static enum bz_status fetch(struct bank *bank, uint32_t number, uint64_t *balance) {
    enum bz_status status = travel(bank, "read-ns");
    if (status == BZ_OK) {
        *balance = bank->accounts[number].balance;
        status = travel(bank, "reply-ns");
    }
    return status;
}

/* A message cancelled on its way never arrives. One that has arrived takes effect, even if the
 * sender does not wait for the reply. */
static enum bz_status store(struct bank *bank, uint32_t number, uint64_t balance, uint64_t amount) {
    enum bz_status status = travel(bank, "write-ns");
    if (status != BZ_OK) {
        return status;
    }
    struct account *account = &bank->accounts[number];
    account->balance = balance;
    account->paid_in += amount;
    bz_world_assert(bank->scene.world, account->balance == account->paid_in,
                    "account %u has %llu, but %llu were paid in: an update is lost", number,
                    (unsigned long long)account->balance, (unsigned long long)account->paid_in);
    return travel(bank, "reply-ns");
}

/* --- the couple ------------------------------------------------------------------------------- */

static enum bz_status lock(struct bank *bank, uint32_t number) {
    if (bank->scene.values[LOCK] == 0) {
        return BZ_OK;
    }
    return bank->is_pool ? bz_sut_pool_acquire(&bank->pool, number)
                         : bz_sut_acquire(&bank->accounts[number].lock);
}

static void unlock(struct bank *bank, uint32_t number) {
    if (bank->scene.values[LOCK] != 0) {
        bz_check_released(bank->scene.world, bank->is_pool
                                                 ? bz_sut_pool_release(&bank->pool, number)
                                                 : bz_sut_release(&bank->accounts[number].lock));
    }
}

static enum bz_status pay(struct bank *bank, uint32_t number, uint64_t amount) {
    enum bz_status status = lock(bank, number);
    if (status != BZ_OK) {
        return status;
    }
    uint64_t balance = 0;
    status = fetch(bank, number, &balance);
    if (status == BZ_OK) {
        status = store(bank, number, balance + amount, amount);
    }
    unlock(bank, number);
    return status;
}

static enum bz_status card(void *arg) {
    struct bank *bank = arg;
    struct bz_world *world = bank->scene.world;
    const int64_t *values = bank->scene.values;
    enum bz_status status = BZ_OK;
    for (int64_t left = values[PAYMENTS]; status == BZ_OK && left > 0; left--) {
        uint64_t number = bz_world_draw(world, "account", (uint64_t)values[ACCOUNTS]);
        status = pay(bank, (uint32_t)number, 1 + bz_world_draw(world, "amount", 9));
    }
    return status;
}

/* --- setting up ------------------------------------------------------------------------------- */

static enum bz_status open_accounts(struct bank *bank, enum bz_primitive primitive,
                                    uint32_t count) {
    struct bz_world *world = bank->scene.world;
    if (bank->is_pool) {
        return bz_sut_pool_init(&bank->pool, world, "account", count);
    }
    enum bz_status status = BZ_OK;
    for (uint32_t number = 0; status == BZ_OK && number < count; number++) {
        status = bz_sut_permits_init(&bank->accounts[number].lock, world, primitive, "account", 1);
    }
    return status;
}

static void *setup(struct bz_world *world, const struct bz_scenario_args *args) {
    uint32_t accounts = (uint32_t)args->values[ACCOUNTS];
    struct bank *bank =
        bz_scene_new(world, args, sizeof *bank + accounts * sizeof bank->accounts[0]);
    bank->is_pool = args->primitive == BZ_PRIMITIVE_POOL;
    if (bz_scene_is_set_up(world, open_accounts(bank, args->primitive, accounts))) {
        int64_t count = args->values[CARDS];
        struct bz_task **cards = bz_world_alloc(world, (size_t)count * sizeof cards[0]);
        bz_scene_spawn_alike(world, cards, count, "card", card, bank);
    }
    return bank;
}

static void finish(struct bz_world *world, void *arg) {
    struct bank *bank = arg;
    (void)world;
    if (bank->is_pool) {
        bz_sut_pool_finish(&bank->pool);
        return;
    }
    for (int64_t number = 0; number < bank->scene.values[ACCOUNTS]; number++) {
        bz_sut_probe_misuse(&bank->accounts[number].lock);
    }
}

const struct bz_scenario bz_scenario_bank = {
    .name = "bank",
    .summary = "a remote bank whose replies overtake each other, and one lock for each account",
    .params = params,
    BZ_SCENARIO_USES(BZ_PRIMITIVE_LOCK, BZ_PRIMITIVE_SEMAPHORE, BZ_PRIMITIVE_POOL),
    .setup = setup,
    .runs_uncancelled = true,
    .finish = finish,
    .sizes = sizes,
};
