// Which lock guards what, in Clang's words, whose -Wthread-safety checks it: tests/lint/check_locks.py. Other compilers see nothing.
#pragma once

#ifdef __clang__
#define INLAY_THREAD_SAFETY(attribute) __attribute__((attribute))
#else
#define INLAY_THREAD_SAFETY(attribute)
#endif

#define INLAY_LOCK INLAY_THREAD_SAFETY(capability("lock"))        // of a class: a lock
#define INLAY_LOCK_HOLDER INLAY_THREAD_SAFETY(scoped_lockable)    // of a class: holds locks from its beginning to its end
#define INLAY_GUARDED_BY(lock) INLAY_THREAD_SAFETY(guarded_by(lock))
// Of a function: takes the locks, lets go of them, wants them held.
#define INLAY_TAKES(...) INLAY_THREAD_SAFETY(acquire_capability(__VA_ARGS__))
#define INLAY_LETS_GO(...) INLAY_THREAD_SAFETY(release_capability(__VA_ARGS__))
#define INLAY_NEEDS(...) INLAY_THREAD_SAFETY(requires_capability(__VA_ARGS__))
#define INLAY_UNCHECKED INLAY_THREAD_SAFETY(no_thread_safety_analysis)  // of a function: with the reason beside it
