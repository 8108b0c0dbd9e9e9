package inlay

import (
	"context"
	"sync"

	"inlay.dev/inlay/raw"
)

// What the library calls a generation begins with each prefill, each truncation and each request that continues the session. A
// request to stop belongs to one, by its number, and cannot end a later one.

// cancels is what a session knows of its generations in the library and of the requests to end them.
type cancels struct {
	sync.Mutex
	number   uint64 // of the generation under way; during a prefill that of the one which it begins
	prefills uint64 // those that have begun one, with the prefill under way
	asked    uint64 // the latest that the program wants to end
	// late: a prefill's context may have left a request for the generation under way when all of the prompt was run.
	late bool
	// early: there was a request for a generation that then did not begin, because its prefill was refused. The coming one
	// has the same number.
	early bool
}

// Cancel asks for the end of the generation under way, from any goroutine: a Prefill under way ends with StatusCancelled after
// its chunk; otherwise the next step finishes with FinishCancelled. Of a session made with SessionForRequests it is that of the
// request that has it, which ends with FinishCancelled: one that runs, was put out, or waits for room. It has no effect on a session
// that has none, nor on later ones.
func (s *Session) Cancel() {
	if s.join("cancel") != nil {
		return
	}
	s.cancels.Lock()
	number := s.cancels.number
	if begun := s.begun(); begun > number { // by a request
		number = begun
	}
	s.cancels.asked = number
	s.request(number)
	s.cancels.Unlock()
	s.leave()
}

// request asks the library for the end of a generation.
func (s *Session) request(number uint64) {
	if raw.SessionCancelGeneration(s.handle, number, nil) == StatusUnsupported {
		raw.SessionCancel(s.handle) // The library is older than that.
	}
}

func (s *Session) prefillWith(ctx context.Context, tokens []int32) (n int, err error) {
	if ctx.Err() != nil {
		return 0, cancelled("prefill", ctx)
	}
	t := &s.cancels
	if t.early {
		s.request(t.number + 1) // It is there already; now that is certain, so the call below runs nothing.
		n, err = s.prefill(tokens)
		if n > 0 || statusOf(err) != StatusCancelled {
			return n, err
		}
	}
	t.Lock()
	before := s.begun()
	t.number, t.early, t.late = before+1, false, false
	t.prefills++
	t.Unlock()
	stop := s.cancelWith(ctx, before+1)
	n, err = s.prefill(tokens)
	fired := stop()
	t.Lock()
	defer t.Unlock()
	t.number = s.begun()
	if t.number == before {
		t.prefills--
		t.early = fired || t.asked > before
		if t.asked > before {
			t.asked = before
		}
	}
	t.late = fired && t.number > before
	if fired && statusOf(err) == StatusCancelled {
		err = withCause(err, ctx.Err())
	}
	return n, err
}

func (s *Session) prefill(tokens []int32) (int, error) {
	var done uintptr
	err := check("prefill", func(err *raw.Error) Status {
		return raw.Prefill(s.handle, tokensOf(tokens), uintptr(len(tokens)), &done, err)
	})
	if done > 0 {
		s.prompt, s.generated = int(done), 0
	}
	return int(done), err
}

// truncate begins another generation, which no request for an earlier one concerns. cancels is locked.
func (s *Session) truncate(n int) error {
	err := check("truncate", func(err *raw.Error) Status { return raw.SessionTruncate(s.handle, uintptr(n), err) })
	if err != nil {
		return err
	}
	s.generated = 0
	t := &s.cancels
	early := t.early
	t.number, t.early, t.late = s.begun(), false, false
	if early {
		return s.truncate(n) // The first one has begun the generation that the request is for.
	}
	return nil
}

// begun is the number of the latest generation that has begun in the library.
func (s *Session) begun() uint64 {
	info, _ := s.info()
	return info.Generation
}

// cancelWith asks for the end of a generation when the context ends. What it returns ends that, and tells if it happened.
func (s *Session) cancelWith(ctx context.Context, number uint64) func() bool {
	if ctx.Done() == nil {
		return func() bool { return false }
	}
	over, fired := make(chan struct{}), make(chan bool)
	go func() {
		select {
		case <-ctx.Done():
			s.request(number)
			fired <- true
		case <-over:
			fired <- false
		}
	}()
	return func() bool {
		close(over)
		return <-fired
	}
}

// forgetLate takes back what the context of a finished prefill has asked for, so that drawing can go on: the request is
// spent by a step that it ends, and that end is undone.
func (s *Session) forgetLate() {
	t := &s.cancels
	if !t.late {
		return
	}
	t.Lock()
	defer t.Unlock()
	if t.asked == t.number {
		return // The program wants the end, too.
	}
	s.request(t.number) // It may be spent already; a step without one would draw.
	s.single.handles[0] = s.handle
	err := s.single.run()
	if err != nil || s.single.events[0].FinishReason != FinishCancelled {
		return // The step that comes now is refused for the same reason.
	}
	if info, err := s.info(); err == nil {
		_ = s.truncate(int(info.NTokens)) // Where it fails the step that comes now tells why.
	}
}
