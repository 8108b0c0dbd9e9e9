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
	"sync/atomic"
	"testing"
	"time"
	"unsafe"

	"inlay.dev/inlay/raw"
)

// Two goroutines, each with a session of its own, draw what they draw alone.
func TestSessionsOnGoroutinesOfTheirOwn(t *testing.T) {
	engine := engineWith(t, nil)
	draw := func(seed int) []int32 {
		session := sessionOf(t, engine, &SessionOptions{Sampler: Sampler{Temperature: 1, Seed: uint64(seed)}, Flags: SessionIgnoreEndOfGeneration})
		prefill(t, session, 1, 2, 3)
		return drawn(t, session, 100)
	}
	want := [][]int32{draw(1), draw(2)}
	got := make([][]int32, 2)
	var all sync.WaitGroup
	for i := range got {
		all.Add(1)
		go func(i int) {
			defer all.Done()
			got[i] = draw(i + 1)
		}(i)
	}
	all.Wait()
	if !same(got[0], want[0]) || !same(got[1], want[1]) || same(want[0], want[1]) {
		t.Error(got, want)
	}
}

// An error belongs to its call, on whatever thread its goroutine runs in between.
func TestErrorsStayWithTheirGoroutine(t *testing.T) {
	engine := engineWith(t, nil)
	var all sync.WaitGroup
	for i := 0; i < 8; i++ {
		all.Add(1)
		go func(i int) {
			defer all.Done()
			for round := 0; round < 500; round++ {
				key := fmt.Sprintf("no.such.key.%d.%d", i, round)
				_, err := engine.Meta(key)
				runtime.Gosched()
				var e *Error
				if !errors.As(err, &e) || e.Status != StatusNotFound || !strings.Contains(e.Message, key) {
					t.Errorf("%s: %v", key, err)
					return
				}
			}
		}(i)
	}
	all.Wait()
}

// A session goes from goroutine to goroutine, each locked to a thread of its own, one token each.
func TestSessionMovesBetweenThreads(t *testing.T) {
	engine := engineWith(t, nil)
	session := sessionOf(t, engine, nil)
	prefill(t, session, 1, 2, 3)
	want := drawn(t, session, 40)
	if err := session.Truncate(3); err != nil {
		t.Fatal(err)
	}
	const threads = 4
	var turns [threads]chan *Session
	for i := range turns {
		turns[i] = make(chan *Session)
	}
	got := make(chan int32)
	var all sync.WaitGroup
	for i := range turns {
		all.Add(1)
		go func(i int) {
			defer all.Done()
			runtime.LockOSThread() // Never unlocked: the thread ends with the goroutine.
			for session := range turns[i] {
				event, err := session.Step()
				if err != nil {
					t.Error(err)
				}
				got <- event.Token
			}
		}(i)
	}
	var tokens []int32
	for n := range want {
		turns[n%threads] <- session
		tokens = append(tokens, <-got)
	}
	for i := range turns {
		close(turns[i])
	}
	all.Wait()
	if !same(tokens, want) {
		t.Error(tokens, want)
	}
	drawn(t, session, 1) // The threads that used it are gone.
}

// A cancel from another goroutine is seen within one step.
func TestCancelWithinOneStep(t *testing.T) {
	engine := engineWith(t, nil)
	for round, late := 0, 0; round < 20; round++ {
		session := sessionOf(t, engine, &SessionOptions{Flags: SessionIgnoreEndOfGeneration})
		generation, err := session.Generate(background, "Once upon a time", nil)
		if err != nil {
			t.Fatal(err)
		}
		var count atomic.Int32
		atCancel := make(chan int32, 1)
		go func() {
			for count.Load() < int32(3+round) {
				runtime.Gosched()
			}
			session.Cancel()
			atCancel <- count.Load()
		}()
		var last Event
		for {
			event, err := generation.Next()
			if err == io.EOF {
				break
			}
			if err != nil {
				t.Fatal(err)
			}
			if last = event; event.Kind == EventToken {
				count.Add(1)
			}
		}
		if after := count.Load() - <-atCancel; after > 1 {
			t.Errorf("%d tokens were drawn after the cancel", after)
		}
		session.Close()
		if last.Finish == FinishContextFull && late < 20 {
			late++ // The goroutine that cancels had no processor for so long: once more.
			round--
			continue
		}
		if last.Finish != FinishCancelled || last.Kind != EventFinished || last.Token != -1 {
			t.Errorf("%+v", last)
		}
	}
}

