package inlay

import (
	"context"
	"errors"
	"io"
	"strings"
	"sync"
	"testing"
	"time"
)

// eventsOf are all events of a generation, which must end with io.EOF.
func eventsOf(t *testing.T, generation *Generation, err error) []Event {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	var events []Event
	for {
		event, err := generation.Next()
		if err == io.EOF {
			return events
		}
		if err != nil {
			t.Fatal(err)
		}
		events = append(events, event)
	}
}

// wantEnd fails unless only the last of these events, of which there are so many, has a finish reason, and it is this one.
func wantEnd(t *testing.T, events []Event, n int, want FinishReason) {
	t.Helper()
	if len(events) != n {
		t.Fatalf("%d events, expected %d", len(events), n)
	}
	for i, event := range events {
		if i == n-1 && event.Finish != want || i < n-1 && event.Finish != FinishNone {
			t.Errorf("event %d of %d finishes with %s", i, n, event.Finish)
		}
	}
}

// within fails if the work has not ended after a minute.
func within(t *testing.T, work func()) {
	t.Helper()
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		work()
	}()
	select {
	case <-ended:
	case <-time.After(time.Minute):
		t.Fatal("it does not end")
	}
}

func TestAFullContextEndsAGeneration(t *testing.T) {
	engine := engineWith(t, func(o *LoadOptions) { o.Context = 32 })
	session := sessionOf(t, engine, &SessionOptions{Flags: SessionIgnoreEndOfGeneration})
	generation, err := session.GenerateTokens(background, []int32{1, 2, 3, 4}, nil)
	events := eventsOf(t, generation, err)
	wantEnd(t, events, 28, FinishContextFull)
	if last := events[27]; last.Token < 0 || last.PromptTokens != 4 || last.GeneratedTokens != 28 {
		t.Errorf("%+v", last)
	}
	if info, err := session.Info(); err != nil || info.NTokens != 32 || info.FinishReason != FinishContextFull {
		t.Errorf("%+v %v", info, err)
	}
	_, err = session.Step()
	wantStatus(t, err, StatusInvalidState)
	_, err = session.GenerateTokens(background, []int32{1}, nil)
	wantStatus(t, err, StatusContextFull)

	// A prompt that fills the context ends without a token, alone and beside others.
	if err := session.Truncate(0); err != nil {
		t.Fatal(err)
	}
	generation, err = session.GenerateTokens(background, make([]int32, 32), nil)
	events = eventsOf(t, generation, err)
	wantEnd(t, events, 1, FinishContextFull)
	if last := events[0]; last.Token != -1 || last.Text != "" || last.PromptTokens != 32 || last.GeneratedTokens != 0 {
		t.Errorf("%+v", last)
	}
	if err := session.Truncate(0); err != nil {
		t.Fatal(err)
	}
	prefill(t, session, make([]int32, 31)...)
	other := sessionOf(t, engine, nil)
	prefill(t, other, 1, 2)
	events, err = DecodeStep(background, []*Session{session, other}, nil)
	if err != nil || events[0].Finish != FinishContextFull || events[0].Token < 0 || events[1].Finish != FinishNone {
		t.Errorf("%+v %v", events, err)
	}
	if err := session.Truncate(0); err != nil {
		t.Fatal(err)
	}
	if generation, err = session.GenerateTokens(background, []int32{1, 2, 3, 4}, nil); err != nil {
		t.Fatal(err)
	}
	text, err := generation.Text() // It was cut short.
	if wantStatus(t, err, StatusContextFull); text == "" || generation.Finish() != FinishContextFull {
		t.Error(text, err)
	}
}

func TestMaxTokensCanChange(t *testing.T) {
	session := sessionOf(t, engineWith(t, nil), &SessionOptions{MaxTokens: 7, Flags: SessionIgnoreEndOfGeneration})
	generate := func(n int) []Event {
		t.Helper()
		generation, err := session.Generate(background, "Once upon a time", &GenerateOptions{MaxTokens: n})
		return eventsOf(t, generation, err)
	}
	wantEnd(t, generate(0), 7, FinishMaxTokens)
	wantEnd(t, generate(3), 3, FinishMaxTokens)
	wantEnd(t, generate(0), 3, FinishMaxTokens) // 0 leaves it.
	wantEnd(t, generate(11), 11, FinishMaxTokens)
	// In the generation under way.
	prefill(t, session, 1)
	drawn(t, session, 4)
	if err := session.SetMaxTokens(6); err != nil {
		t.Fatal(err)
	}
	wantEnd(t, eventsOf(t, session.Continue(background), nil), 2, FinishMaxTokens)
	prefill(t, session, 1)
	drawn(t, session, 4)
	if err := session.SetMaxTokens(2); err != nil {
		t.Fatal(err)
	}
	wantEnd(t, eventsOf(t, session.Continue(background), nil), 1, FinishMaxTokens)
	// 0 is no limit.
	if err := session.SetMaxTokens(0); err != nil {
		t.Fatal(err)
	}
	prefill(t, session, 1)
	for _, event := range eventsOf(t, session.Continue(background), nil) {
		if event.Finish == FinishMaxTokens {
			t.Errorf("a limit is left: %+v", event)
		}
	}
}

