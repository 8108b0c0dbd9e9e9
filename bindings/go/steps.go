package inlay

import (
	"sync"
	"time"
)

// steps lets the generations of an engine that run at a time share decode steps. Nothing runs by itself: who comes while no step
// is under way leads, runs one for all that wait, and hands the lead on to the first of those that have come meanwhile. A leader
// waits for those of the step before, who are busy with its events, but not for long: another step costs more than that.
type steps struct {
	sync.Mutex
	led     bool
	waiting []*Session
	number  uint64        // of the latest step
	missing int           // sessions of that step that are expected back
	back    chan struct{} // closed when none is missing any more, where the leader waits for that
	took    time.Duration // the latest step
	// The leader's own:
	members []*Session
	batch   batch
}

// mostWait is how long a leader waits at most, and half a step at most.
const mostWait = time.Millisecond

// place is a session's in the steps.
type place struct {
	number uint64    // of the latest step it was in, if it can go on
	turn   chan bool // true: lead; false: the event is there
	event  Event
	err    error
}

func newPlace() place { return place{turn: make(chan bool, 1)} }

// stepTogether is step, in one decode step with other sessions that come at the time.
func (s *Session) stepTogether() (Event, error) {
	s.forgetLate()
	t := &s.engine.steps
	if t.join(s) || <-s.place.turn {
		t.lead()
		<-s.place.turn
	}
	event, err := s.place.event, s.place.err
	s.place.event, s.place.err = Event{}, nil // An event names its session, which the garbage collector would not find then.
	return event, err
}

// join puts the session among those that wait, and tells if it leads.
func (t *steps) join(s *Session) bool {
	t.Lock()
	defer t.Unlock()
	t.waiting = append(t.waiting, s)
	if t.missing > 0 && s.place.number == t.number {
		t.missing--
		if t.missing == 0 && t.back != nil {
			close(t.back)
			t.back = nil
		}
	}
	leads := !t.led
	t.led = true
	return leads
}

// lead runs one step, of which the leader is a member.
func (t *steps) lead() {
	t.awaitMissing()
	t.Lock()
	t.members, t.waiting = t.waiting, t.members
	t.Unlock()
	begin := time.Now()
	t.run()
	took := time.Since(begin)
	t.Lock()
	defer t.Unlock()
	t.number++
	t.took, t.missing = took, 0
	// One that is always alone is not waited for: the same goroutine may step others, too.
	together := len(t.members) > 1 || len(t.waiting) > 0
	for i, s := range t.members {
		if together && s.place.err == nil && s.place.event.Finish == FinishNone {
			s.place.number = t.number
			t.missing++
		}
		t.members[i] = nil
		s.place.turn <- false
	}
	t.members = t.members[:0]
	t.led = len(t.waiting) > 0
	if t.led {
		t.waiting[0].place.turn <- true
	}
}

func (t *steps) awaitMissing() {
	t.Lock()
	if t.missing == 0 {
		t.Unlock()
		return
	}
	back, patience := make(chan struct{}), t.took/2
	t.back = back
	t.Unlock()
	if patience > mostWait {
		patience = mostWait
	}
	timer := time.NewTimer(patience)
	defer timer.Stop()
	select {
	case <-back:
	case <-timer.C:
		t.Lock()
		t.missing, t.back = 0, nil
		t.Unlock()
	}
}

// run steps the members together. One that does not advance is stepped alone, which tells why.
func (t *steps) run() {
	n := len(t.members)
	if n == 1 {
		s := t.members[0]
		s.place.event, s.place.err = s.step()
		return
	}
	b := &t.batch
	if cap(b.handles) < n {
		*b = *newBatch(2 * n)
	}
	b.handles, b.events = b.handles[:n], b.events[:n]
	for i, s := range t.members {
		b.handles[i] = s.handle
	}
	_ = b.run() // The events tell, too: they are as they were where the call was refused.
	for i, s := range t.members {
		if e := &b.events[i]; e.Status == StatusOK && e.Kind != EventNone {
			s.place.event, s.place.err = b.event(i, s)
		} else {
			s.place.event, s.place.err = s.step()
		}
	}
}
