package inlay

import (
	"bytes"
	"errors"
	"io"
	"testing"
)

func hotSession(t testing.TB, engine *Engine, constraint *Constraint) *Session {
	t.Helper()
	session := sessionOf(t, engine, &SessionOptions{MaxTokens: 20, Sampler: Sampler{Temperature: 0.9, Seed: 7, RepetitionPenalty: 1.2}, Constraint: constraint})
	prefill(t, session, tokensIn(t, engine, "Once upon a time")...)
	return session
}

func saved(t testing.TB, session *Session) []byte {
	t.Helper()
	state, err := session.Save()
	if err != nil {
		t.Fatal(err)
	}
	return state
}

func restored(t testing.TB, engine *Engine, state []byte) *Session {
	t.Helper()
	session, err := engine.Restore(state)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { session.Close() })
	return session
}

// restOf is the text of all steps to the generation's end.
func restOf(t testing.TB, session *Session) (text string) {
	t.Helper()
	for {
		event, err := session.Step()
		if err != nil {
			t.Fatal(err)
		}
		text += event.Text
		if event.Finish != FinishNone {
			return text
		}
	}
}

func TestRestoredSessionGoesOnAlike(t *testing.T) {
	engine := engineWith(t, nil)
	for _, steps := range []int{0, 1, 9} {
		session := hotSession(t, engine, nil)
		for i := 0; i < steps; i++ {
			if _, err := session.Step(); err != nil {
				t.Fatal(err)
			}
		}
		state := saved(t, session)
		var written bytes.Buffer
		if err := session.SaveTo(&written); err != nil || !bytes.Equal(written.Bytes(), state) {
			t.Fatalf("%v, %d bytes of %d", err, written.Len(), len(state))
		}
		again := restored(t, engine, state)
		read, err := engine.RestoreFrom(&written)
		if err != nil {
			t.Fatal(err)
		}
		text := restOf(t, session)
		if found := restOf(t, again); found != text {
			t.Errorf("after %d steps: %q, expected %q", steps, found, text)
		}
		if found := restOf(t, read); found != text {
			t.Errorf("after %d steps: %q is read, expected %q", steps, found, text)
		}
		read.Close()
		session.Close()
	}
}

func TestRestoredConstraint(t *testing.T) {
	engine := engineWith(t, nil)
	session := hotSession(t, engine, constraintOf(t, engine, ConstraintOptions{Choices: []string{"a long way", "a short way"}}))
	if _, err := session.Step(); err != nil {
		t.Fatal(err)
	}
	again := restored(t, engine, saved(t, session))
	if text, found := restOf(t, session), restOf(t, again); found != text {
		t.Errorf("%q, expected %q", found, text)
	}
}

// A Cancel is for the generation that was saved.
func TestRestoredSessionIsCancelled(t *testing.T) {
	engine := engineWith(t, nil)
	session := hotSession(t, engine, nil)
	prefill(t, session, 1)
	again := restored(t, engine, saved(t, session))
	again.Cancel()
	if event, err := again.Step(); err != nil || event.Finish != FinishCancelled {
		t.Errorf("%v, %v", event.Finish, err)
	}
}

func TestDamagedSessionIsRefused(t *testing.T) {
	engine := engineWith(t, nil)
	session := hotSession(t, engine, nil)
	state := saved(t, session)
	for _, n := range []int{0, 7, 47, len(state) / 2, len(state) - 1} {
		_, err := engine.Restore(state[:n])
		wantStatus(t, err, StatusFormat)
	}
	for at := 0; at < len(state); at += 977 {
		state[at] ^= 16
		if _, err := engine.Restore(state); !errors.Is(err, StatusFormat) && !errors.Is(err, StatusUnsupported) {
			t.Errorf("byte %d: %v", at, err)
		}
		state[at] ^= 16
	}
	restored(t, engine, state)
	session.Close()
	if _, err := session.Save(); err == nil {
		t.Error("a closed session was saved")
	}
}

// brittle fails, or panics, after some bytes.
type brittle struct {
	stream io.ReadWriter
	left   int
	fail   func() error
}

func (b *brittle) take(n int) error {
	if b.left -= n; b.left < 0 {
		return b.fail()
	}
	return nil
}

func (b *brittle) Read(into []byte) (int, error) {
	if err := b.take(len(into)); err != nil {
		return 0, err
	}
	return b.stream.Read(into)
}

func (b *brittle) Write(bytes []byte) (int, error) {
	if err := b.take(len(bytes)); err != nil {
		return 0, err
	}
	return b.stream.Write(bytes)
}

// A stream's error is wrapped, its panic reaches the caller, and the session is as before.
func TestStreamOfSavedSessionFails(t *testing.T) {
	engine := engineWith(t, nil)
	session := hotSession(t, engine, nil)
	state := saved(t, session)
	broken := errors.New("broken")
	for _, left := range []int{0, 60, len(state) - 1} {
		failing := func(bytes []byte) *brittle {
			return &brittle{stream: bytesOfState(bytes), left: left, fail: func() error { return broken }}
		}
		err := session.SaveTo(failing(nil))
		wantStatus(t, err, StatusIO)
		if !errors.Is(err, broken) {
			t.Errorf("%v does not wrap the writer's error", err)
		}
		_, err = engine.RestoreFrom(failing(state))
		wantStatus(t, err, StatusIO)
		if !errors.Is(err, broken) {
			t.Errorf("%v does not wrap the reader's error", err)
		}
		for _, call := range []func(b *brittle){func(b *brittle) { session.SaveTo(b) }, func(b *brittle) { engine.RestoreFrom(b) }} {
			func() {
				defer func() {
					if recover() == nil {
						t.Error("the panic is gone")
					}
				}()
				b := failing(state)
				b.fail = func() error { panic("of the stream") }
				call(b)
			}()
		}
	}
	if _, err := engine.RestoreFrom(bytes.NewReader(state[:len(state)-1])); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("%v, expected the end of the bytes", err)
	}
	if again := saved(t, session); !bytes.Equal(again, state) {
		t.Error("the session has changed")
	}
	two := bytes.NewReader(append(append([]byte{}, state...), state...))
	for i := 0; i < 2; i++ {
		again, err := engine.RestoreFrom(two)
		if err != nil {
			t.Fatal(err)
		}
		again.Close()
	}
}

func bytesOfState(state []byte) *bytes.Buffer { return bytes.NewBuffer(append([]byte{}, state...)) }
