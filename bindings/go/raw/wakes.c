#include "wakes.h"

#include <stdlib.h>

#include "lock.h"

struct inlay_go_wake {
  inlay_go_wakes* wakes;
  inlay_go_wake* next;  // of those that were woken
  int is_listed;
  uint64_t number;
};

struct inlay_go_wakes {
  inlay_go_lock lock;
  inlay_go_wake *first, *last;  // that were woken and not taken
  int ended;
};

inlay_go_wakes* inlay_go_wakes_new(void) {
  inlay_go_wakes* wakes = calloc(1, sizeof *wakes);
  if (!wakes) return NULL;
  inlay_go_lock_init(&wakes->lock);
  return wakes;
}

void inlay_go_wakes_free(inlay_go_wakes* wakes) {
  inlay_go_lock_destroy(&wakes->lock);
  free(wakes);
}

inlay_go_wake* inlay_go_wakes_add(inlay_go_wakes* wakes, uint64_t number) {
  inlay_go_wake* wake = calloc(1, sizeof *wake);
  if (!wake) return NULL;
  wake->wakes = wakes;
  wake->number = number;
  return wake;
}

static void on_wake(void* user) {
  inlay_go_wake* wake = user;
  inlay_go_wakes* wakes = wake->wakes;
  inlay_go_lock_take(&wakes->lock);
  if (!wake->is_listed) {
    wake->is_listed = 1;
    wake->next = NULL;
    if (wakes->last) wakes->last->next = wake;
    else wakes->first = wake;
    wakes->last = wake;
    inlay_go_lock_wake_all(&wakes->lock);
  }
  inlay_go_lock_leave(&wakes->lock);
}

void inlay_go_wake_attach(inlay_go_wake* wake, inlay_queue_params* params) {
  params->wake = on_wake;
  params->wake_user = wake;
}

// The first one, off the list. Locked.
static inlay_go_wake* take_first(inlay_go_wakes* wakes) {
  inlay_go_wake* first = wakes->first;
  wakes->first = first->next;
  if (!wakes->first) wakes->last = NULL;
  first->is_listed = 0;
  return first;
}

void inlay_go_wake_remove(inlay_go_wake* wake) {
  inlay_go_wakes* wakes = wake->wakes;
  inlay_go_lock_take(&wakes->lock);
  if (wake->is_listed) {
    inlay_go_wake* before = NULL;
    for (inlay_go_wake* at = wakes->first; at != wake; at = at->next) before = at;
    if (before) before->next = wake->next;
    else wakes->first = wake->next;
    if (wakes->last == wake) wakes->last = before;
  }
  inlay_go_lock_leave(&wakes->lock);
  free(wake);
}

int inlay_go_wakes_next(inlay_go_wakes* wakes, uint64_t* number) {
  inlay_go_lock_take(&wakes->lock);
  while (!wakes->first && !wakes->ended) inlay_go_lock_wait(&wakes->lock);
  const int found = wakes->first != NULL;
  if (found) *number = take_first(wakes)->number;
  inlay_go_lock_leave(&wakes->lock);
  return found;
}

void inlay_go_wakes_end(inlay_go_wakes* wakes) {
  inlay_go_lock_take(&wakes->lock);
  wakes->ended = 1;
  inlay_go_lock_wake_all(&wakes->lock);
  inlay_go_lock_leave(&wakes->lock);
}
