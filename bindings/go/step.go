package inlay

import (
	"context"
	"fmt"
	"unsafe"

	"inlay.dev/inlay/raw"
)

// Event is what one session did in one step.
type Event struct {
	// Session is whose event it is.
	Session *Session `json:"-"`
	// Status is StatusOK, or why the session did not advance.
	Status Status `json:"status"`
	// Kind is what happened.
	Kind EventKind `json:"kind"`
	// Token is the drawn token, -1 if there is none.
	Token int32 `json:"token"`
	// NTokens is how many were drawn, of which Token is the last: 0 or 1.
	NTokens int `json:"n_tokens"`
	// Finish is not FinishNone if this was the session's last event until its next prefill. A context that is full is such an
	// end, FinishContextFull, and no error.
	Finish FinishReason `json:"finish"`
	// Logprob is the natural logarithm of the token's probability under the model, before any sampling step.
	Logprob float32 `json:"logprob"`
	// Top are the likeliest tokens, the likeliest first, as many as Sampler.Logprobs asks for.
	Top []TokenLogprob `json:"top,omitempty"`
	// Text is the new text, whole characters. What may begin a stop string is held back until that is clear.
	Text string `json:"text"`
	// PromptTokens counts the tokens of the session's latest prefill.
	PromptTokens int `json:"prompt_tokens"`
	// GeneratedTokens counts those drawn since, or since a truncation, this event's included.
	GeneratedTokens int `json:"generated_tokens"`
}

// DecodeStep draws one token for each of the sessions, reading the weights once for all; the sessions are of one engine,
// each named once. It returns one event a session, in their order, in the memory of events if that has room. A session
// that cannot advance, because it has finished, is closed, or is used by another goroutine, is unchanged and says so in its
// event's status; the others advance. The first such status is the error, whose Session and Index tell whose it is. If the
// call is refused as a whole, there are no events. A context that has ended refuses it; a step under way runs to its end.
func DecodeStep(ctx context.Context, sessions []*Session, events []Event) ([]Event, error) {
	const op = "decode step"
	if ctx.Err() != nil {
		return nil, cancelled(op, ctx)
	}
	free := make([]*Session, 0, len(sessions))
	defer func() { endAll(free) }()
	var why map[int]error // of the sessions that are not free
	for i, session := range sessions {
		err := session.begin(op)
		if err == nil {
			free = append(free, session)
			continue
		}
		if isAmong(session, free) {
			err = fail(op, StatusInvalidArgument, "it is named twice")
		}
		if statusOf(err) == StatusInvalidArgument {
			return nil, ofSession(err, session, i)
		}
		if why == nil {
			why = map[int]error{}
		}
		why[i] = err
	}
	b, err := batchOf(free), error(nil)
	if len(free) > 0 || len(sessions) == 0 {
		if err = b.run(); err != nil && b.refused() {
			return nil, err
		}
	}
	return b.eventsOf(sessions, why, events, err)
}

// DecodeSlice runs a part of a decode step: at most maxUnits units, which take about the same time each; what a unit is is
// the engine's affair, and steps differ in their number. It is for programs that give the model a little time in every
// frame. The first call begins a step, the next ones, for the same sessions in the same order, go on with it. left is what
// remains of it; when that is 0, events and error are those of DecodeStep, and until then there are none. With maxUnits 0 it
// only begins a step, and tells its units. While a step is pending the engine runs no other one and no prefill, and its
// sessions are not forked, cut or given another sampler: StatusInvalidState; later versions may refuse fewer calls. Closing
// one of them drops the step, as DecodeAbandon does.
func DecodeSlice(sessions []*Session, maxUnits int, events []Event) (out []Event, left int, err error) {
	const op = "decode slice"
	n := numbers{op: op}
	most := n.int32("maxUnits", maxUnits)
	if n.err != nil {
		return nil, 0, n.err
	}
	if err := beginAll(op, sessions); err != nil {
		return nil, 0, err
	}
	defer endAll(sessions)
	b := batchOf(sessions)
	var units int32
	err = b.call(op, func() Status {
		return raw.DecodeSlice(&b.handles[0], uintptr(len(b.handles)), most, &b.events[0], unsafe.Sizeof(b.events[0]),
			&units, &b.err)
	})
	if units > 0 {
		return nil, int(units), err
	}
	if err != nil && b.refused() {
		return nil, 0, err
	}
	out, err = b.eventsOf(sessions, nil, events, err)
	return out, 0, err
}

