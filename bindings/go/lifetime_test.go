package inlay

import (
	"errors"
	"os"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

func TestUseAfterClose(t *testing.T) {
	engine := engineWith(t, nil)
	session := sessionOf(t, engine, nil)
	prefill(t, session, 1, 2)
	generation, logs := session.Continue(background), engine.Logs()
	queue, orphan := queueOf(t, engine, nil), queueOf(t, engine, nil)
	for i := 0; i < 2; i++ { // Closing twice is fine.
		if session.Close() != nil || queue.Close() != nil || engine.Close() != nil {
			t.Fatal("Close failed")
		}
	}
	for name, call := range map[string]func() error{
		"Prefill":     func() error { _, err := session.Prefill(background, []int32{1}); return err },
		"Generate":    func() error { _, err := session.Generate(background, "x", nil); return err },
		"Step":        func() error { _, err := session.Step(); return err },
		"DecodeStep":  func() error { _, err := DecodeStep(background, []*Session{session}, nil); return err },
		"DecodeSlice": func() error { _, _, err := DecodeSlice([]*Session{session}, 1, nil); return err },
		"Abandon":     func() error { return DecodeAbandon([]*Session{session}) },
		"Next":        func() error { _, err := generation.Next(); return err },
		"Fork":        func() error { _, err := session.Fork(); return err },
		"Truncate":    func() error { return session.Truncate(0) },
		"SetSampler":  func() error { return session.SetSampler(Sampler{}) },
		"SetStop":     func() error { return session.SetStop() },
		"SetMax":      func() error { return session.SetMaxTokens(1) },
		"Logits":      func() error { _, err := session.Logits(nil); return err },
		"TakeText":    func() error { _, err := session.TakeText(); return err },
		"Info":        func() error { _, err := session.Info(); return err },
		"NewSession":  func() error { _, err := engine.NewSession(nil); return err },
		"Tokenize":    func() error { _, err := engine.Tokenize("x", 0); return err },
		"Detokenize":  func() error { _, err := engine.Detokenize([]int32{1}, 0); return err },
		"TokenInfo":   func() error { _, err := engine.TokenInfo(1); return err },
		"MetaKeys":    func() error { _, err := engine.MetaKeys(); return err },
		"Meta":        func() error { _, err := engine.Meta("x"); return err },
		"Stats":       func() error { _, err := engine.Stats(); return err },
		"PlanText":    func() error { _, err := engine.PlanText(); return err },
		"Logs":        func() error { _, err := logs.Next(); return err },
		"Profile":     func() error { return engine.Profile(background, ProfileOptions{}) },
		"ProfileText": func() error { _, err := engine.ProfileText(ProfileKinds); return err },
		"Score":       func() error { _, err := engine.Score(background, nil, nil); return err },
		"NewQueue":    func() error { _, err := engine.NewQueue(nil); return err },
		"Run":         func() error { _, err := engine.Run(background, RunOptions{}); return err },
		"SetThread":   func() error { return engine.SetThread(nil) },
		"Constraint":  func() error { _, err := engine.NewConstraint(ConstraintOptions{AnyJSON: true}); return err },
		"SetConstr":   func() error { return session.SetConstraint(nil, "") },
		"ForcedText":  func() error { _, err := session.ForcedText(); return err },
		"Submit":      func() error { _, err := queue.Submit(&Request{Text: "x"}); return err },
		"Poll":        func() error { _, err := queue.Poll(nil); return err },
		"NextEvents":  func() error { _, err := queue.Next(background, nil); return err },
		"Wait":        func() error { return queue.Wait(background) },
		"Handle":      func() error { _, _, err := queue.Handle(); return err },
		"OfOrphan":    func() error { _, err := orphan.Submit(&Request{Text: "x"}); return err },
		"PollOrphan":  func() error { _, err := orphan.Poll(nil); return err },
		"WaitOrphan":  func() error { return orphan.Wait(background) },
		"Compare":     func() error { _, _, err := Compare(engine, engine, []int32{1, 2}, 0); return err },
	} {
		err := call()
		if !errors.Is(err, ErrClosed) || !errors.Is(err, StatusInvalidState) {
			t.Errorf("%s: %v", name, err)
		}
	}
	session.Cancel() // Nothing to cancel, and nothing to crash on.
	queue.Cancel(1)
	queue.Wake()
	orphan.Cancel(1)
}

// A session and its forks go on without their engine and without each other.
func TestAnyOrderOfClose(t *testing.T) {
	for order := 0; order < 6; order++ {
		engine := engineWith(t, nil)
		session := sessionOf(t, engine, nil)
		if _, err := session.Generate(background, "Once upon a time", nil); err != nil {
			t.Fatal(err)
		}
		child, err := session.Fork()
		if err != nil {
			t.Fatal(err)
		}
		want := drawn(t, session, 4)
		closers := []func() error{engine.Close, session.Close, child.Close}
		first, rest := order%3, []int{(order + 1) % 3, (order + 2) % 3}
		if order >= 3 {
			rest[0], rest[1] = rest[1], rest[0]
		}
		closers[first]()
		if first != 2 && !same(drawn(t, child, 4), want) {
			t.Errorf("order %d: the child draws other tokens", order)
		}
		if first == 0 { // The engine's tokenizer is there for its sessions.
			if _, err := session.Generate(background, "Then", nil); err != nil {
				t.Error(err)
			}
		}
		for _, i := range rest {
			closers[i]()
		}
	}
}

// Many goroutines close what others use: each call works or says that the object is closed.
func TestConcurrentClose(t *testing.T) {
	for round := 0; round < 10; round++ {
		engine := engineWith(t, func(o *LoadOptions) { o.MaxSessions = 16 })
		session := sessionOf(t, engine, &SessionOptions{Flags: SessionIgnoreEndOfGeneration})
		prefill(t, session, 1)
		var all sync.WaitGroup
		start := make(chan struct{})
		run := func(call func() error, ends func(error) bool) {
			all.Add(1)
			go func() {
				defer all.Done()
				<-start
				for i := 0; i < 200; i++ {
					err := call()
					if errors.Is(err, ErrClosed) {
						return
					}
					if err != nil && !ends(err) {
						t.Error(err)
						return
					}
				}
			}()
		}
		never := func(error) bool { return false }
		run(func() error { _, err := session.Step(); return err },
			func(err error) bool { return errors.Is(err, StatusInvalidState) })
		run(func() error { _, err := session.Info(); return err }, never)
		run(func() error { session.Cancel(); return nil }, never)
		run(func() error { _, err := engine.Stats(); return err }, never)
		run(func() error { _, err := engine.Tokenize("Once", 0); return err }, never)
		run(func() error {
			s, err := engine.NewSession(nil)
			if err == nil {
				s.Close()
			}
			return err
		}, never)
		for i := 0; i < 4; i++ {
			all.Add(1)
			go func(i int) {
				defer all.Done()
				<-start
				time.Sleep(time.Duration(round) * 200 * time.Microsecond)
				if i%2 == 0 {
					session.Close()
					_, err := session.Step()
					wantClosed(t, err)
				}
				engine.Close()
				_, err := engine.Stats()
				wantClosed(t, err)
			}(i)
		}
		close(start)
		all.Wait()
	}
}

func residentBytes(t *testing.T) int {
	text, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		t.Skip("no /proc/self/statm: ", err)
	}
	pages, _ := strconv.Atoi(strings.Fields(string(text))[1])
	return pages * os.Getpagesize()
}