func TestEventsCountTheTokensOfTheirTurn(t *testing.T) {
	session := sessionOf(t, engineWith(t, nil), &SessionOptions{Flags: SessionIgnoreEndOfGeneration})
	want := func(event Event, err error, prompt, generated int) {
		t.Helper()
		if err != nil || event.PromptTokens != prompt || event.GeneratedTokens != generated {
			t.Errorf("%d and %d, expected %d and %d: %v", event.PromptTokens, event.GeneratedTokens, prompt, generated, err)
		}
	}
	for turn := 1; turn <= 2; turn++ {
		prefill(t, session, make([]int32, 5*turn)...)
		for i := 1; i <= 4; i++ {
			event, err := session.Step()
			want(event, err, 5*turn, i)
		}
	}
	child, err := session.Fork()
	if err != nil {
		t.Fatal(err)
	}
	defer child.Close()
	events, err := DecodeStep(background, []*Session{session, child}, nil)
	for _, event := range events {
		want(event, err, 10, 5)
	}
	session.Cancel()
	event, err := session.Step()
	want(event, err, 10, 5)
	if event.Finish != FinishCancelled {
		t.Error(event)
	}
	if err := session.Truncate(3); err != nil {
		t.Fatal(err)
	}
	event, err = session.Step()
	want(event, err, 10, 1)
	if info, err := session.Info(); err != nil || info.NGenerated != 1 {
		t.Error(info, err)
	}
}

// With room for one session, each refusal leaves that room free.
func TestWhatIsRefusedLeavesNothing(t *testing.T) {
	engine := engineWith(t, func(o *LoadOptions) { o.MaxSessions = 1 })
	for name, options := range map[string]SessionOptions{
		"an empty stop text":     {Stop: []string{""}},
		"a long stop text":       {Stop: []string{string(make([]byte, 1025))}},
		"an empty one of two":    {Stop: []string{"x", ""}},
		"a stop token":           {StopTokens: []int32{-1}},
		"too many stop tokens":   {StopTokens: make([]int32, 1025)},
		"both":                   {Stop: []string{"x"}, StopTokens: []int32{-1}},
		"a temperature":          {Sampler: Sampler{Temperature: -1}},
		"a bias":                 {Sampler: Sampler{Bias: []LogitBias{{Token: -5}}}},
		"a negative limit":       {MaxTokens: -1},
		"a limit of many digits": {MaxTokens: beyond},
	} {
		options := options
		session, err := engine.NewSession(&options)
		if session != nil || !errors.Is(err, StatusInvalidArgument) {
			t.Errorf("%s: %v", name, err)
		}
		if stats, err := engine.Stats(); err != nil || stats.NSessions != 0 {
			t.Errorf("%s: %d sessions are left: %v", name, stats.NSessions, err)
		}
		next, err := engine.NewSession(nil)
		if err != nil {
			t.Fatalf("after %s: %v", name, err)
		}
		if _, err := next.Fork(); !errors.Is(err, StatusSessionLimit) {
			t.Errorf("a fork without room: %v", err)
		}
		next.Close()
	}
	// What Generate is refused for leaves the session usable.
	session := sessionOf(t, engine, nil)
	prefill(t, session, 1, 2)
	waiting := session.Continue(background)
	for _, options := range []GenerateOptions{{Stop: []string{""}}, {Sampler: &Sampler{Temperature: -1}}, {MaxTokens: -1}} {
		options := options
		_, err := session.Generate(background, "x", &options)
		wantStatus(t, err, StatusInvalidArgument)
	}
	if _, err := waiting.Next(); err != nil { // None of them was begun.
		t.Error(err)
	}
}

