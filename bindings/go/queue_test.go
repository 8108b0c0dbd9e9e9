package inlay

import (
	"context"
	"errors"
	"testing"
	"time"
)

// wait begins to wait for a session, and returns when it does.
func wait(t *testing.T, ctx context.Context, engine *Engine) <-chan *Session {
	t.Helper()
	found := make(chan *Session, 1)
	go func() {
		session, err := engine.WaitForSession(ctx, nil)
		if err != nil && !errors.Is(err, context.Canceled) && !errors.Is(err, ErrClosed) {
			t.Error(err)
		}
		found <- session
	}()
	select {
	case <-found:
		t.Fatal("it did not wait")
	case <-time.After(20 * time.Millisecond):
	}
	return found
}

func received(t *testing.T, found <-chan *Session) *Session {
	t.Helper()
	select {
	case session := <-found:
		return session
	case <-time.After(time.Minute):
		t.Fatal("it still waits")
		return nil
	}
}

func TestWaitForSession(t *testing.T) {
	engine := engineWith(t, func(o *LoadOptions) { o.MaxSessions = 1 })
	session, err := engine.WaitForSession(background, nil)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(background)
	first, leaving, second := wait(t, background, engine), wait(t, ctx, engine), wait(t, background, engine)
	cancel()
	if received(t, leaving) != nil {
		t.Error("a session for nobody")
	}
	session.Close()
	session = received(t, first)
	if session == nil || len(second) != 0 {
		t.Fatal("they do not come in their order")
	}
	session.Close()
	session = received(t, second)
	if session == nil {
		t.Fatal("no session")
	}
	closed, alsoClosed := wait(t, background, engine), wait(t, background, engine)
	engine.Close()
	if received(t, closed) != nil || received(t, alsoClosed) != nil {
		t.Error("a session of a closed engine")
	}
	session.Close()
}

func TestWaitForSessionErrors(t *testing.T) {
	engine := engineWith(t, func(o *LoadOptions) { o.MaxSessions = 1 })
	_, err := engine.WaitForSession(background, &SessionOptions{MaxTokens: -1})
	wantStatus(t, err, StatusInvalidArgument)
	session := sessionOf(t, engine, nil)
	ctx, cancel := context.WithTimeout(background, time.Millisecond)
	defer cancel()
	_, err = engine.WaitForSession(ctx, nil)
	wantStatus(t, err, StatusCancelled)
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Error(err)
	}
	_, err = engine.WaitForSession(ctx, nil)
	wantStatus(t, err, StatusCancelled)
	session.Close()
	engine.Close()
	_, err = engine.WaitForSession(background, nil)
	wantClosed(t, err)
	_, err = (*Engine)(nil).WaitForSession(background, nil)
	wantStatus(t, err, StatusInvalidArgument)
}
