package inlay

import (
	"sync"

	"inlay.dev/inlay/raw"
)

// wakeUps tell queues that there is something to poll. One goroutine waits in C for those of all queues, from when somebody first
// wants to know until there is no queue any more.
var wakeUps wakeUpList

type wakeUpList struct {
	sync.Mutex
	wakes   raw.Wakes // while there are queues
	queues  map[uint64]*sharedQueue
	last    uint64
	listens bool
}

// add gives the queue its number and what it is created with.
func (w *wakeUpList) add(s *sharedQueue) {
	w.Lock()
	defer w.Unlock()
	if len(w.queues) == 0 {
		w.wakes, w.queues, w.listens = raw.NewWakes(), map[uint64]*sharedQueue{}, false
	}
	w.last++
	s.number, s.wake = w.last, w.wakes.Add(w.last)
	w.queues[s.number] = s
}

// remove forgets a queue whose handle was freed.
func (w *wakeUpList) remove(s *sharedQueue) {
	w.Lock()
	defer w.Unlock()
	s.wake.Remove()
	delete(w.queues, s.number)
	switch {
	case len(w.queues) > 0:
	case w.listens:
		w.wakes.End() // The goroutine frees it.
	default:
		w.wakes.Free()
	}
}

// listen begins to wait, while there is a queue.
func (w *wakeUpList) listen() {
	w.Lock()
	defer w.Unlock()
	if w.listens || len(w.queues) == 0 {
		return
	}
	w.listens = true
	go w.follow(w.wakes)
}

// tell lets all that wait ask the library again: where nobody computes any more, or the device is lost, nothing comes to be polled.
func (w *wakeUpList) tell() {
	w.Lock()
	defer w.Unlock()
	for _, s := range w.queues {
		s.news.tell()
	}
}

func (w *wakeUpList) follow(wakes raw.Wakes) {
	defer wakes.Free()
	for {
		number, ok := wakes.Next()
		if !ok {
			return
		}
		w.Lock()
		s := w.queues[number]
		w.Unlock()
		if s != nil {
			s.woken()
		}
	}
}
