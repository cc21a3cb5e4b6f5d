/* Compiled into the primitives of libbuzzer-live (-include): gives the functions that announce.c
 * takes the names of other ones. So a program calls the announcement, which calls the primitive,
 * and primitives call each other without one. */
#ifndef BZ_LIVE_BEHIND_H
#define BZ_LIVE_BEHIND_H

#define bz_barrier_abort bz_behind_barrier_abort
#define bz_barrier_init bz_behind_barrier_init
#define bz_barrier_reset bz_behind_barrier_reset
#define bz_barrier_wait bz_behind_barrier_wait
#define bz_condition_init bz_behind_condition_init
#define bz_condition_notify bz_behind_condition_notify
#define bz_condition_notify_all bz_behind_condition_notify_all
#define bz_condition_wait bz_behind_condition_wait
#define bz_condition_wait_for bz_behind_condition_wait_for
#define bz_lock_acquire bz_behind_lock_acquire
#define bz_lock_init bz_behind_lock_init
#define bz_lock_release bz_behind_lock_release
#define bz_queue_get bz_behind_queue_get
#define bz_queue_init bz_behind_queue_init
#define bz_queue_join bz_behind_queue_join
#define bz_queue_put bz_behind_queue_put
#define bz_queue_put_priority bz_behind_queue_put_priority
#define bz_queue_shutdown bz_behind_queue_shutdown
#define bz_queue_task_done bz_behind_queue_task_done
#define bz_queue_try_get bz_behind_queue_try_get
#define bz_queue_try_put bz_behind_queue_try_put
#define bz_queue_try_put_priority bz_behind_queue_try_put_priority
#define bz_semaphore_acquire bz_behind_semaphore_acquire
#define bz_semaphore_init bz_behind_semaphore_init
#define bz_semaphore_init_bounded bz_behind_semaphore_init_bounded
#define bz_semaphore_release bz_behind_semaphore_release
#define bz_sync_event_clear bz_behind_sync_event_clear
#define bz_sync_event_init bz_behind_sync_event_init
#define bz_sync_event_set bz_behind_sync_event_set
#define bz_sync_event_wait bz_behind_sync_event_wait

#endif
