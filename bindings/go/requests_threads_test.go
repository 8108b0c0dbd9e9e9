package inlay

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"inlay.dev/inlay/raw"
)

// Requests end with the engine's Close, also where sessions keep its memory, and waiters are told.
func TestEngineClosedWhileWaiting(t *testing.T) {
	for _, thread := range []bool{true, false} {
		for _, session := range []bool{true, false} {
			name := fmt.Sprintf("thread %v, session %v", thread, session)
			engine := engineWith(t, nil)
			queue, idle := queueOf(t, engine, nil), queueOf(t, engine, &QueueOptions{Wake: func() {}})
			if session {
				keeps := sessionOf(t, engine, nil)
				defer prefill(t, keeps, 1, 2)
			}
			if thread {
				giveThread(t, engine)
			}
			ids := []RequestID{submit(t, queue, Request{Text: "Once", Session: upTo(450)}), submit(t, queue, Request{Text: "Once", Session: upTo(450)})}
			if !thread { // A step is pending.
				for i := 0; i < 5; i++ {
					if _, err := engine.Run(background, RunOptions{Budget: time.Microsecond}); err != nil {
						t.Fatal(err)
					}
				}
			}
			waits := make(chan error, 1)
			go func() { waits <- idle.Wait(background) }()
			time.Sleep(3 * time.Millisecond)
			engine.Close()
			select {
			case err := <-waits:
				wantClosed(t, err)
			case <-time.After(time.Minute):
				t.Fatal(name + ": Wait goes on")
			}
			found := collect(t, queue, 2)
			for _, id := range ids {
				if got := found[id]; got == nil || got.end.Finish != FinishCancelled || len(got.tokens) == 450 {
					t.Errorf("%s: %+v", name, got)
				}
			}
			_, err := queue.Poll(nil)
			wantClosed(t, err)
			wantClosed(t, queue.Wait(background))
			_, err = queue.Submit(&Request{Text: "Once"})
			wantClosed(t, err)
			queue.Cancel(ids[0])
		}
	}
}

// A request that comes beside the engine's Close ends, too.
func TestSubmitBesideTheEnginesClose(t *testing.T) {
	engine := engineWith(t, nil)
	queue := queueOf(t, engine, nil)
	sessionOf(t, engine, nil) // The handle stays.
	engine.Close()
	var memory memoryInC
	defer memory.release()
	params, err := (&Request{Text: "Once"}).inC("submit", &memory)
	if err != nil {
		t.Fatal(err)
	}
	id, err := queue.shared.submit("submit", params, nil)
	if err != nil {
		t.Fatal(err)
	}
	if got := collect(t, queue, 1)[id]; got == nil || got.end.Finish != FinishCancelled {
		t.Errorf("%+v", got)
	}
	wantClosed(t, queue.Wait(background))
}

// An end may be polled before its Submit has returned.
func TestEndsThatComeEarly(t *testing.T) {
	s := &sharedQueue{engine: &sharedEngine{}, live: map[RequestID]*Session{}, submits: 2}
	s.engine.closed.Store(true)
	s.submitted(7, nil)
	s.ended(8)
	if s.isOver() || len(s.live) != 1 {
		t.Error(s.live, s.early)
	}
	s.submitted(8, nil)
	if s.isOver() || len(s.early) != 0 {
		t.Error(s.live, s.early)
	}
	s.ended(7)
	if !s.isOver() || len(s.early) != 0 {
		t.Error(s.live, s.early)
	}
}