// Of two generations in one session the older one ends with an error, and draws nothing of the newer one.
func TestOneGenerationAtATime(t *testing.T) {
	engine := engineWith(t, nil)
	options := &SessionOptions{MaxTokens: 8, Flags: SessionIgnoreEndOfGeneration}
	session, alone := sessionOf(t, engine, options), sessionOf(t, engine, options)
	generate := func(session *Session, prompt string) *Generation {
		generation, err := session.Generate(background, prompt, nil)
		if err != nil {
			t.Fatal(err)
		}
		return generation
	}
	start := func(session *Session) *Generation {
		first := generate(session, "Once upon a time")
		for i := 0; i < 3; i++ {
			if _, err := first.Next(); err != nil {
				t.Fatal(err)
			}
		}
		return first
	}
	first := start(session)
	second := generate(session, "Then")
	for i := 0; i < 2; i++ {
		event, err := first.Next()
		if wantStatus(t, err, StatusInvalidState); event.Session != nil || errors.Is(err, ErrClosed) {
			t.Error(event, err)
		}
	}
	text, err := second.Text()
	if err != nil {
		t.Fatal(err)
	}
	start(alone)
	if want, err := generate(alone, "Then").Text(); err != nil || text != want {
		t.Errorf("%q, expected %q: %v", text, want, err)
	}
	// One that has ended stays at its end; one that goes on where another was left is a newer one, too.
	if _, err := first.Next(); !errors.Is(err, StatusInvalidState) {
		t.Error(err)
	}
	third := start(session)
	fourth := session.Continue(background)
	if _, err := third.Next(); !errors.Is(err, StatusInvalidState) {
		t.Error(err)
	}
	if _, err := second.Next(); err != io.EOF {
		t.Error(err)
	}
	wantEnd(t, eventsOf(t, fourth, nil), 5, FinishMaxTokens)
}

// Goroutines that generate in one session: each generation has one end, and what one tells is a prefix of what it would tell
// alone.
func TestGenerationsThatMeet(t *testing.T) {
	engine := engineWith(t, nil)
	session := sessionOf(t, engine, &SessionOptions{Flags: SessionIgnoreEndOfGeneration})
	whole, met := 0, 0
	var lock sync.Mutex
	within(t, func() {
		var all sync.WaitGroup
		for i := 0; i < 4; i++ {
			all.Add(1)
			go func() {
				defer all.Done()
				for round := 0; round < 12; round++ {
					generation, err := session.GenerateTokens(background, []int32{1}, &GenerateOptions{MaxTokens: 3})
					n := 0
					for err == nil {
						var event Event
						if event, err = generation.Next(); err == nil {
							if n++; event.GeneratedTokens != n || (event.Finish == FinishMaxTokens) != (n == 3) {
								t.Errorf("event %d is %+v", n, event)
							}
						}
					}
					lock.Lock()
					switch {
					case err == io.EOF && n == 3:
						whole++
					case errors.Is(err, StatusBusy), errors.Is(err, StatusInvalidState) && !errors.Is(err, ErrClosed):
						met++
						time.Sleep(time.Millisecond)
					default:
						t.Errorf("after %d events: %v", n, err)
					}
					lock.Unlock()
				}
			}()
		}
		all.Wait()
	})
	if whole+met != 4*12 || whole == 0 || met == 0 {
		t.Errorf("%d came to their end, %d met another one", whole, met)
	}
}

// A generation goes on to its end after the engine's Close in another goroutine, which waits for nothing.
func TestEngineClosedWhileAGenerationRuns(t *testing.T) {
	for round := 0; round < 8; round++ {
		engine := engineWith(t, nil)
		session := sessionOf(t, engine, &SessionOptions{MaxTokens: 40, Flags: SessionIgnoreEndOfGeneration})
		generation, err := session.Generate(background, "Once upon a time", nil)
		if err != nil {
			t.Fatal(err)
		}
		within(t, func() {
			closed := make(chan struct{})
			go func() {
				time.Sleep(time.Duration(round) * 300 * time.Microsecond)
				engine.Close()
				close(closed)
			}()
			wantEnd(t, eventsOf(t, generation, nil), 40, FinishMaxTokens)
			<-closed
		})
		_, err = engine.NewSession(nil)
		wantClosed(t, err)
	}
}

