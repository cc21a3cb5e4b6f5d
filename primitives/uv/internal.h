/* What the driver and its recorder share. Not installed. */
#ifndef BZ_UV_INTERNAL_H
#define BZ_UV_INTERNAL_H

#include <stdio.h>

#include "primitives/runtime/check.h"
#include "primitives/runtime/driver.h"
#include "primitives/uv/driver.h"

/* A recording that is written, or read, or neither. */
struct bz_uv_record {
    FILE *out;
    char *text;     /* of the file that is read; NULL: the caller's */
    const char *in; /* where it goes on; NULL: it is not read */
    unsigned long line_number;
    uint64_t digest;                   /* of all events so far */
    uint32_t ready_left;               /* handles that the last turn left in the queue */
    bool is_inside;                    /* events now are the driver's doing, or a task's */
    bool has_outside;                  /* others were seen, or handles that nobody reported */
    bool has_ended;                    /* the replay of one bz_uv_run() is complete */
    bool was_stopped;                  /* by uv_stop(), in the recorded run */
    struct bz_list *open;              /* replay: open operations, by number % BZ_UV_BUCKETS */
    struct bz_observer observer;       /* folds the events into the digest */
    struct bz_observer *next_observer; /* gets them, too; NULL: nobody */
    char error[200];                   /* empty: none */
};

#define BZ_UV_BUCKETS 4096u

struct bz_uv {
    struct bz_loop *loop;
    uv_loop_t *uv;
    uv_prepare_t prepare; /* runs turns; does not keep uv_run() alive */
    uv_idle_t idle;       /* active while a turn is due: libuv does not sleep */
    uv_timer_t timer;     /* the loop's next deadline */
    uv_async_t async;     /* bz_uv_op_post(); keeps uv_run() alive while operations are open */
    uint64_t origin_ns;   /* of the loop's clock, on uv_hrtime() */
    uint64_t armed_ms;    /* when the timer is due, on uv_now() */
    uint64_t ops_begun;
    uint32_t ops_open;
    unsigned handles_open;  /* after bz_uv_close() */
    bool is_running;        /* in bz_uv_run() */
    bool is_driven;         /* a replay by somebody else: no handle is used */
    struct bz_list arrived; /* operations that were completed, until the next turn */
    uv_mutex_t mutex;       /* guards `posted` */
    struct bz_list posted;  /* the same, from other threads */
    struct bz_uv_record record;
};

/* Ends an open operation; its task resumes in the next turn. */
void bz_uv_op_deliver(struct bz_uv_op *op, int64_t value);

/* Runs a turn at a time on the loop's clock. */
void bz_uv_turn(struct bz_uv *driver, uint64_t now_ns);

/* The recorder: see the end of driver.h. 0, or a libuv error. */
int bz_uv_record_open(struct bz_uv *driver, const struct bz_uv_config *config);
void bz_uv_record_close(struct bz_uv *driver);
void bz_uv_record_outside(struct bz_uv *driver); /* looks for wake-ups that were not recorded */
void bz_uv_record_done(struct bz_uv *driver, const struct bz_uv_op *op);
void bz_uv_record_turn(struct bz_uv *driver, uint64_t now_ns);
void bz_uv_record_end(struct bz_uv *driver, bool is_stopped);

/* Replays from memory. `buckets`: BZ_UV_BUCKETS of them. 0, or a libuv error. */
int bz_uv_replay_open(struct bz_uv *driver, const char *text, struct bz_list *buckets);
void bz_uv_replay_began(struct bz_uv *driver, struct bz_uv_op *op);

#endif
