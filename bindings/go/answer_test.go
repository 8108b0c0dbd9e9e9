package inlay

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"
)

func ask(t testing.TB, ctx context.Context, engine *Engine, request Request) *Answer {
	t.Helper()
	answer, err := engine.Ask(ctx, &request)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { answer.Close() })
	return answer
}

// An answer is what a session writes, however it is read.
func TestAnswersAreWhatSessionsWrite(t *testing.T) {
	engine := engineWith(t, nil)
	requests, prompts := requestsOfAllKinds(t, engine)
	giveThread(t, engine)
	for i, request := range requests {
		want := sessionsAnswer(t, engine, prompts[i], request.Session)
		for name, read := range map[string]func(*Answer, func(RequestEvent)) error{
			"next": func(a *Answer, heard func(RequestEvent)) error {
				for {
					event, err := a.Next()
					if err != nil {
						return err
					}
					heard(event)
				}
			},
			"all": func(a *Answer, heard func(RequestEvent)) (err error) {
				a.All()(func(event RequestEvent, failure error) bool {
					heard(event)
					err = failure
					return true
				})
				return err
			},
			"channel": func(a *Answer, heard func(RequestEvent)) error {
				var kept []RequestEvent // Each has tokens of its own.
				for event := range a.Channel() {
					kept = append(kept, event)
				}
				for _, event := range kept {
					heard(event)
				}
				return a.Err()
			},
		} {
			answer, got := ask(t, background, engine, request), &came{}
			err := read(answer, func(event RequestEvent) { cameOf{answer.Request(): got}.take(t, []RequestEvent{event}) })
			if err != nil && err != io.EOF || answer.Err() != nil || got.ends != 1 || answer.End().User != request.User {
				t.Errorf("%s, request %d: %v, %+v", name, i, err, got)
			}
			if !same(got.tokens, want.tokens) || got.text != want.text || answer.Finish() != want.end.Finish {
				t.Errorf("%s, request %d: %v %q %v, expected %v %q %v", name, i, got.tokens, got.text, answer.Finish(), want.tokens,
					want.text, want.end.Finish)
			}
			for k := 0; k < 2; k++ {
				if _, err := answer.Next(); err != io.EOF {
					t.Error(err)
				}
			}
		}
		if text, err := ask(t, background, engine, request).Text(); text != want.text || err != nil {
			t.Errorf("request %d: %q %v", i, text, err)
		}
	}
}

// The context's end cancels the request, whether somebody reads it or not.
func TestContextOfAnAnswer(t *testing.T) {
	engine := engineWith(t, func(o *LoadOptions) { o.MaxSessions = 1 })
	giveThread(t, engine)
	long := Request{Text: "Once", Session: upTo(450)}
	requestsLeft := func() int {
		t.Helper()
		if err := engine.SetThread(nil); err != nil {
			t.Fatal(err)
		}
		info, err := engine.Run(background, RunOptions{Budget: time.Microsecond, Flags: RunOneStep})
		if err != nil {
			t.Fatal(err)
		}
		giveThread(t, engine)
		return info.NRequests
	}
	for name, read := range map[string]func(*Answer) error{
		"read": func(a *Answer) error { _, err := a.Text(); return err },
		"channel": func(a *Answer) error {
			for range a.Channel() {
			}
			return a.Err()
		},
		"channel that is left": func(a *Answer) error {
			events := a.Channel()
			<-a.ctx.Done()
			for range events {
			}
			return a.Err()
		},
		"not read": func(a *Answer) error { <-a.ctx.Done(); _, err := a.Text(); return err },
	} {
		ctx, cancel := context.WithCancel(background)
		first, second := ask(t, ctx, engine, long), ask(t, ctx, engine, long) // The second one waits for the first one's place.
		time.AfterFunc(2*time.Millisecond, cancel)
		for _, answer := range []*Answer{second, first} {
			err := read(answer)
			if e := wantStatus(t, err, StatusCancelled); !errors.Is(e, context.Canceled) || errors.Is(e, ErrClosed) {
				t.Errorf("%s: %v", name, err)
			}
			if _, again := answer.Next(); again != err {
				t.Errorf("%s: %v, then %v", name, err, again)
			}
		}
		if _, err := engine.Ask(ctx, &long); !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
		for deadline := time.Now().Add(time.Minute); requestsLeft() > 0; {
			if time.Now().After(deadline) {
				t.Fatal(name + ": the requests go on")
			}
		}
	}
}