// Goroutines submit, collect, cancel and close at random, while others close the engine: every accepted request that somebody
// collects for has one end, and no call does anything but its work or say that something is closed.
func TestRequestsOfManyGoroutines(t *testing.T) {
	for round := 0; round < 4; round++ {
		engine := engineWith(t, nil)
		giveThread(t, engine)
		shared := queueOf(t, engine, nil)
		var submitted, ended, cancelled atomic.Int64
		var submitters, collectors sync.WaitGroup
		for i := 0; i < 8; i++ {
			submitters.Add(1)
			go func(i int) {
				defer submitters.Done()
				for k := 0; k < 12; k++ {
					id, err := shared.Submit(&Request{Text: "Once upon", Session: upTo(3 + (i+k)%9), Priority: k % 8})
					if errors.Is(err, ErrClosed) {
						return
					}
					if err != nil {
						t.Error(err)
						return
					}
					submitted.Add(1)
					if k%4 == 0 {
						shared.Cancel(id)
					}
				}
			}(i)
		}
		for i := 0; i < 3; i++ {
			collectors.Add(1)
			go func() {
				defer collectors.Done()
				buffer := &EventBuffer{}
				for {
					events, err := shared.Next(background, buffer)
					if err != nil {
						if !errors.Is(err, ErrClosed) {
							t.Error(err)
						}
						return
					}
					for _, event := range events {
						if event.Kind == RequestEventEnd {
							ended.Add(1)
							if event.Finish == FinishCancelled {
								cancelled.Add(1)
							}
						}
					}
				}
			}()
		}
		for i := 0; i < 4; i++ { // queues that are closed with what they have
			submitters.Add(1)
			go func(i int) {
				defer submitters.Done()
				for k := 0; k < 6; k++ {
					queue, err := engine.NewQueue(&QueueOptions{Wake: func() {}})
					if err != nil {
						return
					}
					_, err = queue.Submit(&Request{Text: "Once upon", Session: upTo(50)})
					if err != nil && !errors.Is(err, ErrClosed) {
						t.Error(err)
					}
					ctx, cancel := context.WithTimeout(background, time.Duration(i)*time.Millisecond)
					queue.Wait(ctx)
					cancel()
					if i%2 == 0 {
						go queue.Close()
					}
					queue.Close()
				}
			}(i)
		}
		if round%2 == 0 {
			time.Sleep(time.Duration(round) * 10 * time.Millisecond)
			engine.Close()
		}
		submitters.Wait()
		engine.Close()
		collectors.Wait()
		if submitted.Load() != ended.Load() || round%2 == 1 && submitted.Load() != 96 {
			t.Errorf("round %d: %d were submitted, %d have ended", round, submitted.Load(), ended.Load())
		}
		shared.Close()
	}
}

// Sessions and requests beside one another come to what they come to alone.
func TestSessionsBesideRequests(t *testing.T) {
	engine := engineWith(t, nil)
	prompt := []int32{70, 71, 72}
	want := sessionsAnswer(t, engine, prompt, upTo(20))
	giveThread(t, engine)
	queue := queueOf(t, engine, nil)
	var sessions sync.WaitGroup
	for i := 0; i < 3; i++ {
		sessions.Add(1)
		go func() {
			defer sessions.Done()
			for k := 0; k < 5; k++ {
				session, err := engine.WaitForSession(background, nil)
				if err != nil {
					t.Error(err)
					return
				}
				session.SetMaxTokens(20)
				if generation, err := session.GenerateTokens(background, prompt, nil); err != nil {
					t.Error(err)
				} else if _, err := generation.Text(); err != nil {
					t.Error(err)
				}
				session.Close()
			}
		}()
	}
	for i := 0; i < 20; i++ {
		submit(t, queue, Request{Tokens: prompt, Session: upTo(20)})
	}
	for id, got := range collect(t, queue, 20) {
		if !same(got.tokens, want.tokens) || got.text != want.text {
			t.Errorf("%d: %v, expected %v", id, got.tokens, want.tokens)
		}
	}
	sessions.Wait()
}

// What nobody closes is found by the garbage collector, and no goroutine is left behind.
func TestQueuesAreFreed(t *testing.T) {
	engine := engineWith(t, nil)
	waitUntil := func(what string, done func() bool) {
		t.Helper()
		for deadline := time.Now().Add(time.Minute); !done(); {
			if time.Now().After(deadline) {
				t.Fatal(what)
			}
			runtime.GC()
			time.Sleep(time.Millisecond)
		}
	}
	queues := func() int {
		wakeUps.Lock()
		defer wakeUps.Unlock()
		return len(wakeUps.queues)
	}
	waitUntil("queues of other tests", func() bool { return queues() == 0 })
	goroutines := runtime.NumGoroutine()
	engine.Run(background, RunOptions{})
	kept := make([]*Queue, 5)
	for i := range kept {
		queue, err := engine.NewQueue(&QueueOptions{Wake: func() {}})
		if err != nil {
			t.Fatal(err)
		}
		submit(t, queue, Request{Text: "Once"})
		ctx, cancel := context.WithTimeout(background, time.Millisecond)
		wantStatus(t, queue.Wait(ctx), StatusCancelled)
		cancel()
		kept[i] = queue
	}
	runtime.GC()
	time.Sleep(time.Millisecond)
	if queues() != len(kept) {
		t.Errorf("%d queues", queues())
	}
	runtime.KeepAlive(kept)
	kept = nil
	waitUntil("the queues are not freed", func() bool { return queues() == 0 })
	waitUntil("goroutines are left", func() bool { return runtime.NumGoroutine() <= goroutines })
	if info, err := engine.Run(background, RunOptions{}); err != nil || info.NRequests != 0 {
		t.Errorf("%+v %v", info, err)
	}
}

