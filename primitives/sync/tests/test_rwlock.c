/* The lock for readers and writers, in both modes. */
#include "primitives/sync/rwlock.h"
#include "primitives/sync/tests/stage_waiters.h"

/* Words: "read" "write" "try-read" "try-write" "end-read" "end-write" "downgrade"; "readers"
 * "writing" "readers-wait" "writers-wait" report. */
struct library {
    struct tst_stage stage;
    struct bz_rwlock lock;
    uint32_t reading;
    uint32_t writing;
};

static struct library *library_of(struct tst_call *call) {
    return bz_container_of(call->stage, struct library, stage);
}

static enum bz_status read_if(struct library *library, enum bz_status status) {
    library->reading += status == BZ_OK;
    cr_assert_not(library->reading > 0 && library->writing > 0);
    return status;
}

static enum bz_status write_if(struct library *library, enum bz_status status) {
    library->writing += status == BZ_OK;
    cr_assert_leq(library->reading + library->writing, library->writing > 0 ? 1 : UINT32_MAX);
    return status;
}

TST_WORD(word_read, read_if(library_of(call), bz_rwlock_acquire_read(&library_of(call)->lock)))
TST_WORD(word_try_read,
         read_if(library_of(call), bz_rwlock_try_acquire_read(&library_of(call)->lock)))
TST_WORD(word_write, write_if(library_of(call), bz_rwlock_acquire_write(&library_of(call)->lock)))
TST_WORD(word_try_write,
         write_if(library_of(call), bz_rwlock_try_acquire_write(&library_of(call)->lock)))

static enum bz_status word_end_read(struct tst_call *call) {
    enum bz_status status = bz_rwlock_release_read(&library_of(call)->lock);
    library_of(call)->reading -= status == BZ_OK;
    return status;
}

static enum bz_status word_end_write(struct tst_call *call) {
    enum bz_status status = bz_rwlock_release_write(&library_of(call)->lock);
    library_of(call)->writing -= status == BZ_OK;
    return status;
}

static enum bz_status word_downgrade(struct tst_call *call) {
    enum bz_status status = bz_rwlock_downgrade(&library_of(call)->lock);
    library_of(call)->writing -= status == BZ_OK;
    library_of(call)->reading += status == BZ_OK;
    return status;
}

static void library_report(struct tst_call *call) {
    struct bz_rwlock *lock = &library_of(call)->lock;
    tst_count(call, "readers", lock->readers);
    tst_flag(call, "writing", lock->is_writing);
    report_waiters(call, "readers-wait", &lock->reader_queue);
    report_waiters(call, "writers-wait", &lock->writer_queue);
}

static void library_check(struct tst_stage *stage) {
    struct library *library = bz_container_of(stage, struct library, stage);
    struct bz_rwlock *lock = &library->lock;
    check_waiters(&lock->reader_queue);
    check_waiters(&lock->writer_queue);
    cr_assert_not(lock->is_writing && lock->readers > 0);
    cr_assert_eq(lock->readers, library->reading + lock->reader_queue.woken_count);
    cr_assert_eq(lock->is_writing, library->writing + lock->writer_queue.woken_count);
    if (lock->writer_queue.waiting_count > 0) {
        cr_assert(lock->is_writing || lock->readers > 0);
    }
    if (lock->reader_queue.waiting_count > 0 && !lock->is_writing) {
        cr_assert_eq(lock->mode, BZ_RWLOCK_PREFERS_WRITERS);
        cr_assert_lt(0, lock->writer_queue.waiting_count + lock->writer_queue.cancelled_count);
    }
}

static void play(enum bz_rwlock_mode mode, const char *timeline) {
    static const struct tst_word words[] = {{"read", word_read},
                                            {"write", word_write},
                                            {"try-read", word_try_read},
                                            {"try-write", word_try_write},
                                            {"end-read", word_end_read, .is_quiet = true},
                                            {"end-write", word_end_write, .is_quiet = true},
                                            {"downgrade", word_downgrade, .is_quiet = true},
                                            {NULL, NULL}};
    struct library library = {.reading = 0};
    tst_stage_begin(&library.stage, (struct tst_cast){words, library_report, library_check});
    bz_rwlock_init(&library.lock, library.stage.loop, mode);
    tst_play(&library.stage, timeline);
    tst_play(&library.stage, "run readers-wait=0/0/0 writers-wait=0/0/0");
    tst_stage_end(&library.stage);
}

static void writers_first(const char *timeline) {
    play(BZ_RWLOCK_PREFERS_WRITERS, timeline);
}

static void readers_first(const char *timeline) {
    play(BZ_RWLOCK_PREFERS_READERS, timeline);
}

static void in_both_modes(const char *timeline) {
    writers_first(timeline);
    readers_first(timeline);
}

/* --- both modes ------------------------------------------------------------------------------- */