// 10,000 sessions are made and dropped, half of them never closed. The collector frees those: no leak and no crash.
func TestGarbageCollection(t *testing.T) {
	engine := engineWith(t, func(o *LoadOptions) { o.MaxSessions = 64 })
	tokens, err := engine.Tokenize("Once upon a time", 0)
	if err != nil {
		t.Fatal(err)
	}
	atFirst, waited := 0, 0
	for i := 0; i < 10000; i++ {
		session, err := engine.NewSession(&SessionOptions{Stop: []string{"never"}, Sampler: Sampler{Seed: uint64(i)}})
		for ; errors.Is(err, StatusSessionLimit) && waited < 100000; waited++ {
			runtime.GC() // The sessions that were dropped are in the way.
			time.Sleep(100 * time.Microsecond)
			session, err = engine.NewSession(nil)
		}
		if err != nil {
			t.Fatal(i, err)
		}
		if i%100 == 0 {
			prefill(t, session, tokens...)
			drawn(t, session, 1)
		}
		if i%2 == 0 {
			session.Close()
		}
		if i == 2000 {
			atFirst = residentBytes(t)
		}
	}
	if waited == 0 {
		t.Error("the limit of sessions was never met, so nothing was left to the collector")
	}
	if grown := residentBytes(t) - atFirst; grown > 32<<20 {
		t.Errorf("%d bytes more are resident after 8,000 sessions", grown)
	}
	stats := Stats{NSessions: 1}
	for deadline := time.Now().Add(20 * time.Second); stats.NSessions != 0 && time.Now().Before(deadline); {
		runtime.GC()
		time.Sleep(time.Millisecond)
		if stats, err = engine.Stats(); err != nil {
			t.Fatal(err)
		}
	}
	if stats.NSessions != 0 || stats.NKVBlocksUsed != 0 {
		t.Errorf("%d sessions and %d KV blocks are left", stats.NSessions, stats.NKVBlocksUsed)
	}
}

// Dropped engines, whose sessions are dropped with them or later.
func TestDroppedEngines(t *testing.T) {
	load := func() *Session {
		options := testOptions()
		engine, err := Load(background, testModel, &options)
		if err != nil {
			t.Fatal(err)
		}
		session, err := engine.NewSession(nil)
		if err != nil {
			t.Fatal(err)
		}
		return session
	}
	users := make(chan int64, 8) // what the engines' handles had when they became unreachable
	for i := 0; i < 8; i++ {
		session := load()
		shared := session.engine
		runtime.SetFinalizer(shared, func(s *sharedEngine) { users <- s.users.Load() })
		runtime.GC()
		prefill(t, session, 1, 2, 3)
	}
	for i, deadline := 0, time.After(20*time.Second); i < 8; {
		runtime.GC()
		select {
		case n := <-users:
			if i++; n != 0 {
				t.Errorf("an engine was left with %d users, so it was not freed", n)
			}
		case <-deadline:
			t.Fatalf("%d of 8 engines were freed", i)
		case <-time.After(time.Millisecond):
		}
	}
}

// Logits are the program's: they stay when session and engine are gone.
func TestLogitsOutliveTheSession(t *testing.T) {
	engine := engineWith(t, nil)
	session := sessionOf(t, engine, nil)
	prefill(t, session, 1, 2, 3)
	logits, err := session.Logits(nil)
	if err != nil {
		t.Fatal(err)
	}
	before := append([]float32(nil), logits...)
	drawn(t, session, 3)
	session.Close()
	engine.Close()
	runtime.GC()
	for i := range logits {
		if logits[i] != before[i] {
			t.Fatalf("logit %d is %g, it was %g", i, logits[i], before[i])
		}
	}
}