// The context's end is seen where nobody reads.
func TestContextOfAnAnswerThatNobodyReads(t *testing.T) {
	engine := engineWith(t, nil)
	if _, err := engine.Run(background, RunOptions{}); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(background)
	defer cancel()
	answer := ask(t, ctx, engine, Request{Text: "Once", Session: upTo(450)}) // It would rest.
	for i := 0; ; i++ {
		info, err := engine.Run(background, RunOptions{Budget: time.Microsecond, Flags: RunOneStep})
		if err != nil || i > 0 && info.NRequests > 1 || i > 5000 {
			t.Fatalf("%+v %v", info, err)
		}
		if info.NRequests == 0 {
			break
		}
		cancel()
		time.Sleep(time.Millisecond)
	}
	_, err := answer.Next()
	if e := wantStatus(t, err, StatusCancelled); !errors.Is(e, context.Canceled) {
		t.Error(e)
	}
}

func TestAnswersThatAreCutShort(t *testing.T) {
	engine := engineWith(t, nil)
	// Nobody computes yet.
	answer := ask(t, background, engine, Request{Text: "Once"})
	_, err := answer.Text()
	if e := wantStatus(t, err, StatusInvalidState); !strings.Contains(e.Message, "SetThread") {
		t.Error(e)
	}
	giveThread(t, engine)
	answer = ask(t, background, engine, Request{Text: "Once", Timeout: time.Microsecond})
	text, err := answer.Text()
	if e := wantStatus(t, err, StatusCancelled); !errors.Is(e, context.DeadlineExceeded) || text != "" || answer.Finish() != FinishTimeout {
		t.Error(e, text)
	}
	answer = ask(t, background, engine, Request{Text: "Once", Session: upTo(0)})
	text, err = answer.Text()
	if wantStatus(t, err, StatusContextFull); len(text) < 100 || answer.Finish() != FinishContextFull {
		t.Error(text)
	}
	answer = ask(t, background, engine, Request{Text: "Once", Session: upTo(450)})
	if _, err := answer.Next(); err != nil {
		t.Fatal(err)
	}
	answer.Cancel()
	text, err = answer.Text()
	if wantStatus(t, err, StatusCancelled); answer.Finish() != FinishCancelled || answer.End().GeneratedTokens >= 450 {
		t.Errorf("%q %+v", text, answer.End())
	}
	if text, err := ask(t, background, engine, Request{Text: "Once", Session: upTo(3)}).Text(); text == "" || err != nil {
		t.Error(text, err)
	}
	for i := 0; i < 2; i++ {
		if answer.Close() != nil {
			t.Error("Close failed")
		}
	}
	answer = ask(t, background, engine, Request{Text: "Once", Session: upTo(450)})
	events := answer.Channel()
	<-events
	answer.Close()
	for range events {
	}
	wantClosed(t, answer.Err())
	_, err = answer.Next()
	wantClosed(t, err)
	answer = ask(t, background, engine, Request{Text: "Once", Session: upTo(450)})
	engine.Close()
	if _, err = answer.Text(); answer.Finish() != FinishCancelled {
		t.Error(err, answer.Finish())
	}
	wantStatus(t, err, StatusCancelled)
	_, err = engine.Ask(background, &Request{Text: "Once"})
	wantClosed(t, err)
	_, err = (*Engine)(nil).Ask(background, &Request{Text: "Once"})
	wantStatus(t, err, StatusInvalidArgument)
}

func TestWriterOfAnAnswerFails(t *testing.T) {
	engine := engineWith(t, nil)
	giveThread(t, engine)
	answer := ask(t, background, engine, Request{Text: "Once upon a time", Session: upTo(20)})
	if _, err := answer.WriteTo(miscounting(-1)); !errors.Is(err, io.ErrShortWrite) {
		t.Error(err)
	}
	_, err := engine.Ask(background, &Request{Tokens: make([]int32, 600)})
	wantStatus(t, err, StatusContextFull)
}

// threads counts those of the process, where the system tells.
func threads(t *testing.T) int {
	entries, err := os.ReadDir("/proc/self/task")
	if err != nil {
		t.Skip(err)
	}
	return len(entries)
}

