package inlay

import (
	"bytes"
	"errors"
	"testing"
	"testing/iotest"
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
	broken := errors.New("broken")
	if _, err := engine.RestoreFrom(iotest.ErrReader(broken)); err != broken {
		t.Errorf("%v, expected the reader's error", err)
	}
	restored(t, engine, state)
	session.Close()
	if _, err := session.Save(); err == nil {
		t.Error("a closed session was saved")
	}
}