// DecodeAbandon drops the pending step that DecodeSlice has begun for these sessions: they are as they were before it,
// except that one which it found cancelled has finished. If no step is pending, nothing happens.
func DecodeAbandon(sessions []*Session) error {
	const op = "decode abandon"
	if err := beginAll(op, sessions); err != nil {
		return err
	}
	defer endAll(sessions)
	b := batchOf(sessions)
	return b.call(op, func() Status { return raw.DecodeAbandon(&b.handles[0], uintptr(len(b.handles)), &b.err) })
}

// beginAll makes one call the only one that uses the sessions; endAll must follow.
func beginAll(op string, sessions []*Session) error {
	for i, session := range sessions {
		if err := session.begin(op); err != nil {
			if isAmong(session, sessions[:i]) {
				err = fail(op, StatusInvalidArgument, "it is named twice")
			}
			endAll(sessions[:i])
			return ofSession(err, session, i)
		}
	}
	return nil
}

// ofSession says whose error it is.
func ofSession(err error, session *Session, index int) error {
	if e, ok := err.(*Error); ok {
		e.Session, e.Index, e.Message = session, index, fmt.Sprintf("session %d: %s", index, e.Message)
	}
	return err
}

// eventsOf is what a step with this outcome returns. It was run with those sessions that there is no reason against.
func (b *batch) eventsOf(sessions []*Session, why map[int]error, events []Event, outcome error) ([]Event, error) {
	events = events[:0]
	var first error
	next := 0
	for i, session := range sessions {
		event, err := Event{Session: session, Status: statusOf(why[i]), Token: -1}, why[i]
		if err == nil {
			event, err = b.event(next, session)
			next++
			if err == nil && event.Status != StatusOK {
				err = outcome
			}
		}
		if first == nil && err != nil {
			first = ofSession(err, session, i)
		}
		events = append(events, event)
	}
	return events, first
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

func batchOf(sessions []*Session) *batch {
	b := newBatch(len(sessions))
	for i, session := range sessions {
		session.forgetLate()
		b.handles[i] = session.handle
	}
	return b
}

func (b *batch) run() error {
	return b.call("decode step", func() Status {
		return raw.DecodeStep(&b.handles[0], uintptr(len(b.handles)), &b.events[0], unsafe.Sizeof(b.events[0]), &b.err)
	})
}

func (b *batch) call(op string, run func() Status) error {
	if len(b.handles) == 0 {
		return fail(op, StatusInvalidArgument, "there are no sessions")
	}
	for i := range b.events {
		b.events[i].Status, b.events[i].Kind = StatusOK, EventNone
	}
	if status := run(); status != StatusOK {
		return newError(op, status, &b.err)
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
	if e.Status == StatusOK && e.Token >= 0 {
		session.generated++
	}
	out := Event{Session: session, Status: e.Status, Kind: e.Kind, Token: e.Token, NTokens: int(e.NTokens), Finish: e.FinishReason,
		Logprob: e.Logprob, PromptTokens: session.prompt, GeneratedTokens: session.generated}
	if e.NLogprobs > 0 {
		out.Top = make([]TokenLogprob, e.NLogprobs)
		for i := range out.Top {
			out.Top[i] = TokenLogprob(e.Top[i])
		}
	}
	if e.TextBytes > 0 {
		out.Text = string(e.Text[:e.TextBytes])
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
