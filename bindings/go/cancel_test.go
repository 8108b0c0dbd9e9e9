package inlay

import (
	"context"
	"errors"
	"io"
	"math/rand"
	"runtime"
	"testing"
	"time"
)

// A request to stop belongs to a generation: one that comes without one, or for one that is over, has no effect.
func TestCancelBelongsToAGeneration(t *testing.T) {
	session := sessionOf(t, engineWith(t, nil), &SessionOptions{MaxTokens: 3, Flags: SessionIgnoreEndOfGeneration})
	session.Cancel()
	prefill(t, session, 1, 2, 3)
	drawn(t, session, 3)
	session.Cancel() // This generation is over.
	prefill(t, session, 3)
	drawn(t, session, 1)
	session.Cancel()
	for i := 0; i < 2; i++ {
		event, err := session.Step()
		if i == 0 && (err != nil || event.Finish != FinishCancelled) || i == 1 && !errors.Is(err, StatusInvalidState) {
			t.Errorf("%+v %v", event, err)
		}
	}
	prefill(t, session, 3)
	session.Cancel() // It is not seen before the next one begins.
	prefill(t, session, 3)
	wantEnd(t, eventsOf(t, session.Continue(background), nil), 3, FinishMaxTokens)
	// That of a generation ends no other one.
	first, err := session.GenerateTokens(background, []int32{1}, nil)
	if err != nil {
		t.Fatal(err)
	}
	second := session.Continue(background)
	first.Cancel()
	if event, err := second.Next(); err != nil || event.Finish != FinishNone {
		t.Errorf("%+v %v", event, err)
	}
	second.Cancel()
	text, err := second.Text()
	if wantStatus(t, err, StatusCancelled); text != "" || second.Finish() != FinishCancelled || errors.Is(err, context.Canceled) {
		t.Error(text, err)
	}
	third, err := session.GenerateTokens(background, []int32{1}, nil)
	second.Cancel()
	wantEnd(t, eventsOf(t, third, err), 3, FinishMaxTokens)
	third.Cancel()
	prefill(t, session, 1)
	drawn(t, session, 1)
	// A truncation begins another one, too: what came before it has no effect, what comes then has.
	session.Cancel()
	truncate := func() {
		t.Helper()
		if err := session.Truncate(1); err != nil {
			t.Fatal(err)
		}
	}
	truncate()
	drawn(t, session, 1)
	fourth := session.Continue(background)
	truncate()
	fourth.Cancel()
	if event, err := fourth.Next(); err != nil || event.Finish != FinishCancelled {
		t.Errorf("%+v %v", event, err)
	}
	truncate()
	session.Cancel()
	if event, err := session.Step(); err != nil || event.Finish != FinishCancelled {
		t.Errorf("%+v %v", event, err)
	}
}

// What the context of a prefill has asked for when all of the prompt was run ends nothing, neither later generations nor its own;
// the program's own request does.
func TestALateContextStopsNothing(t *testing.T) {
	engine := engineWith(t, nil)
	options := &SessionOptions{Flags: SessionIgnoreEndOfGeneration}
	session, alone := sessionOf(t, engine, options), sessionOf(t, engine, options)
	late := func() {
		t.Helper()
		prefill(t, session, 1, 2)
		session.request(session.cancels.number)
		session.cancels.late = true
	}
	prefill(t, alone, 1, 2)
	want := drawn(t, alone, 8)
	late()
	if got := drawn(t, session, 8); !same(got, want) {
		t.Error(got, want)
	}
	late()
	prefill(t, session, 1)
	drawn(t, session, 1)
	late()
	if events, err := DecodeStep(background, []*Session{session, alone}, nil); err != nil || events[0].Token < 0 {
		t.Errorf("%+v %v", events, err)
	}
	late()
	session.Cancel()
	if event, err := session.Step(); err != nil || event.Finish != FinishCancelled {
		t.Errorf("%+v %v", event, err)
	}
	late()
	child, err := session.Fork()
	if err != nil {
		t.Fatal(err)
	}
	defer child.Close()
	drawn(t, child, 1)
	drawn(t, session, 1)
	// Where the request was spent after all, nothing is lost.
	prefill(t, session, 1, 2)
	session.cancels.late = true
	drawn(t, session, 1)
	if info, err := session.Info(); err != nil || info.NGenerated != 1 {
		t.Errorf("%+v %v", info, err)
	}
}

// A request that meets a prefill that is refused is for a generation that has not begun; it does not end the one that begins next.
func TestARequestDuringARefusedPrefill(t *testing.T) {
	session := sessionOf(t, engineWith(t, nil), &SessionOptions{Flags: SessionIgnoreEndOfGeneration})
	prefill(t, session, 1, 2)
	for i := 0; i < 3; i++ {
		session.request(session.cancels.number + 1)
		session.cancels.early = true
		for j := 0; j < i; j++ {
			_, err := session.Prefill(background, []int32{-1})
			wantStatus(t, err, StatusInvalidArgument)
		}
		prefill(t, session, 3)
		drawn(t, session, 2)
	}
	// Nor the one that a truncation begins.
	session.request(session.cancels.number + 1)
	session.cancels.early = true
	if err := session.Truncate(2 + 3*3 - 1); err != nil {
		t.Fatal(err)
	}
	drawn(t, session, 1)
	if info, err := session.Info(); err != nil || info.NTokens != 2+3*3 {
		t.Errorf("%+v %v", info, err)
	}
}