// Many answers at a time need no threads of their own, and leave no goroutines.
func TestManyAnswersAtATime(t *testing.T) {
	engine := engineWith(t, nil)
	giveThread(t, engine)
	want, err := ask(t, background, engine, Request{Text: "Once", Session: upTo(12)}).Text()
	if err != nil {
		t.Fatal(err)
	}
	const n = 400
	goroutines, before := runtime.NumGoroutine(), threads(t)
	ctx, cancel := context.WithCancel(background)
	defer cancel()
	var all sync.WaitGroup
	for i := 0; i < n; i++ { // One after the other: a call into C that waits for a lock may take a thread.
		answer, err := engine.Ask(ctx, &Request{Text: "Once", Session: upTo(12), Priority: i % 8})
		if err != nil {
			t.Fatal(err)
		}
		if i%8 == 7 {
			continue // It is left.
		}
		all.Add(1)
		go func() {
			defer all.Done()
			if text, err := answer.Text(); text != want || err != nil {
				t.Errorf("%q %v, expected %q", text, err, want)
			}
		}()
	}
	most := 0
	done := make(chan struct{})
	go func() { all.Wait(); close(done) }()
	for waiting := true; waiting; {
		select {
		case <-done:
			waiting = false
		case <-time.After(time.Millisecond):
			if now := threads(t); now > most {
				most = now
			}
		}
	}
	if most > before+n/4 { // A thread for each would be n.
		t.Errorf("%d threads, %d before", most, before)
	}
	cancel()
	for deadline := time.Now().Add(time.Minute); runtime.NumGoroutine() > goroutines+1; time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("%d goroutines, %d before", runtime.NumGoroutine(), goroutines)
		}
	}
}

// 50 callers whose keys and values have a quarter of the room that they need. Sessions would see that; requests are put out meanwhile,
// and all of them end whole. With all the room none is put out.
func TestFiftyCallersAndASmallPool(t *testing.T) {
	const callers, long, drawn = 50, 100, 60
	prompt := func(caller int) []int32 {
		tokens := make([]int32, long)
		for i := range tokens {
			tokens[i] = int32(65 + caller%4)
		}
		return tokens
	}
	for _, part := range []uint64{4, 1} {
		options := testOptions()
		options.Context, options.MaxSessions, options.Flags = long+drawn, callers, LoadNoPrefixCache
		plan, err := MemoryPlan(testModel, &options)
		if err != nil {
			t.Fatal(err)
		}
		options.KVBudget = plan.KVBytes / part
		engine := engineWith(t, func(o *LoadOptions) { *o = options })
		var full error
		var sessions []*Session
		for i := 0; i < callers && full == nil; i++ {
			sessions = append(sessions, sessionOf(t, engine, nil))
			_, full = sessions[i].Prefill(background, prompt(i))
		}
		for _, session := range sessions {
			session.Close()
		}
		if isSmall := part > 1; errors.Is(full, StatusKVFull) != isSmall || !isSmall && full != nil {
			t.Fatalf("a part of 1/%d: sessions end with %v", part, full)
		}
		var want [4]*came
		for i := range want {
			want[i] = sessionsAnswer(t, engine, prompt(i), upTo(drawn))
		}
		before, _ := engine.Stats()
		var answers []*Answer
		for i := 0; i < callers; i++ {
			answers = append(answers, ask(t, background, engine, Request{Tokens: prompt(i), Session: upTo(drawn)}))
		}
		giveThread(t, engine)
		var all sync.WaitGroup
		for i := range answers {
			all.Add(1)
			go func(i int) {
				defer all.Done()
				answer := answers[i]
				text, err := answer.Text()
				if err != nil || answer.Finish() != FinishMaxTokens || answer.End().GeneratedTokens != drawn {
					t.Errorf("caller %d: %v %+v", i, err, answer.End())
				}
				// On a GPU prompts have kernels of their own, so that what is computed again agrees within a tolerance.
				if testDevice != DeviceCUDA && text != want[i%4].text {
					t.Errorf("caller %d: %q, expected %q", i, text, want[i%4].text)
				}
			}(i)
		}
		all.Wait()
		after, _ := engine.Stats()
		if run := after.NPrefillTokens - before.NPrefillTokens; run > callers*long != (part > 1) {
			t.Errorf("a part of 1/%d: %d tokens were run for prompts of %d", part, run, callers*long)
		}
		engine.Close()
	}
}

// What nobody reads any more is found by the garbage collector.
func TestAnswersThatAreLeft(t *testing.T) {
	engine := engineWith(t, nil)
	ctx, cancel := context.WithCancel(background)
	defer cancel()
	if _, err := engine.Run(background, RunOptions{}); err != nil {
		t.Fatal(err)
	}
	for i := 0; i < 5; i++ {
		if _, err := engine.Ask(ctx, &Request{Text: fmt.Sprint("Once ", i)}); err != nil {
			t.Fatal(err)
		}
	}
	for deadline := time.Now().Add(time.Minute); ; {
		runtime.GC()
		info, err := engine.Run(background, RunOptions{Budget: time.Microsecond, Flags: RunOneStep})
		if err != nil || time.Now().After(deadline) {
			t.Fatal(info, err)
		}
		if info.NRequests == 0 {
			return
		}
	}
}