// A queue keeps an engine that nobody closes from the garbage collector.
func TestAQueueKeepsItsEngine(t *testing.T) {
	queue := func() *Queue {
		options := testOptions()
		engine, err := Load(background, testModel, &options)
		if err != nil {
			t.Fatal(err)
		}
		giveThread(t, engine)
		return queueOf(t, engine, nil)
	}()
	for i := 0; i < 3; i++ {
		runtime.GC()
		time.Sleep(time.Millisecond)
	}
	id := submit(t, queue, Request{Text: "Once", Session: upTo(3)})
	if got := collect(t, queue, 1)[id]; len(got.tokens) != 3 {
		t.Errorf("%+v", got)
	}
	queue.Close()
}

// With the engine's thread all waits end, since nobody computes any more.
func TestWaitsEndWithTheThread(t *testing.T) {
	engine := engineWith(t, func(o *LoadOptions) { o.MaxSessions = 1 })
	sessionOf(t, engine, nil) // The request waits for its place.
	giveThread(t, engine)
	queue := queueOf(t, engine, nil)
	answer, err := engine.Ask(background, &Request{Text: "Once"})
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Close()
	ends := make(chan error, 3)
	go func() { ends <- queue.Wait(background) }()
	go func() { _, err := queue.Next(background, nil); ends <- err }()
	go func() { _, err := answer.Next(); ends <- err }()
	waiting := func(s *sharedQueue) int {
		s.mutex.Lock()
		defer s.mutex.Unlock()
		return s.waiting
	}
	for waiting(queue.shared)+waiting(answer.queue.shared) < 3 {
		time.Sleep(time.Millisecond)
	}
	time.Sleep(10 * time.Millisecond)
	if err := engine.SetThread(nil); err != nil {
		t.Fatal(err)
	}
	for i := 0; i < 3; i++ {
		select {
		case err := <-ends:
			wantStatus(t, err, StatusInvalidState)
		case <-time.After(time.Minute):
			t.Fatal("a wait goes on")
		}
	}
}

// Whoever sees that the device is lost tells all that wait, who ask the library then.
func TestWaitsAreToldOfALostDevice(t *testing.T) {
	queue := queueOf(t, engineWith(t, nil), nil)
	sees := func(what string, call func()) {
		t.Helper()
		told := queue.shared.news.wait()
		call()
		select {
		case <-told:
		default:
			t.Error(what + " tells nobody")
		}
	}
	sees("an error", func() { check("run", func(*raw.Error) Status { return StatusDeviceLost }) })
	buffer := NewEventBuffer(1, 1, 4)
	buffer.polled[0] = raw.RequestEvent{RequestID: 1, Kind: RequestEventEnd, FinishReason: FinishError, Status: StatusDeviceLost}
	buffer.n = 1
	other := &sharedQueue{engine: &sharedEngine{}}
	sees("a request's end", func() { other.take(buffer) })
}

// Wake ends all that wait, or else the next one, and nobody else.
func TestWakeEndsWaits(t *testing.T) {
	engine := engineWith(t, nil)
	run(t, engine, RunOptions{}) // From now on somebody computes.
	queue, other := queueOf(t, engine, nil), queueOf(t, engine, nil)
	short, cancel := context.WithTimeout(background, time.Minute)
	defer cancel()
	wantWoken := func(err error) {
		t.Helper()
		if !errors.Is(err, ErrWoken) {
			t.Fatal(err)
		}
	}
	for round := 0; round < 50; round++ {
		ended := make(chan error, 4)
		for i := 0; i < 2; i++ {
			go func() { ended <- queue.Wait(background) }()
			go func() { _, err := queue.Next(background, nil); ended <- err }()
		}
		for n := 0; n < 4; {
			queue.shared.mutex.Lock()
			n = queue.shared.waiting
			queue.shared.mutex.Unlock()
		}
		queue.Wake()
		for i := 0; i < 4; i++ {
			wantWoken(<-ended)
		}
	}
	if n := queue.shared.waiting; n != 0 {
		t.Errorf("%d still wait", n)
	}
	queue.Wake()
	queue.Wake()
	wantWoken(queue.Wait(short))
	tiny, cancelTiny := context.WithTimeout(background, 5*time.Millisecond)
	defer cancelTiny()
	if err := queue.Wait(tiny); !errors.Is(err, context.DeadlineExceeded) {
		t.Error("two Wakes were two:", err)
	}
	if err := other.Wait(tiny); !errors.Is(err, context.DeadlineExceeded) {
		t.Error("another queue's:", err)
	}
	queue.Wake()
	submit(t, queue, Request{Text: "Once", Session: upTo(3)})
	run(t, engine, RunOptions{})
	if err := queue.Wait(short); err != nil { // What is there already needs no wait.
		t.Error(err)
	}
	collect(t, queue, 1)
}
