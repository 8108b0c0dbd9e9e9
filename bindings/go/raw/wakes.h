// Wake-ups of queues without a call from C into Go: a queue's wake function leaves the queue's number, and Go waits for numbers.
#ifndef INLAY_GO_WAKES_H
#define INLAY_GO_WAKES_H

#include "inlay.h"

typedef struct inlay_go_wakes inlay_go_wakes;
typedef struct inlay_go_wake inlay_go_wake;

// NULL if memory ran out, both.
inlay_go_wakes* inlay_go_wakes_new(void);
inlay_go_wake* inlay_go_wakes_add(inlay_go_wakes* wakes, uint64_t number);

// Makes the queue that is created with these parameters leave the number.
void inlay_go_wake_attach(inlay_go_wake* wake, inlay_queue_params* params);
// After the queue was freed.
void inlay_go_wake_remove(inlay_go_wake* wake);

// Waits for a number and takes it; 0 if there will be none, because inlay_go_wakes_end was called. One thread.
int inlay_go_wakes_next(inlay_go_wakes* wakes, uint64_t* number);
void inlay_go_wakes_end(inlay_go_wakes* wakes);
// When nothing uses it any more.
void inlay_go_wakes_free(inlay_go_wakes* wakes);

#endif