// Contexts and requests that end at any time, mostly about the end of a short prefill: the generation that they belong to may end, a
// later one never does, and a prefill that has returned without an error can go on.
func TestTenThousandLateRequests(t *testing.T) {
	session := sessionOf(t, engineWith(t, func(o *LoadOptions) { o.Threads, o.PrefillChunk = 1, 1 }), &SessionOptions{Flags: SessionIgnoreEndOfGeneration})
	takes := time.Hour // the least: another one may have lost its processor meanwhile
	for i := 0; i < 20; i++ {
		if err := session.Truncate(0); err != nil {
			t.Fatal(err)
		}
		started := time.Now()
		prefill(t, session, 1, 2)
		if took := time.Since(started); took < takes {
			takes = took
		}
	}
	random := rand.New(rand.NewSource(1))
	var stopped, whole, after int
	rounds := 10000
	if runtime.GOOS == "windows" {
		rounds = 1000 // A sleep takes up to 16 ms there.
	}
	for round := 0; round < rounds; round++ {
		if err := session.Truncate(0); err != nil {
			t.Fatal(err)
		}
		ctx, stop := context.WithCancel(background)
		delay, byContext, ended := time.Duration(random.Int63n(int64(3*takes)+1)), round%3 != 0, make(chan struct{})
		go func() {
			defer close(ended)
			time.Sleep(delay)
			if byContext {
				stop()
			} else {
				session.Cancel()
			}
		}()
		prompt := []int32{1, 2, 3, 4}[:1+round%4] // of one chunk or several
		n, err := session.Prefill(ctx, prompt)
		switch {
		case err == nil && n == len(prompt):
			whole++
			event, err := session.Step()
			if err != nil || byContext && event.Finish == FinishCancelled {
				t.Fatalf("round %d: %+v %v", round, event, err)
			}
			if event.Finish == FinishCancelled {
				after++
			}
		case errors.Is(err, StatusCancelled) && n < len(prompt) && byContext == errors.Is(err, context.Canceled):
			stopped++
		default:
			t.Fatalf("round %d: %d, %v", round, n, err)
		}
		<-ended
		stop()
		// The request is over; it belongs to none of these.
		generation, err := session.GenerateTokens(background, []int32{1}, &GenerateOptions{MaxTokens: 1 + round%2})
		for i := 0; i <= round%2 && err == nil; i++ {
			var event Event
			if event, err = generation.Next(); err == nil && event.Finish == FinishCancelled {
				t.Fatalf("round %d: %+v", round, event)
			}
		}
		if err != nil && err != io.EOF {
			t.Fatalf("round %d: %v", round, err)
		}
		if session.cancels.early {
			t.Fatal("no prefill was refused")
		}
	}
	if stopped == 0 || whole == 0 || after == 0 {
		t.Errorf("%d prefills were stopped, %d were whole, of which %d ended at once", stopped, whole, after)
	}
}

func TestBOSOnlyAtTheBeginning(t *testing.T) {
	engine := engineWith(t, nil)
	bos := engine.Info().BOS
	with, err := engine.Tokenize("Once", 0)
	if err != nil || with[0] != bos {
		t.Fatal(with, err)
	}
	session := sessionOf(t, engine, nil)
	add := func(text string, options *GenerateOptions, want int) {
		t.Helper()
		before, _ := session.Info()
		n, err := session.PrefillText(background, text, options)
		if after, _ := session.Info(); err != nil || n != want || after.NTokens != before.NTokens+n {
			t.Errorf("%d tokens, expected %d: %v", n, want, err)
		}
	}
	add("Once", nil, len(with))
	add("Once", nil, len(with)-1)
	add("Once", &GenerateOptions{RepeatBOS: true}, len(with))
	if err := session.Truncate(0); err != nil {
		t.Fatal(err)
	}
	add("Once", nil, len(with))
	for turn, want := range []int{len(with) - 1, len(with) - 1, len(with)} {
		generation, err := session.Generate(background, "Once", &GenerateOptions{MaxTokens: 1, RepeatBOS: turn == 2})
		if events := eventsOf(t, generation, err); events[0].PromptTokens != want {
			t.Errorf("turn %d: %d tokens, expected %d", turn, events[0].PromptTokens, want)
		}
	}
	_, err = session.PrefillText(background, "Once", &GenerateOptions{MaxTokens: -1})
	wantStatus(t, err, StatusInvalidArgument)
}