Test(rwlock, in_both_modes) {
    static const struct tst_row rows[] = {
        {"many_read_and_one_writes",
         "read read readers=2 try-write:empty end-read try-write:empty end-read;"
         "try-write writing=yes try-read:empty try-write:empty end-write try-read"},
        {"refuses_a_release_of_what_is_not_held",
         "end-read:not-held end-write:not-held downgrade:not-held;"
         "read end-write:not-held downgrade:not-held end-read end-read:not-held;"
         "write end-read:not-held end-write end-write:not-held"},
        /* A lock that was handed over is held only once its task has resumed. */
        {"refuses_a_release_too_many_in_the_window",
         "write; a: write; turn end-write end-write:not-held downgrade:not-held;"
         "turn -> a.write:ok; b-c: read; turn end-write end-read:not-held"
         " => b.read:ok c.read:ok"},
        {"writers_come_in_order",
         "write; a-b: write; turn end-write turn -> a.write:ok; try-write:empty end-write"
         " => b.write:ok"},
        {"release_lets_all_readers_in",
         "write; a-c: read; turn end-write readers=3 => a.read:ok b.read:ok c.read:ok"},

        /* --- downgrade --- */
        {"downgrade_lets_readers_in_and_no_writer",
         "write; a: read; turn downgrade readers=2 writing=no try-write:empty"
         " => a.read:ok"},

        /* --- cancels --- */
        {"woken_writer_that_is_cancelled_passes_the_lock_on",
         "write; a-b: write; turn end-write cancel-a => a.write:cancelled b.write:ok;"
         "c: read; turn end-write => c.read:ok"},
        {"woken_writer_that_is_cancelled_passes_the_lock_on",
         "write; a: write; turn end-write cancel-a; b: read => a.write:cancelled"
         " b.read:ok"},
        {"woken_reader_that_is_cancelled_passes_the_lock_on",
         "write; a: read; turn; b: write; end-write cancel-a step writers-wait=1/0/0"
         " => a.read:cancelled b.write:ok"},
        /* The other readers keep the writer out. */
        {"one_of_two_woken_readers_is_cancelled",
         "write; a-b: read; turn end-write cancel-a; c: write"
         " => a.read:cancelled b.read:ok; writers-wait=1/0/0 end-read => c.write:ok"},
        {"cancelled_reader_changes_nothing",
         "write; a-b: read; turn cancel-a end-write readers=1 => a.read:cancelled"
         " b.read:ok"},
        {NULL, NULL},
    };
    tst_play_rows(rows, in_both_modes);
}

/* --- who comes first -------------------------------------------------------------------------- */

Test(rwlock, writers_first) {
    static const struct tst_row rows[] = {
        /* a writer waits: new readers stay out, and it goes before the reader that waits. */
        {"waiting_writer_keeps_readers_out",
         "read; a: write; turn try-read:empty; b: read; turn readers-wait=1/0/0 end-read"
         " => a.write:ok; end-write => b.read:ok"},
        {"writers_go_before_readers_that_wait_longer",
         "write; a: read; turn; b: write; turn end-write => b.write:ok; end-write"
         " => a.read:ok"},

        /* --- downgrade --- */
        /* The writer that waits keeps them out, and comes when the downgraded one has gone. */
        {"downgrade_with_a_waiting_writer",
         "write; a: write; b: read; turn downgrade readers=1 turn end-read => a.write:ok;"
         "end-write => b.read:ok"},

        /* --- cancels --- */
        /* A cancelled writer no longer keeps readers out. */
        {"cancelled_writer_lets_the_readers_behind_it_in",
         "read; a: write; b-c: read; turn readers-wait=2/0/0 cancel-a try-read:empty"
         " => a.write:cancelled b.read:ok c.read:ok; readers=3"},
        /* Another writer still does. */
        {"cancelled_writer_before_another_one",
         "read; a-b: write; c: read; turn cancel-a => a.write:cancelled; readers=1 end-read"
         " => b.write:ok; end-write => c.read:ok"},
        {NULL, NULL},
    };
    tst_play_rows(rows, writers_first);
}

Test(rwlock, readers_first) {
    static const struct tst_row rows[] = {
        {"readers_enter_in_spite_of_a_waiting_writer",
         "read; a: write; turn try-read; b: read; turn readers=3 -> b.read:ok;"
         "end-read end-read end-read => a.write:ok"},
        {"readers_go_before_writers_that_wait_longer",
         "write; a: write; turn; b: read; turn end-write => b.read:ok; end-read"
         " => a.write:ok"},

        /* --- downgrade --- */
        {"downgrade_with_a_waiting_writer",
         "write; a: write; b: read; turn downgrade readers=2 turn -> b.read:ok;"
         "end-read end-read => a.write:ok"},
        {NULL, NULL},
    };
    tst_play_rows(rows, readers_first);
}
