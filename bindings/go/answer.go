package inlay

import (
	"context"
	"io"
	"strings"
	"sync"
)

// Answer is what becomes of one request, for a goroutine that waits for it. One goroutine at a time may use it, but Cancel and Close
// are for any. It may be left at any time: its request rests when 256 tokens wait to be read, and ends with the context, with Close,
// or when the garbage collector finds that nobody uses it.
type Answer struct {
	queue   *Queue // of this request alone, so that a slow reader keeps no other one waiting
	id      RequestID
	ctx     context.Context
	buffer  *EventBuffer
	pending []RequestEvent // that Next has not returned yet
	last    RequestEvent
	end     error // what Next returns from now on
	once    sync.Once
	left    chan struct{} // closed by Close
}

// Ask submits a request and returns its answer. When the context ends, the request is cancelled, also where nobody reads, and the
// next Next stops with an error that matches StatusCancelled and the context's error. Somebody has to compute, as for a Queue:
// Engine.SetThread gives the engine a thread for that.
func (e *Engine) Ask(ctx context.Context, request *Request) (*Answer, error) {
	if err := ended("ask", ctx); err != nil {
		return nil, err
	}
	if request != nil && request.Kind == RequestEmbed {
		return nil, fail("ask", StatusInvalidArgument, "an answer has no vector: submit a request of kind RequestEmbed to a Queue")
	}
	queue, err := e.NewQueue(&QueueOptions{MaxRequests: 1})
	if err != nil {
		return nil, err
	}
	id, err := queue.Submit(request)
	if err != nil {
		queue.Close()
		return nil, err
	}
	if ctx.Done() != nil {
		go queue.shared.closeWith(ctx)
	}
	return &Answer{queue: queue, id: id, ctx: ctx, buffer: NewEventBuffer(2, 64, 1024), left: make(chan struct{})}, nil
}

// closeWith closes the queue when the context ends.
func (s *sharedQueue) closeWith(ctx context.Context) {
	select {
	case <-ctx.Done():
		s.close()
	case <-s.gone:
	}
}

// Next waits for the next event: tokens and text as they are drawn, then the end, with the finish reason, counts and times; afterwards
// it returns io.EOF. Where the request has failed, the end comes with the error. After an error it returns that error again.
func (a *Answer) Next() (RequestEvent, error) {
	if a.end == nil && len(a.pending) == 0 {
		a.fill()
	}
	if len(a.pending) == 0 {
		return RequestEvent{}, a.end
	}
	event := a.pending[0]
	a.pending = a.pending[1:]
	if event.Kind != RequestEventEnd {
		event.Tokens = append([]TokenLogprob(nil), event.Tokens...) // They are the buffer's.
		event.Top = append([]TokenLogprob(nil), event.Top...)
		return event, nil
	}
	a.last = event
	a.queue.Close()
	if a.end = event.Err(); a.end == nil {
		a.end = io.EOF
		return event, nil
	}
	return event, a.end
}

// fill waits for events, or finds out that there is an end to them.
func (a *Answer) fill() {
	a.pending, a.end = a.queue.Next(a.ctx, a.buffer)
	if a.end == nil {
		return
	}
	if a.ctx.Err() != nil {
		a.end = cancelled("answer", a.ctx)
		a.queue.Close()
	}
	if statusOf(a.end) == StatusInvalidState && !a.queue.shared.closed.Load() {
		a.queue.Close() // Nobody computes.
	}
}

// All gives the events until the end, and then the error, if there is one. It is an iter.Seq2[RequestEvent, error]: from Go 1.23 on,
// for event, err := range answer.All() goes through them.
func (a *Answer) All() func(yield func(RequestEvent, error) bool) {
	return func(yield func(RequestEvent, error) bool) {
		for {
			event, err := a.Next()
			if err == io.EOF || !yield(event, err) || err != nil {
				return
			}
		}
	}
}

// Channel gives the events in a channel, which is closed at the end; Err then tells why. A goroutine reads the answer meanwhile and is
// its only user; who stops to read ends the context or calls Close, so that it ends, too.
func (a *Answer) Channel() <-chan RequestEvent {
	events := make(chan RequestEvent)
	go func() {
		defer close(events)
		for {
			event, err := a.Next()
			if err != nil && event.Kind != RequestEventEnd {
				return
			}
			select {
			case events <- event:
			case <-a.ctx.Done():
				a.end = cancelled("answer", a.ctx)
				return
			case <-a.left:
				a.end = closedError("answer", "answer")
				return
			}
		}
	}()
	return events
}

// Err is the error that Next has ended with, nil where it was io.EOF or has not come.
func (a *Answer) Err() error {
	if a.end == io.EOF {
		return nil
	}
	return a.end
}

// End is the last event, with finish reason, counts and times; zero before it has come.
func (a *Answer) End() RequestEvent { return a.last }

// Finish is why the request has ended; FinishNone before that, and where Next has returned another error than the request's.
func (a *Answer) Finish() FinishReason { return a.last.Finish }

// WriteTo writes the text to w piece by piece as it is drawn, until the end. Where it was cut short there is an error: of
// StatusCancelled if it was cancelled or its Timeout was over, which also matches context.DeadlineExceeded, of StatusContextFull if
// the context had no more room, of StatusInvalidState if no token that the constraint allows could follow. Finish tells of any end.
func (a *Answer) WriteTo(w io.Writer) (n int64, err error) {
	n, err = writeTexts(w, func() (string, error) {
		event, err := a.Next()
		return event.Text, err
	})
	if err == nil {
		err = cutShort("answer", a.last.Finish)
	}
	return n, err
}

// Text is all text until the end; with an error as in WriteTo, what was drawn before it.
func (a *Answer) Text() (string, error) {
	var text strings.Builder
	_, err := a.WriteTo(&text)
	return text.String(), err
}

// Request is the request's number.
func (a *Answer) Request() RequestID { return a.id }

// Cancel ends the request: what was drawn can be read, then comes the end, with FinishCancelled.
func (a *Answer) Cancel() { a.queue.Cancel(a.id) }

// Close gives the answer up: the request is cancelled, and Next returns an error that matches ErrClosed.
func (a *Answer) Close() error {
	a.once.Do(func() { close(a.left) })
	return a.queue.Close()
}
