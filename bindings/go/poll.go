package inlay

import (
	"context"
	"time"
	"unsafe"

	"inlay.dev/inlay/raw"
)

// EventBuffer is memory for what Poll collects, to be used again and again. One goroutine at a time uses it; its zero value has
// room for 64 events with 512 tokens and 8192 bytes of text.
type EventBuffer struct {
	events []RequestEvent
	polled []raw.RequestEvent
	tokens []TokenLogprob
	text   []byte
	n      uintptr
}

// NewEventBuffer makes one with room for so many events, of each at least 1, with so many tokens and bytes of text altogether:
// at least one with as many likeliest ones as there can be, and 4. What has no room stays for the next Poll.
func NewEventBuffer(events, tokens, bytes int) *EventBuffer {
	atLeast := func(n, least int) int {
		if n < least {
			return least
		}
		return n
	}
	b := &EventBuffer{}
	b.make(atLeast(events, 1), atLeast(tokens, 1+raw.MaxLogprobs), atLeast(bytes, 4))
	return b
}

func (b *EventBuffer) make(events, tokens, bytes int) {
	b.polled, b.events = make([]raw.RequestEvent, events), make([]RequestEvent, 0, events)
	b.tokens, b.text = make([]TokenLogprob, tokens), make([]byte, bytes)
}

// Poll collects what became of the queue's requests, as far as the buffer has room, and does not wait. A request's events come in
// order, its end last; nothing is lost. The events and their Tokens are the buffer's, until it is used again; with nil they are
// the caller's. When the engine was closed and all was polled, the error matches ErrClosed.
func (q *Queue) Poll(into *EventBuffer) ([]RequestEvent, error) {
	const op = "poll"
	s, err := q.join(op)
	if err != nil {
		return nil, err
	}
	defer q.leave()
	if into == nil {
		into = &EventBuffer{}
	}
	return s.poll(op, into)
}

// Next is Wait and Poll: it returns one event at least, or an error of theirs.
func (q *Queue) Next(ctx context.Context, into *EventBuffer) ([]RequestEvent, error) {
	const op = "next"
	s, err := q.join(op)
	if err != nil {
		return nil, err
	}
	defer q.leave()
	if into == nil {
		into = &EventBuffer{}
	}
	return s.next(ctx, op, into)
}

func (s *sharedQueue) next(ctx context.Context, op string, into *EventBuffer) ([]RequestEvent, error) {
	for {
		if err := s.waitFor(ctx, op); err != nil {
			return nil, err
		}
		// Another goroutine may have taken what there was.
		if events, err := s.poll(op, into); err != nil || len(events) > 0 {
			return events, err
		}
	}
}

func (s *sharedQueue) poll(op string, b *EventBuffer) ([]RequestEvent, error) {
	if b.polled == nil {
		b.make(64, 512, 8192)
	}
	err := check(op, func(err *raw.Error) Status {
		return raw.Poll(s.handle, &b.polled[0], uintptr(len(b.polled)), unsafe.Sizeof(b.polled[0]),
			(*raw.TokenLogprob)(unsafe.Pointer(&b.tokens[0])), uintptr(len(b.tokens)), &b.text[0], uintptr(len(b.text)), &b.n, err)
	})
	if err != nil && (statusOf(err) != StatusInvalidState || !s.engine.closed.Load()) {
		return nil, err
	}
	if err != nil || b.n == 0 && s.isOver() {
		return nil, closedError(op, "engine")
	}
	return s.take(b), nil
}

// take turns what was polled into events. Kinds of later versions are passed over.
func (s *sharedQueue) take(b *EventBuffer) []RequestEvent {
	polled, n := b.polled[:b.n], uintptr(0)
	for i := range polled {
		if end := polled[i].FirstByte + polled[i].TextBytes; end > n {
			n = end
		}
	}
	text := string(b.text[:n])
	b.events = b.events[:0]
	for i := range polled {
		switch e := &polled[i]; e.Kind {
		case RequestEventTokens:
			first, end := e.FirstToken, e.FirstToken+uintptr(e.NTokens)
			top := end + uintptr(e.NTokens)*uintptr(e.NTop)
			b.events = append(b.events, RequestEvent{Request: RequestID(e.RequestID), Number: e.Number, User: e.User, Kind: e.Kind,
				Tokens: b.tokens[first:end:end], Top: b.tokens[end:top:top], Text: text[e.FirstByte : e.FirstByte+e.TextBytes]})
		case RequestEventEnd:
			b.events = append(b.events, endOf(e, text[e.FirstByte:e.FirstByte+e.TextBytes]))
			s.ended(RequestID(e.RequestID))
			if e.Status == StatusDeviceLost {
				wakeUps.tell()
			}
		}
	}
	if s.engine.closed.Load() {
		s.news.tell() // It may have been the last event.
	}
	return b.events
}

func endOf(e *raw.RequestEvent, message string) RequestEvent {
	microseconds := func(n uint64) time.Duration { return time.Duration(n) * time.Microsecond }
	return RequestEvent{Request: RequestID(e.RequestID), Number: e.Number, User: e.User, Kind: e.Kind, Finish: e.FinishReason,
		Status: e.Status, Message: message, PromptTokens: int(e.NPrompt), CachedTokens: int(e.NCached), GeneratedTokens: int(e.NDrawn), Values: int(e.NValues),
		QueuedTime: microseconds(e.QueuedUs), PromptTime: microseconds(e.PromptUs), DecodeTime: microseconds(e.DecodeUs)}
}
