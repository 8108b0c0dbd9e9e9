package raw

/*
#include "wakes.h"
*/
import "C"

import "unsafe"

// Wakes tells which queues were woken, without calls from C into Go.
type Wakes struct{ c *C.inlay_go_wakes }

// Wake is a queue's part of them.
type Wake struct{ c *C.inlay_go_wake }

// NewWakes makes one, which Free gives back.
func NewWakes() Wakes {
	c := C.inlay_go_wakes_new()
	if c == nil {
		panic("inlay: out of memory")
	}
	return Wakes{c}
}

// Add makes a queue's part, which Remove gives back.
func (w Wakes) Add(number uint64) Wake {
	c := C.inlay_go_wakes_add(w.c, C.uint64_t(number))
	if c == nil {
		panic("inlay: out of memory")
	}
	return Wake{c}
}

// Next waits until a queue was woken, and gives its number; false after End when there is none left. One goroutine at a time.
func (w Wakes) Next() (number uint64, ok bool) {
	if C.inlay_go_wakes_next(w.c, (*C.uint64_t)(unsafe.Pointer(&number))) == 0 {
		return 0, false
	}
	return number, true
}

// End tells Next that there are no queues any more.
func (w Wakes) End() { C.inlay_go_wakes_end(w.c) }

// Free gives the memory back, when nothing uses it any more.
func (w Wakes) Free() { C.inlay_go_wakes_free(w.c) }

// Attach makes the queue that is created with these parameters wake Next.
func (w Wake) Attach(params *QueueParams) {
	C.inlay_go_wake_attach(w.c, (*C.inlay_queue_params)(unsafe.Pointer(params)))
}

// Remove gives its memory back, after the queue was freed.
func (w Wake) Remove() { C.inlay_go_wake_remove(w.c) }
