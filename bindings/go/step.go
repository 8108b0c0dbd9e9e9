package inlay

import (
	"unsafe"

	"inlay.dev/inlay/raw"
)

// Event is what one session did in one step.
type Event struct {
	// Session is whose event it is.
	Session *Session
	// Status is StatusOK, or why the session did not advance.
	Status Status
	// Kind is what happened.
	Kind EventKind
	// Token is the drawn token, -1 if there is none.
	Token int32
	// Finish is not FinishNone if this was the session's last event until its next prefill.
	Finish FinishReason
	// Logprob is the natural logarithm of the token's probability under the model, before any sampling step.
	Logprob float32
	// Top are the likeliest tokens, the likeliest first, as many as Sampler.Logprobs asks for.
	Top []TokenLogprob
	// Text is the new text, whole characters. What may begin a stop string is held back until that is clear.
	Text string
}

// DecodeStep draws one token for each of the sessions, reading the weights once for all; the sessions are of one engine,
// each named once. It returns one event a session, in their order, in the memory of events if that has room. A session
// that cannot advance is unchanged and says so in its event's status; the others advance, and the first such status is
// the error. If the call is refused as a whole, there are no events.
func DecodeStep(sessions []*Session, events []Event) ([]Event, error) {
	for i, session := range sessions {
		if err := session.begin("decode step"); err != nil {
			if isAmong(session, sessions[:i]) {
				err = fail("decode step", StatusInvalidArgument, "session %d is named twice", i)
			}
			endAll(sessions[:i])
			return nil, err
		}
	}
	defer endAll(sessions)
	b := newBatch(len(sessions))
	for i, session := range sessions {
		b.handles[i] = session.handle
	}
	err := b.run()
	if err != nil && b.refused() {
		return nil, err
	}
	events = events[:0]
	for i, session := range sessions {
		event, missing := b.event(i, session)
		if err == nil {
			err = missing
		}
		events = append(events, event)
	}
	return events, err
}

func isAmong(session *Session, sessions []*Session) bool {
	for _, s := range sessions {
		if s == session {
			return true
		}
	}
	return false
}

func endAll(sessions []*Session) {
	for _, session := range sessions {
		session.end()
	}
}

// batch is the memory of one decode step. The handles are in memory of their own, because C may not be given a Go
// pointer to memory with Go pointers.
type batch struct {
	handles []*raw.Session
	events  []raw.Event
	err     raw.Error
}

func newBatch(n int) *batch {
	return &batch{handles: make([]*raw.Session, n), events: make([]raw.Event, n)}
}

func (b *batch) run() error {
	if len(b.handles) == 0 {
		return fail("decode step", StatusInvalidArgument, "there are no sessions")
	}
	for i := range b.events {
		b.events[i].Status, b.events[i].Kind = StatusOK, EventNone
	}
	status := raw.DecodeStep(&b.handles[0], uintptr(len(b.handles)), &b.events[0], unsafe.Sizeof(b.events[0]), &b.err)
	if status != StatusOK {
		return newError("decode step", status, &b.err)
	}
	return nil
}

// refused tells if a failed step left the events as they were.
func (b *batch) refused() bool {
	for i := range b.events {
		if b.events[i].Status != StatusOK || b.events[i].Kind != EventNone {
			return false
		}
	}
	return true
}

// event is the i-th event, with the text that did not fit into the library's.
func (b *batch) event(i int, session *Session) (Event, error) {
	e := &b.events[i]
	out := Event{Session: session, Status: e.Status, Kind: e.Kind, Token: e.Token, Finish: e.FinishReason,
		Logprob: e.Logprob}
	if e.NLogprobs > 0 {
		out.Top = append([]TokenLogprob(nil), e.Top[:e.NLogprobs]...)
	}
	if e.TextBytes > 0 {
		out.Text = string(e.Text[:e.TextBytes])
	}
	if e.FinishReason == FinishCancelled {
		session.leftCancel = false
	}
	if e.TextPending == 0 || e.Kind == EventNone {
		return out, nil
	}
	more, err := takeText(session.handle, int(e.TextPending))
	out.Text += more
	return out, err
}

// takeText takes all text that is pending.
func takeText(handle *raw.Session, size int) (string, error) {
	var text []byte
	buf := make([]byte, size+4) // 4 bytes hold any character.
	for {
		var n uintptr
		err := check("take text", func(err *raw.Error) Status {
			return raw.SessionTakeText(handle, &buf[0], uintptr(len(buf)), &n, err)
		})
		if err != nil || n == 0 {
			return string(text), err
		}
		text = append(text, buf[:n]...)
	}
}
