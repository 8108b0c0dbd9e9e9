// A lock, and a condition that threads wait for with it, by the system's own calls.
#ifndef INLAY_GO_LOCK_H
#define INLAY_GO_LOCK_H

#ifdef _WIN32

#ifndef WIN32_LEAN_AND_MEAN
#define WIN32_LEAN_AND_MEAN
#endif
#include <windows.h>

typedef struct {
  SRWLOCK mutex;
  CONDITION_VARIABLE changed;
} inlay_go_lock;

static inline void inlay_go_lock_init(inlay_go_lock* lock) {
  InitializeSRWLock(&lock->mutex);
  InitializeConditionVariable(&lock->changed);
}
static inline void inlay_go_lock_destroy(inlay_go_lock* lock) { (void)lock; }
static inline void inlay_go_lock_take(inlay_go_lock* lock) { AcquireSRWLockExclusive(&lock->mutex); }
static inline void inlay_go_lock_leave(inlay_go_lock* lock) { ReleaseSRWLockExclusive(&lock->mutex); }
// The calling thread holds the lock in both.
static inline void inlay_go_lock_wait(inlay_go_lock* lock) {
  SleepConditionVariableSRW(&lock->changed, &lock->mutex, INFINITE, 0);
}
static inline void inlay_go_lock_wake_all(inlay_go_lock* lock) { WakeAllConditionVariable(&lock->changed); }

#else

#include <pthread.h>

typedef struct {
  pthread_mutex_t mutex;
  pthread_cond_t changed;
} inlay_go_lock;

static inline void inlay_go_lock_init(inlay_go_lock* lock) {
  pthread_mutex_init(&lock->mutex, NULL);
  pthread_cond_init(&lock->changed, NULL);
}
static inline void inlay_go_lock_destroy(inlay_go_lock* lock) {
  pthread_cond_destroy(&lock->changed);
  pthread_mutex_destroy(&lock->mutex);
}
static inline void inlay_go_lock_take(inlay_go_lock* lock) { pthread_mutex_lock(&lock->mutex); }
static inline void inlay_go_lock_leave(inlay_go_lock* lock) { pthread_mutex_unlock(&lock->mutex); }
// The calling thread holds the lock in both.
static inline void inlay_go_lock_wait(inlay_go_lock* lock) { pthread_cond_wait(&lock->changed, &lock->mutex); }
static inline void inlay_go_lock_wake_all(inlay_go_lock* lock) { pthread_cond_broadcast(&lock->changed); }

#endif
#endif