// Generations whose contexts end, that are cancelled, left, or closed with their sessions by other goroutines: each that is not
// left has one end, which Next then repeats, and nobody waits for ever.
func TestEveryGenerationEndsOnce(t *testing.T) {
	const routines, rounds, length = 6, 20, 48
	engine := engineWith(t, func(o *LoadOptions) { o.MaxSessions, o.Context = routines, length })
	var ends [5]int // in this order: the context was full, cancelled, its Go context ended, closed, left
	var lock sync.Mutex
	one := func(seed int) {
		session, err := engine.NewSession(&SessionOptions{Flags: SessionIgnoreEndOfGeneration})
		if err != nil {
			t.Error(err)
			return
		}
		ctx, stop := context.WithCancel(background)
		way, over := seed%5, make(chan struct{})
		go func() {
			defer close(over)
			time.Sleep(time.Duration(seed*7%20) * 200 * time.Microsecond)
			switch way {
			case 1:
				session.Cancel()
			case 2:
				stop()
			case 3:
				session.Close()
			}
		}()
		generation, err := session.Generate(ctx, "Once upon a time", nil)
		finish, n := FinishNone, 0
		for ; err == nil && !(way == 4 && n == 5); n++ {
			var event Event
			if finish != FinishNone {
				t.Errorf("something comes behind %s", finish)
			}
			if event, err = generation.Next(); err == nil {
				finish = event.Finish
				if finish != FinishNone {
					_, err = generation.Next()
				}
			}
		}
		if err != nil && generation != nil {
			if _, again := generation.Next(); again != err {
				t.Errorf("%v, and then %v", err, again)
			}
		}
		lock.Lock()
		switch {
		case err == nil && way == 4:
			ends[4]++
		case err == io.EOF && finish == FinishContextFull:
			ends[0]++
		case err == io.EOF && finish == FinishCancelled && (way == 1 || way == 3), way == 1 && errors.Is(err, StatusCancelled):
			ends[1]++
		case way == 2 && finish == FinishNone && errors.Is(err, context.Canceled):
			ends[2]++
		case way == 3 && finish == FinishNone && (errors.Is(err, ErrClosed) || errors.Is(err, StatusCancelled)):
			ends[3]++
		default:
			t.Errorf("way %d: %v behind %s", way, err, finish)
		}
		lock.Unlock()
		<-over
		stop()
		session.Close()
	}
	within(t, func() {
		var all sync.WaitGroup
		for i := 0; i < routines; i++ {
			all.Add(1)
			go func(i int) {
				defer all.Done()
				for round := 0; round < rounds; round++ {
					one(i + round*routines)
				}
			}(i)
		}
		all.Wait()
	})
	sum := 0
	for i, n := range ends {
		if sum += n; n == 0 {
			t.Errorf("no end of kind %d: %v", i, ends)
		}
	}
	if sum != routines*rounds {
		t.Errorf("%d ends of %d generations", sum, routines*rounds)
	}
	if stats, err := engine.Stats(); err != nil || stats.NSessions != 0 {
		t.Error(stats, err)
	}
}

// Tokens that are accepted count as drawn ones.
func TestAccept(t *testing.T) {
	engine := engineWith(t, nil)
	options := &SessionOptions{Flags: SessionIgnoreEndOfGeneration}
	other, session := sessionOf(t, engine, options), sessionOf(t, engine, options)
	prefill(t, other, 1, 2, 3)
	want := drawn(t, other, 8)
	_, err := session.Accept(want)
	wantStatus(t, err, StatusInvalidState)
	prefill(t, session, 1, 2, 3)
	if n, err := session.Accept(want[:4]); n != 4 || err != nil {
		t.Fatal(n, err)
	}
	event, err := session.Step()
	text, _ := engine.Detokenize(want[:4], 0)
	if err != nil || event.Token != want[4] || event.NTokens != 1 || event.GeneratedTokens != 5 || !strings.HasPrefix(event.Text, text) {
		t.Errorf("%+v %v", event, err)
	}
	if tokens, err := session.Tokens(2); err != nil || !same(tokens, append([]int32{3}, want[:5]...)) {
		t.Error(tokens, err)
	}
	if tokens, err := session.Tokens(8); err != nil || len(tokens) != 0 {
		t.Error(tokens, err)
	}
	for _, first := range []int{-1, 9} {
		_, err := session.Tokens(first)
		wantStatus(t, err, StatusInvalidArgument)
	}
	if err := session.SetMaxTokens(7); err != nil {
		t.Fatal(err)
	}
	if n, err := session.Accept(want); n != 2 || err != nil {
		t.Error(n, err)
	}
	_, err = session.Accept(want)
	wantStatus(t, err, StatusInvalidState)
	if n, err := session.Accept(nil); n != 0 || err == nil {
		t.Error(n, err)
	}
}