// Close ends a long prefill of another goroutine and waits for it.
func TestCloseEndsACallUnderWay(t *testing.T) {
	engine := engineWith(t, func(o *LoadOptions) { o.PrefillChunk = 8 })
	cancelled := 0
	for round := 0; round < 30; round++ {
		session := sessionOf(t, engine, nil)
		started, ended := make(chan struct{}), make(chan error, 1)
		go func() {
			close(started)
			_, err := session.Prefill(background, make([]int32, 480))
			ended <- err
		}()
		<-started
		time.Sleep(time.Duration(round) * 200 * time.Microsecond)
		session.Close()
		select {
		case err := <-ended:
			switch {
			case errors.Is(err, ErrClosed), err == nil:
			case errors.Is(err, StatusCancelled):
				cancelled++
			default:
				t.Error(err)
			}
		case <-time.After(10 * time.Second):
			t.Fatal("the prefill goes on")
		}
	}
	if cancelled == 0 {
		t.Error("no prefill was under way")
	}
}

func TestCloseWaitsForACallUnderWay(t *testing.T) {
	session := sessionOf(t, engineWith(t, nil), nil)
	if err := session.begin("test"); err != nil {
		t.Fatal(err)
	}
	closed := make(chan struct{}, 2)
	for i := 0; i < 2; i++ { // The second Close waits for the first.
		go func() {
			session.Close()
			closed <- struct{}{}
		}()
	}
	select {
	case <-closed:
		t.Fatal("the session was closed while it was in use")
	case <-time.After(50 * time.Millisecond):
	}
	session.end()
	for i := 0; i < 2; i++ {
		select {
		case <-closed:
		case <-time.After(10 * time.Second):
			t.Fatal("Close goes on waiting")
		}
	}
}

// Everything at once on a few engines, for the race detector.
func TestManyGoroutines(t *testing.T) {
	const routines, rounds = 8, 4
	// Half of the sessions are left to the garbage collector, which may take none of them before the end.
	engine := engineWith(t, func(o *LoadOptions) { o.MaxSessions = routines * rounds })
	var all sync.WaitGroup
	for i := 0; i < routines; i++ {
		all.Add(1)
		go func(i int) {
			defer all.Done()
			for round := 0; round < rounds; round++ {
				ctx, cancel := context.WithTimeout(background, time.Duration(1+i*round)*time.Millisecond)
				session, err := engine.NewSession(&SessionOptions{MaxTokens: 30})
				if err != nil {
					t.Error(err)
					cancel()
					return
				}
				if generation, err := session.Generate(ctx, "Once upon", nil); err == nil {
					generation.Text()
				}
				engine.Stats()
				engine.Logs().Next()
				cancel()
				if i%2 == 0 {
					session.Close()
				}
				if i == 7 {
					runtime.GC()
				}
			}
		}(i)
	}
	all.Wait()
}

// The checks that this package relies on see what they are for.

func TestCgoCheckSeesAGoPointerToAGoPointer(t *testing.T) {
	if _, err := Version(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		caught := fmt.Sprint(recover()) // From Go 1.21 on the pointer is called unpinned.
		if !strings.Contains(caught, "Go pointer to Go pointer") && !strings.Contains(caught, "Go pointer to unpinned Go pointer") {
			t.Errorf("it was not refused: %v", caught)
		}
	}()
	raw.SessionSetStop(nil, &raw.Text{Data: bytesOf("stop"), Len: 4}, 1, new(raw.Error))
}

// With INLAY_TEST_CGO_CHECKS set it does what only the full check of cgo's pointers must report, and end the program.
func TestEveryCgoCheckSeesAGoPointerInCMemory(t *testing.T) {
	if os.Getenv("INLAY_TEST_CGO_CHECKS") == "" {
		t.Skip("not asked for by INLAY_TEST_CGO_CHECKS")
	}
	text := (*raw.Text)(raw.Calloc(unsafe.Sizeof(raw.Text{})))
	defer raw.Release(unsafe.Pointer(text))
	text.Data = bytesOf("stop")
}

// With INLAY_TEST_RACE set it does what the race detector must report.
func TestRaceDetectorSeesARace(t *testing.T) {
	if os.Getenv("INLAY_TEST_RACE") == "" {
		t.Skip("not asked for by INLAY_TEST_RACE")
	}
	var all sync.WaitGroup
	n := 0
	for i := 0; i < 2; i++ {
		all.Add(1)
		go func() {
			defer all.Done()
			for j := 0; j < 1000; j++ {
				n++
				runtime.Gosched()
			}
		}()
	}
	all.Wait()
}
