// Time for the programs here, in seconds.
#ifndef EXAMPLE_CLOCK_H
#define EXAMPLE_CLOCK_H

#include <errno.h>
#include <time.h>

static inline double example_now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

// Sleeps until example_now() would give `when`; returns at once if it is past.
static inline void example_sleep_until(double when) {
  const double left = when - example_now();
  if (left <= 0) return;
  struct timespec t = {(time_t)left, (long)((left - (double)(time_t)left) * 1e9)};
  while (nanosleep(&t, &t) != 0 && errno == EINTR) continue;
}

#endif
