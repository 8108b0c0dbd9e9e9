package inlay

import (
	"context"
	"sync"

	"inlay.dev/inlay/raw"
)

// A turn begins with each prefill. A request to stop belongs to one turn, by its number, and cannot end a later one.

// turns is what a session knows of its turns and of the requests to end them.
type turns struct {
	sync.Mutex
	number uint64 // of the turn under way; during a prefill that of the turn which it begins
	asked  uint64 // the latest turn that the program wants to end
	// late: a prefill's context may have left a request for the turn under way when all of the prompt was run.
	late bool
	// early: there was a request for a turn that then did not begin, because its prefill was refused. The coming turn has
	// the same number.
	early bool
}

// Cancel asks for the end of the turn under way, from any goroutine: a Prefill under way ends with StatusCancelled after
// its chunk; otherwise the next step finishes with FinishCancelled. It has no effect on a session that has none, nor on
// later turns.
func (s *Session) Cancel() {
	if s.join("cancel") != nil {
		return
	}
	s.turns.Lock()
	s.turns.asked = s.turns.number
	s.request(s.turns.number)
	s.turns.Unlock()
	s.leave()
}

// request asks the library for the end of a turn.
func (s *Session) request(turn uint64) {
	if raw.SessionCancelTurn(s.handle, turn, nil) == StatusUnsupported {
		raw.SessionCancel(s.handle) // The library is older than turns.
	}
}

func (s *Session) prefillWith(ctx context.Context, tokens []int32) (n int, err error) {
	if ctx.Err() != nil {
		return 0, cancelled("prefill", ctx)
	}
	t := &s.turns
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
	t.Unlock()
	stop := s.cancelWith(ctx, before+1)
	n, err = s.prefill(tokens)
	fired := stop()
	t.Lock()
	defer t.Unlock()
	t.number = s.begun()
	if t.number == before {
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

// begun is the number of the latest turn that has begun in the library.
func (s *Session) begun() uint64 {
	info, _ := s.info()
	return info.Turn
}

// cancelWith asks for the end of a turn when the context ends. What it returns ends that, and tells if it happened.
func (s *Session) cancelWith(ctx context.Context, turn uint64) func() bool {
	if ctx.Done() == nil {
		return func() bool { return false }
	}
	over, fired := make(chan struct{}), make(chan bool)
	go func() {
		select {
		case <-ctx.Done():
			s.request(turn)
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

// forgetLate takes back what the context of a finished prefill has asked for, so that the turn can go on: the request is
// spent by a step that it ends, and that end is undone.
func (s *Session) forgetLate() {
	t := &s.turns
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
	info, err := s.info()
	if err == nil {
		err = check("truncate", func(err *raw.Error) Status { return raw.SessionTruncate(s.handle, uintptr(info.NTokens), err) })
	}
	t.late = err != nil
}
