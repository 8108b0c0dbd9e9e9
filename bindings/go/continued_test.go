package inlay

import (
	"errors"
	"testing"
)

func hotOptions(flags SessionFlags) SessionOptions {
	return SessionOptions{MaxTokens: 6, Sampler: Sampler{Temperature: 0.8, Seed: 5}, Flags: flags}
}

// endOfRequest computes all requests and gives the end of one.
func endOfRequest(t *testing.T, engine *Engine, queue *Queue, id RequestID) RequestEvent {
	t.Helper()
	run(t, engine, RunOptions{})
	found := collect(t, queue, 1)
	if found[id] == nil {
		t.Fatal("another request has ended")
	}
	return found[id].end
}

func allTokens(t *testing.T, session *Session) []int32 {
	t.Helper()
	tokens, err := session.Tokens(0)
	if err != nil {
		t.Fatal(err)
	}
	return tokens
}

// Requests that continue a session keep its tokens from one to the next.
func TestRequestsContinueASession(t *testing.T) {
	engine := engineWith(t, func(o *LoadOptions) { o.MaxSessions = 1 })
	queue := queueOf(t, engine, nil)
	options := hotOptions(0)
	stepping := sessionOf(t, engine, &options)
	texts := []string{"Once upon a time", " and then"}
	for i, text := range texts {
		tokens, err := engine.Tokenize(text, []TokenizeFlags{0, TokenizeNoBOSEOS}[i])
		if err != nil {
			t.Fatal(err)
		}
		prefill(t, stepping, tokens...)
		restOf(t, stepping)
	}
	want := allTokens(t, stepping)
	stepping.Close()
	options.Flags = SessionForRequests
	session := sessionOf(t, engine, &options)
	var end RequestEvent
	for _, text := range texts {
		end = endOfRequest(t, engine, queue, submit(t, queue, Request{Text: text, Continues: session})) // as the session draws
	}
	if got := allTokens(t, session); !same(got, want) {
		t.Errorf("%v, expected %v", got, want)
	}
	if end.PromptTokens != len(want)-6 || end.CachedTokens == 0 || end.Finish != FinishMaxTokens {
		t.Errorf("it ended with %+v", end)
	}
	if _, err := session.Step(); !errors.Is(err, StatusInvalidState) {
		t.Error(err)
	}
	one := hotOptions(0)
	one.MaxTokens = 1
	end = endOfRequest(t, engine, queue, submit(t, queue, Request{Text: "A little boat", Continues: session, Kind: RequestPrefill, Session: one}))
	if end.Finish != FinishPrefilled || end.GeneratedTokens != 0 {
		t.Errorf("it ended with %+v", end)
	}
	if end = endOfRequest(t, engine, queue, submit(t, queue, Request{Text: "!", Continues: session})); end.GeneratedTokens != 1 {
		t.Errorf("the options of the request before hold, but it ended with %+v", end)
	}
}

func TestAClosedSessionEndsItsRequests(t *testing.T) {
	engine := engineWith(t, func(o *LoadOptions) { o.MaxSessions = 1 })
	queue := queueOf(t, engine, nil)
	session := sessionOf(t, engine, &SessionOptions{Flags: SessionForRequests})
	id := submit(t, queue, Request{Text: "Once upon a time", Continues: session})
	session.Close()
	if end := endOfRequest(t, engine, queue, id); end.Finish != FinishCancelled {
		t.Errorf("it ended with %+v", end)
	}
	if _, err := queue.Submit(&Request{Text: "Once", Continues: session}); !errors.Is(err, ErrClosed) {
		t.Error(err)
	}
	stepping := sessionOf(t, engine, nil)
	if _, err := queue.Submit(&Request{Text: "Once", Continues: stepping}); !errors.Is(err, StatusInvalidArgument) {
		t.Error(err)
	}
}
