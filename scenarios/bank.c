/* bank: a couple, two cards, one balance, and a bank that is far away.
 *
 * A request reads the balance of an account from the remote bank, adds what it pays in, and writes
 * the sum back. The bank works on several requests at a time and its replies take a drawn time, so
 * that a later request overtakes an earlier one. Two requests that read the same balance lose one
 * payment, though only one task ever runs at a time: so each account has a lock. With `lock=0`
 * nobody takes it, and the lost update must be found.
 *
 * The bank keeps, beside the balance, the sum of what the writes that reached it paid in. Both
 * must be equal after every write; so no cancel, wherever it strikes, makes this check wrong. */
#include "primitives/runtime/task.h"
#include "scenarios/scenarios.h"
#include "sim/native/sut.h"
#include "sim/native/world.h"

enum { ACCOUNTS, CARDS, PAYMENTS, LATENCY_NS, LOCK };

static const struct bz_param params[] = {
    {"accounts", "accounts at the bank", 2, 1, 1000},
    {"cards", "tasks that pay in", 4, 1, 1000},
    {"payments", "payments with each card", 1, 1, 1000},
    {"latency-ns", "a message takes 1..latency-ns nanoseconds, either way", 5, 1, 1000000000},
    {"lock", "1: an account is locked for a payment; 0: it is not, and payments are lost", 1, 0, 1},
    {NULL, NULL, 0, 0, 0},
};

struct account {
    struct bz_sut_permits lock;
    uint64_t balance;
    uint64_t paid_in;
};

struct bank {
    struct bz_world *world;
    const struct bz_scenario_args *args;
    struct bz_sut_pool pool;
    bool is_pool;
    struct account accounts[];
};

/* --- the remote bank -------------------------------------------------------------------------- */

static enum bz_status travel(struct bank *bank, const char *label) {
    uint64_t most_ns = (uint64_t)bank->args->values[LATENCY_NS];
    return bz_sleep(bank->world->loop, bz_world_draw_delay_ns(bank->world, label, 1, most_ns));
}

static enum bz_status fetch(struct bank *bank, uint32_t number, uint64_t *balance) {
    enum bz_status status = travel(bank, "read-ns");
    if (status == BZ_OK) {
        *balance = bank->accounts[number].balance;
        status = travel(bank, "reply-ns");
    }
    return status;
}

/* A message that its sender calls back has never arrived; one that has arrived has been obeyed,
 * even if the sender does not wait for the reply. */
static enum bz_status store(struct bank *bank, uint32_t number, uint64_t balance, uint64_t amount) {
    enum bz_status status = travel(bank, "write-ns");
    if (status != BZ_OK) {
        return status;
    }
    struct account *account = &bank->accounts[number];
    account->balance = balance;
    account->paid_in += amount;
    bz_world_assert(bank->world, account->balance == account->paid_in,
                    "account %u has %llu, and %llu were paid in: an update is lost", number,
                    (unsigned long long)account->balance, (unsigned long long)account->paid_in);
    return travel(bank, "reply-ns");
}

/* --- the couple ------------------------------------------------------------------------------- */

static enum bz_status lock(struct bank *bank, uint32_t number) {
    if (bank->args->values[LOCK] == 0) {
        return BZ_OK;
    }
    return bank->is_pool ? bz_sut_pool_acquire(&bank->pool, number)
                         : bz_sut_acquire(&bank->accounts[number].lock);
}

static void unlock(struct bank *bank, uint32_t number) {
    if (bank->args->values[LOCK] == 0) {
        return;
    }
    enum bz_status status = bank->is_pool ? bz_sut_pool_release(&bank->pool, number)
                                          : bz_sut_release(&bank->accounts[number].lock);
    bz_world_assert(bank->world, status == BZ_OK, "the release by its holder was refused: %s",
                    bz_status_name(status));
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
    uint64_t accounts = (uint64_t)bank->args->values[ACCOUNTS];
    enum bz_status status = BZ_OK;
    for (int64_t left = bank->args->values[PAYMENTS]; status == BZ_OK && left > 0; left--) {
        uint32_t number = (uint32_t)bz_world_draw(bank->world, "account", accounts);
        status = pay(bank, number, 1 + bz_world_draw(bank->world, "amount", 9));
    }
    return status;
}

/* --- setting up ------------------------------------------------------------------------------- */

static enum bz_status open_accounts(struct bank *bank) {
    uint32_t count = (uint32_t)bank->args->values[ACCOUNTS];
    enum bz_primitive primitive = bank->args->primitive;
    if (bank->is_pool) {
        return bz_sut_pool_init(&bank->pool, bank->world, "account", count);
    }
    enum bz_status status = BZ_OK;
    for (uint32_t number = 0; status == BZ_OK && number < count; number++) {
        status =
            bz_sut_permits_init(&bank->accounts[number].lock, bank->world, primitive, "account", 1);
    }
    return status;
}

static void *setup(struct bz_world *world, const struct bz_scenario_args *args) {
    uint32_t accounts = (uint32_t)args->values[ACCOUNTS];
    uint32_t cards = (uint32_t)args->values[CARDS];
    struct bank *bank = bz_world_alloc(world, sizeof *bank + accounts * sizeof bank->accounts[0]);
    bank->world = world;
    bank->args = args;
    bank->is_pool = args->primitive == BZ_PRIMITIVE_POOL;
    enum bz_status status = open_accounts(bank);
    bz_world_assert(world, status == BZ_OK, "the variant could not be set up: %s",
                    bz_status_name(status));
    for (uint32_t index = 1; status == BZ_OK && index <= cards; index++) {
        const struct bz_task *task = bz_task_spawn(world->loop, "card", index, card, bank);
        bz_world_assert(world, task != NULL, "no memory for task card-%u", index);
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
    for (int64_t number = 0; number < bank->args->values[ACCOUNTS]; number++) {
        bz_sut_probe_misuse(&bank->accounts[number].lock);
    }
}

const struct bz_scenario bz_scenario_bank = {
    .name = "bank",
    .summary = "a remote bank whose replies overtake each other, and one lock for each account",
    .params = params,
    .primitives = {BZ_PRIMITIVE_LOCK, BZ_PRIMITIVE_SEMAPHORE, BZ_PRIMITIVE_POOL},
    .primitive_count = 3,
    .setup = setup,
    .finish = finish,
};
