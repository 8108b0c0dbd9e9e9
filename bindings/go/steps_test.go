package inlay

import (
	"context"
	"errors"
	"io"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"
)

const endless = SessionIgnoreEndOfGeneration

// stepsOf counts the tokens that were drawn and the steps that were run meanwhile.
func stepsOf(t testing.TB, engine *Engine, run func()) (tokens, steps uint64) {
	t.Helper()
	before, err := engine.Stats()
	if err != nil {
		t.Fatal(err)
	}
	run()
	after, err := engine.Stats()
	if err != nil {
		t.Fatal(err)
	}
	return after.NDecodeTokens - before.NDecodeTokens, after.NDecodeSteps - before.NDecodeSteps
}

func generationOf(t testing.TB, ctx context.Context, engine *Engine, prompt string, tokens int) *Generation {
	t.Helper()
	generation, err := sessionOf(t, engine, &SessionOptions{MaxTokens: tokens, Flags: endless}).Generate(ctx, prompt, nil)
	if err != nil {
		t.Fatal(err)
	}
	return generation
}

func waitForAll(all *sync.WaitGroup) bool {
	done := make(chan struct{})
	go func() { all.Wait(); close(done) }()
	select {
	case <-done:
		return true
	case <-time.After(time.Minute):
		return false
	}
}

// Generations of many goroutines share steps. Each has its own text, and those that are cut, closed or slow change no other one.
func TestGenerationsShareSteps(t *testing.T) {
	const prompts, most = 8, 60
	engine := engineWith(t, func(o *LoadOptions) { o.MaxSessions = 5 * prompts })
	prompt := func(i int) string {
		return []string{"The old fox", "A little boat", "Once", "The queen"}[i%4] + strings.Repeat(" and", i/4)
	}
	var alone [prompts]string
	for i := range alone {
		text, err := generationOf(t, background, engine, prompt(i), most).Text()
		if err != nil {
			t.Fatal(err)
		}
		alone[i] = text
	}
	goroutines := runtime.NumGoroutine()
	tokens, steps := stepsOf(t, engine, func() {
		var all sync.WaitGroup
		for i := 0; i < 4*prompts; i++ {
			ctx, cancel := context.WithCancel(background)
			defer cancel()
			generation := generationOf(t, ctx, engine, prompt(i%prompts), most)
			all.Add(1)
			go func(i int) {
				defer all.Done()
				text, want, n := "", alone[i%prompts], 0
				event, err := generation.Next()
				for ; err == nil; event, err = generation.Next() {
					text += event.Text
					switch n++; {
					case i%8 == 3 && n == i:
						cancel()
					case i%8 == 5 && n == i:
						generation.Cancel()
					case i%8 == 6 && n == i:
						go generation.session.Close()
					case i%8 == 7 && n%10 == 0:
						time.Sleep(10 * time.Millisecond)
					}
				}
				whole := i%8 < 3 || i%8 == 4 || i%8 == 7
				if whole && (err != io.EOF || text != want) || !strings.HasPrefix(want, text) {
					t.Errorf("%d: %q, expected %q, %v", i, text, want, err)
				}
				if i%8 == 3 && !errors.Is(err, context.Canceled) || i%8 == 5 && generation.Finish() != FinishCancelled ||
					i%8 == 6 && err != io.EOF && !errors.Is(err, ErrClosed) {
					t.Errorf("%d: %v, %v", i, err, generation.Finish())
				}
			}(i)
		}
		if !waitForAll(&all) {
			t.Fatal("they do not end")
		}
	})
	t.Logf("%d tokens in %d steps", tokens, steps)
	if float64(steps) > float64(tokens)/1.5 { // how many meet depends on the machine
		t.Errorf("%d steps for %d tokens", steps, tokens)
	}
	for end := time.Now().Add(time.Minute); runtime.NumGoroutine() > goroutines && time.Now().Before(end); {
		time.Sleep(time.Millisecond)
	}
	if n := runtime.NumGoroutine(); n > goroutines {
		t.Errorf("%d goroutines, %d before", n, goroutines)
	}
}

// One that nobody reads any more keeps no other one waiting, nor does it go on.
func TestASlowGenerationHoldsNobodyUp(t *testing.T) {
	engine := engineWith(t, nil)
	slow := generationOf(t, background, engine, "Once upon a time", 0)
	fast := []*Generation{generationOf(t, background, engine, "The old fox", 100), generationOf(t, background, engine, "A boat", 100)}
	if _, err := slow.Next(); err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	for _, generation := range fast {
		all.Add(1)
		go func(generation *Generation) {
			defer all.Done()
			if _, err := generation.Text(); err != nil {
				t.Error(err)
			}
		}(generation)
	}
	if !waitForAll(&all) {
		t.Fatal("they wait for the slow one")
	}
	info, err := slow.session.Info()
	if err != nil || info.NGenerated != 1 {
		t.Errorf("it drew %d tokens, %v", info.NGenerated, err)
	}
}

// A goroutine that takes turns among generations steps each alone, and waits for none.
func TestOneGoroutineWithManyGenerations(t *testing.T) {
	engine := engineWith(t, nil)
	const most = 50
	var generations [3]*Generation
	for i := range generations {
		generations[i] = generationOf(t, background, engine, "Once upon a time", most)
	}
	tokens, steps := stepsOf(t, engine, func() {
		for n := 0; n < most; n++ {
			for _, generation := range generations {
				if _, err := generation.Next(); err != nil {
					t.Fatal(err)
				}
			}
		}
	})
	if steps != tokens || tokens != most*uint64(len(generations)) {
		t.Errorf("%d tokens in %d steps", tokens, steps)
	}
}

// Closing the engine ends no generation; the last session frees it.
func TestEngineClosedWhileStepsAreShared(t *testing.T) {
	engine := engineWith(t, nil)
	gone := make(chan struct{})
	engine.shared.gone = func() { close(gone) }
	var generations [4]*Generation
	for i := range generations {
		generations[i] = generationOf(t, background, engine, "Once upon a time", 100)
	}
	var all sync.WaitGroup
	for _, generation := range generations {
		all.Add(1)
		go func(generation *Generation) {
			defer all.Done()
			defer generation.session.Close()
			n := 0
			_, err := generation.Next()
			for ; err == nil; _, err = generation.Next() {
				if n++; n == 10 {
					engine.Close()
				}
			}
			if err != io.EOF || generation.Finish() != FinishMaxTokens {
				t.Error(n, err)
			}
		}(generation)
	}
	if !waitForAll(&all) {
		t.Fatal("they do not end")
	}
	select {
	case <-gone:
	case <-time.After(time.Minute):
		t.Error("the engine was not freed")
	}
}
