package inlay

import (
	"errors"
	"runtime"
	"strings"
	"testing"
	"time"
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

// A session that the program has dropped is there until the end of its request was polled.
func TestARequestKeepsItsSession(t *testing.T) {
	engine := engineWith(t, func(o *LoadOptions) { o.MaxSessions = 1 })
	// collects lets the garbage collector run up to n times, until there is no session, and tells if there is none.
	collects := func(n int) bool {
		for i := 0; i < n && engine.shared.users.Load() > 1; i++ {
			runtime.GC()
			time.Sleep(time.Millisecond)
		}
		return engine.shared.users.Load() == 1
	}
	submitted := func(queue *Queue) RequestID {
		session, err := engine.NewSession(&SessionOptions{Flags: SessionForRequests})
		if err != nil {
			t.Fatal(err)
		}
		return submit(t, queue, Request{Text: "Once upon a time", Continues: session, Session: upTo(5)})
	}
	queue := queueOf(t, engine, nil)
	id := submitted(queue)
	if collects(10) {
		t.Error("the session is gone")
	}
	if end := endOfRequest(t, engine, queue, id); end.Finish != FinishMaxTokens {
		t.Errorf("it ended with %+v", end)
	}
	if !collects(5000) {
		t.Error("the session stays when the end was polled")
	}
	closed := queueOf(t, engine, nil)
	submitted(closed)
	closed.Close()
	if !collects(5000) {
		t.Error("the session stays with a closed queue")
	}
	runtime.KeepAlive(closed)
	dropped, err := engine.NewQueue(nil)
	if err != nil {
		t.Fatal(err)
	}
	submitted(dropped)
	dropped = nil
	if !collects(5000) {
		t.Error("the session stays with a queue that nobody has")
	}
	if info, err := engine.Run(background, RunOptions{}); err != nil || info.NRequests != 0 {
		t.Errorf("%+v %v", info, err)
	}
	runtime.KeepAlive(queue)
}

// Session.Cancel ends the request that runs on the session, and none that comes later.
func TestASessionsCancelEndsItsRequest(t *testing.T) {
	engine := engineWith(t, func(o *LoadOptions) { o.MaxSessions = 1 })
	queue := queueOf(t, engine, nil)
	made := sessionOf(t, engine, &SessionOptions{Flags: SessionForRequests})
	child, err := made.Fork()
	if err != nil {
		t.Fatal(err)
	}
	defer child.Close()
	for i, session := range []*Session{made, child, restored(t, engine, saved(t, made))} {
		for round := 0; round < 2; round++ {
			session.Cancel() // It has none.
			id := submit(t, queue, Request{Text: "Once upon a time", Continues: session, Session: upTo(5)})
			if end := endOfRequest(t, engine, queue, id); end.Finish != FinishMaxTokens {
				t.Errorf("session %d: it ended with %+v", i, end)
			}
			id = submit(t, queue, Request{Text: "Once upon a time", Continues: session, Session: upTo(50)})
			if _, err := engine.Run(background, RunOptions{Flags: RunOneStep}); err != nil {
				t.Fatal(err)
			}
			session.Cancel()
			if end := endOfRequest(t, engine, queue, id); end.Finish != FinishCancelled || end.GeneratedTokens > 2 {
				t.Errorf("session %d: it ended with %+v", i, end)
			}
		}
	}
}

// Session.Cancel ends a request that has the session and waits for room, of a new session as of any other; one that comes before the
// request has no effect.
func TestASessionsCancelEndsARequestThatWaitsForRoom(t *testing.T) {
	engine := engineWith(t, func(o *LoadOptions) { o.MaxSessions = 1 })
	queue := queueOf(t, engine, nil)
	session := sessionOf(t, engine, &SessionOptions{Flags: SessionForRequests})
	request := Request{Text: "Once upon a time", Continues: session, Session: upTo(3)}
	steps := func() (left int) {
		for i := 0; i < 2; i++ {
			info, err := engine.Run(background, RunOptions{Flags: RunOneStep})
			if err != nil {
				t.Fatal(err)
			}
			left = info.NRequests
		}
		return left
	}
	for round := 0; round < 2; round++ {
		holder := sessionOf(t, engine, nil) // It takes the only place.
		waits := submit(t, queue, request)
		steps()
		if session.Cancel(); steps() != 0 {
			t.Fatalf("round %d: it waits still", round)
		}
		if end := endOfRequest(t, engine, queue, waits); end.Finish != FinishCancelled || end.GeneratedTokens != 0 {
			t.Errorf("round %d: it ended with %+v", round, end)
		}
		session.Cancel() // It has none.
		next := submit(t, queue, request)
		steps()
		holder.Close()
		if end := endOfRequest(t, engine, queue, next); end.Finish != FinishMaxTokens || end.GeneratedTokens != 3 {
			t.Errorf("round %d: the next one ended with %+v", round, end)
		}
	}
}

// Requests change a session's length while it is read.
func TestReadsBesideRequests(t *testing.T) {
	engine := engineWith(t, nil)
	giveThread(t, engine)
	session := sessionOf(t, engine, &SessionOptions{Flags: SessionForRequests})
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		chat := &ChatOptions{Template: requestTemplate}
		for i := 0; i < 400; i++ {
			request := Request{Conversation: `[{"role": "user", "content": "` + strings.Repeat("Once upon a time ", i%4*5+1) + `"}]`, Chat: chat,
				Continues: session, Session: upTo(1)}
			answer, err := engine.Ask(background, &request)
			if err != nil {
				t.Error(err)
				return
			}
			if _, err := answer.Text(); err != nil {
				t.Error(err)
				return
			}
		}
	}()
	defer func() { <-ended }()
	for goes := true; goes; {
		select {
		case <-ended:
			goes = false
		default:
		}
		if tokens, err := session.Tokens(0); err != nil && (tokens != nil || !errors.Is(err, StatusBusy)) {
			t.Fatal(tokens, err)
		}
		state, err := session.Save()
		if errors.Is(err, StatusBusy) {
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		again, err := engine.Restore(state)
		if err != nil {
			t.Fatal(err)
		}
		again.Close()
	}
}
