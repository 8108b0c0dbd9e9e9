package inlay

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

func queueOf(t testing.TB, engine *Engine, options *QueueOptions) *Queue {
	t.Helper()
	queue, err := engine.NewQueue(options)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { queue.Close() })
	return queue
}

func giveThread(t testing.TB, engine *Engine) {
	t.Helper()
	if err := engine.SetThread(&ThreadOptions{}); err != nil {
		t.Fatal(err)
	}
}

func submit(t testing.TB, queue *Queue, request Request) RequestID {
	t.Helper()
	id, err := queue.Submit(&request)
	if err != nil || id == 0 {
		t.Fatal(id, err)
	}
	return id
}

// upTo draws n tokens.
func upTo(n int) SessionOptions {
	return SessionOptions{MaxTokens: n, Flags: SessionIgnoreEndOfGeneration}
}

// came is what a request has come to.
type came struct {
	tokens []int32
	text   string
	end    RequestEvent
	ends   int
}

type cameOf map[RequestID]*came

func (c cameOf) take(t testing.TB, events []RequestEvent) {
	for _, event := range events {
		own := c[event.Request]
		if own == nil {
			own = &came{}
			c[event.Request] = own
		}
		if own.ends > 0 {
			t.Errorf("an event behind the end: %+v", event)
		}
		switch event.Kind {
		case RequestEventTokens:
			for _, token := range event.Tokens {
				own.tokens = append(own.tokens, token.Token)
			}
			own.text += event.Text
		case RequestEventEnd:
			own.end = event
			own.ends++
		}
	}
}

// collect waits for n ends.
func collect(t testing.TB, queue *Queue, n int) cameOf {
	t.Helper()
	ctx, cancel := context.WithTimeout(background, time.Minute)
	defer cancel()
	found, buffer := cameOf{}, EventBuffer{}
	for ends := 0; ends < n; {
		events, err := queue.Next(ctx, &buffer)
		if err != nil {
			t.Fatal(err)
		}
		found.take(t, events)
		for _, event := range events {
			if event.Kind == RequestEventEnd {
				ends++
			}
		}
	}
	return found
}

// run computes all requests on this goroutine.
func run(t testing.TB, engine *Engine, options RunOptions) {
	t.Helper()
	for {
		info, err := engine.Run(background, options)
		if err != nil {
			t.Fatal(err)
		}
		if info.NRequests == 0 {
			return
		}
	}
}

// sessionsAnswer is what a session draws behind the prompt.
func sessionsAnswer(t testing.TB, engine *Engine, prompt []int32, options SessionOptions) *came {
	t.Helper()
	session, err := engine.NewSession(&options)
	if err != nil {
		t.Fatal(err)
	}
	defer session.Close()
	generation, err := session.GenerateTokens(background, prompt, nil)
	if err != nil {
		t.Fatal(err)
	}
	out := &came{}
	for {
		event, err := generation.Next()
		if err != nil {
			return out
		}
		if event.Token >= 0 {
			out.tokens = append(out.tokens, event.Token)
		}
		out.text += event.Text
		out.end.Finish = event.Finish
	}
}

const requestTemplate = "{% for m in messages %}[{{ m.role }}] {{ m.content }} {% endfor %}{% if add_generation_prompt %}>{% endif %}"

// requestsOfAllKinds are requests, and what a session has to be given for the same answer.
func requestsOfAllKinds(t testing.TB, engine *Engine) (requests []Request, prompts [][]int32) {
	t.Helper()
	messages := []ChatMessage{{"user", "Tell me of a <fox> & a hen."}}
	text, err := engine.Tokenize("The old fox", 0)
	if err != nil {
		t.Fatal(err)
	}
	chat, err := engine.MessagesTokens(messages, requestTemplate, ChatAddGenerationPrompt)
	if err != nil {
		t.Fatal(err)
	}
	written := &ChatOptions{Template: requestTemplate, Flags: ChatAddGenerationPrompt}
	drawn := SessionOptions{MaxTokens: 24, Stream: 3, Sampler: Sampler{Temperature: 0.8, Seed: 11, TopK: 50, Bias: []LogitBias{{5, -1}}}}
	stops := drawn
	stops.Stop, stops.Flags = []string{"e", "zzzz"}, SessionIgnoreEndOfGeneration
	first := sessionsAnswer(t, engine, text, drawn).tokens
	stopTokens := drawn
	stopTokens.StopTokens = []int32{first[len(first)/2]}
	return []Request{
			{Tokens: text, Session: drawn, User: 1},
			{Text: "The old fox", Session: upTo(30), User: 2},
			{Messages: messages, Chat: written, Session: drawn, User: 3},
			{Conversation: MessagesJSON(messages), Chat: written, Session: upTo(7), User: 4},
			{Text: "The old fox", Session: stops, User: 5},
			{Text: "The old fox", Session: stopTokens, User: 6, Priority: 7, Deadline: time.Second, Timeout: time.Hour},
		},
		[][]int32{text, text, chat, chat, text, text}
}

// What a request draws is what a session draws, whoever computes.
func TestRequestsDrawWhatSessionsDraw(t *testing.T) {
	engine := engineWith(t, nil)
	requests, prompts := requestsOfAllKinds(t, engine)
	want := make([]*came, len(requests))
	reasons := map[FinishReason]bool{}
	for i := range requests {
		want[i] = sessionsAnswer(t, engine, prompts[i], requests[i].Session)
		reasons[want[i].end.Finish] = true
	}
	if !reasons[FinishMaxTokens] || !reasons[FinishStopString] || !reasons[FinishStopToken] {
		t.Errorf("the cases end with %v", reasons)
	}
	for name, compute := range map[string]func(){
		"run":     func() { run(t, engine, RunOptions{}) },
		"host":    func() { run(t, engine, RunOptions{HostBudget: 200 * time.Microsecond, Flags: RunNoWait}) },
		"budget":  func() { run(t, engine, RunOptions{Budget: 200 * time.Microsecond, MaxStep: time.Millisecond}) },
		"steps":   func() { run(t, engine, RunOptions{Flags: RunOneStep}) },
		"context": func() { ctx, cancel := context.WithCancel(background); defer cancel(); engine.Run(ctx, RunOptions{}) },
		"thread":  func() { giveThread(t, engine) },
		"share": func() {
			if err := engine.SetThread(&ThreadOptions{Busy: time.Millisecond, Period: 2 * time.Millisecond}); err != nil {
				t.Error(err)
			}
		},
	} {
		queue := queueOf(t, engine, nil)
		ids := map[RequestID]int{}
		for i, request := range requests {
			ids[submit(t, queue, request)] = i
		}
		compute()
		found := collect(t, queue, len(requests))
		for id, i := range ids {
			got := found[id]
			if !same(got.tokens, want[i].tokens) || got.text != want[i].text || got.end.Finish != want[i].end.Finish || got.ends != 1 {
				t.Errorf("%s, request %d: %v %q %v, expected %v %q %v", name, i, got.tokens, got.text, got.end.Finish, want[i].tokens,
					want[i].text, want[i].end.Finish)
			}
			if end := got.end; end.User != uint64(i+1) || end.PromptTokens != len(prompts[i]) || end.GeneratedTokens != len(got.tokens) ||
				end.Err() != nil || end.Status != StatusOK || end.PromptTime < 0 || end.QueuedTime < 0 || end.DecodeTime < 0 {
				t.Errorf("%s, request %d ends with %+v", name, i, end)
			}
		}
		if err := engine.SetThread(nil); err != nil {
			t.Error(err)
		}
		queue.Close()
	}
}

// A buffer of any size gives the same events, in more parts.
func TestSmallEventBuffers(t *testing.T) {
	engine := engineWith(t, nil)
	giveThread(t, engine)
	var want string
	for i, buffer := range []*EventBuffer{nil, {}, NewEventBuffer(0, 0, 0), NewEventBuffer(3, 2, 5)} {
		queue := queueOf(t, engine, nil)
		id := submit(t, queue, Request{Text: "Once upon a time", Session: upTo(40)})
		own := cameOf{}
		sequence := uint64(0)
		for own[id] == nil || own[id].ends == 0 {
			events, err := queue.Next(background, buffer)
			if err != nil || len(events) == 0 {
				t.Fatal(len(events), err)
			}
			for _, event := range events {
				if sequence++; event.Number != sequence {
					t.Errorf("event %d has the number %d", sequence, event.Number)
				}
			}
			own.take(t, events)
		}
		got := fmt.Sprint(own[id].tokens, own[id].text)
		if i == 0 {
			want = got
		}
		if got != want || len(own[id].tokens) != 40 {
			t.Errorf("buffer %d: %s, expected %s", i, got, want)
		}
		if events, err := queue.Poll(buffer); err != nil || len(events) != 0 {
			t.Error(events, err)
		}
		queue.Close()
	}
}

// Greedy tokens are the likeliest ones, whatever room there is.
func TestTheLikeliestTokensComeAlong(t *testing.T) {
	engine := engineWith(t, nil)
	giveThread(t, engine)
	session := upTo(12)
	session.Sampler.Logprobs = 3
	check := func(event RequestEvent) int {
		for i, token := range event.Tokens {
			top := event.Likeliest(i)
			if len(top) != 3 || top[0] != token || top[1].Logprob > top[0].Logprob || top[2].Logprob > top[1].Logprob {
				t.Errorf("token %v among %v", token, top)
			}
		}
		if event.Likeliest(len(event.Tokens)) != nil || event.Likeliest(-1) != nil {
			t.Error("likeliest tokens of none")
		}
		return len(event.Tokens)
	}
	for _, buffer := range []*EventBuffer{{}, NewEventBuffer(0, 0, 0)} {
		queue := queueOf(t, engine, nil)
		submit(t, queue, Request{Text: "Once upon a time", Session: session})
		for n, ended := 0, false; !ended; {
			events, err := queue.Next(background, buffer)
			if err != nil {
				t.Fatal(err)
			}
			for _, event := range events {
				n += check(event)
				ended = event.Kind == RequestEventEnd
			}
			if ended && n != 12 {
				t.Errorf("%d tokens", n)
			}
		}
		queue.Close()
	}
	answer, err := engine.Ask(background, &Request{Text: "Once upon a time", Session: session})
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Close()
	n := 0
	for event, err := answer.Next(); err == nil; event, err = answer.Next() {
		n += check(event)
	}
	if n != 12 {
		t.Errorf("%d tokens of an answer", n)
	}
}

// A poll takes no memory but what the call through cgo does, and one for texts.
func TestPollUsesItsBufferAgain(t *testing.T) {
	engine := engineWith(t, nil)
	queue, buffer := queueOf(t, engine, nil), &EventBuffer{}
	submit(t, queue, Request{Text: "Once", Session: upTo(400)})
	run := func() {
		if _, err := engine.Run(background, RunOptions{Flags: RunOneStep}); err != nil {
			t.Fatal(err)
		}
	}
	n := testing.AllocsPerRun(100, run)
	if with := testing.AllocsPerRun(100, func() { run(); queue.Poll(buffer) }); with > n+2 {
		t.Errorf("%v allocations", with-n)
	}
}

func TestCancelARequest(t *testing.T) {
	engine := engineWith(t, nil)
	queue, other := queueOf(t, engine, nil), queueOf(t, engine, nil)
	id := submit(t, queue, Request{Text: "Once", Session: upTo(200)})
	waiting := submit(t, queue, Request{Text: "Once", Session: upTo(200)})
	queue.Cancel(waiting)
	for i := 0; i < 3; i++ {
		if info, err := engine.Run(background, RunOptions{Flags: RunOneStep}); err != nil || info.NTokens != 1 || info.NRequests != 1 || !info.HasWork {
			t.Fatalf("%+v %v", info, err)
		}
	}
	other.Cancel(id) // It is not its own.
	queue.Cancel(id + 1000)
	if info, err := engine.Run(background, RunOptions{Flags: RunOneStep}); err != nil || info.NTokens != 1 {
		t.Fatalf("%+v %v", info, err)
	}
	queue.Cancel(id)
	queue.Cancel(id)
	found := collect(t, queue, 2)
	if got := found[id]; len(got.tokens) != 4 || got.end.Finish != FinishCancelled || got.end.GeneratedTokens != 4 {
		t.Errorf("%+v", got)
	}
	if got := found[waiting]; len(got.tokens) != 0 || got.end.Finish != FinishCancelled {
		t.Errorf("%+v", got)
	}
	queue.Cancel(id) // It has ended.
	giveThread(t, engine)
	id = submit(t, queue, Request{Text: "Once", Session: upTo(400)})
	queue.Cancel(id)
	if got := collect(t, queue, 1)[id]; got.end.Finish != FinishCancelled {
		t.Errorf("%+v", got)
	}
}

func TestTimeoutOfARequest(t *testing.T) {
	engine := engineWith(t, nil)
	queue := queueOf(t, engine, nil)
	// Nobody computes, and a poll ends it.
	id := submit(t, queue, Request{Text: "Once", Timeout: time.Nanosecond})
	lives := submit(t, queue, Request{Text: "Once", Timeout: time.Hour, Session: upTo(2)})
	time.Sleep(time.Millisecond)
	events, err := queue.Poll(nil)
	if err != nil || len(events) != 1 || events[0].Request != id || events[0].Finish != FinishTimeout || events[0].Err() != nil {
		t.Fatalf("%+v %v", events, err)
	}
	giveThread(t, engine)
	cut := submit(t, queue, Request{Text: "Once", Timeout: 30 * time.Millisecond, Session: upTo(100000)})
	found := collect(t, queue, 2)
	if got := found[lives]; got.end.Finish != FinishMaxTokens {
		t.Errorf("%+v", got.end)
	}
	// A fast machine may come to the context's end before.
	if got := found[cut].end.Finish; got != FinishTimeout && got != FinishContextFull {
		t.Error(got)
	}
}

func TestQueueFull(t *testing.T) {
	engine := engineWith(t, nil)
	queue := queueOf(t, engine, &QueueOptions{MaxRequests: 2})
	request := Request{Text: "Once", Session: upTo(3)}
	first := submit(t, queue, request)
	submit(t, queue, request)
	id, err := queue.Submit(&request)
	if e := wantStatus(t, err, StatusQueueFull); id != 0 || e.Required != 3 || e.Available != 2 {
		t.Errorf("%d %+v", id, e)
	}
	submit(t, queueOf(t, engine, nil), request) // Another one has room of its own.
	queue.Cancel(first)
	_, err = queue.Submit(&request)
	wantStatus(t, err, StatusQueueFull) // Its end was not polled.
	if events, err := queue.Poll(nil); err != nil || len(events) != 1 {
		t.Fatal(events, err)
	}
	submit(t, queue, request)
	run(t, engine, RunOptions{})
	collect(t, queue, 2)
}

func TestPromptsThatDoNotFit(t *testing.T) {
	queue := queueOf(t, engineWith(t, nil), nil)
	id, err := queue.Submit(&Request{Tokens: make([]int32, 600)})
	if e := wantStatus(t, err, StatusContextFull); id != 0 || e.Required != 601 || e.Available != 512 {
		t.Errorf("%d %+v", id, e)
	}
	_, err = queue.Submit(&Request{Tokens: []int32{1 << 30}})
	wantStatus(t, err, StatusInvalidArgument)
	_, err = queue.Submit(&Request{Conversation: "[{", Chat: &ChatOptions{Template: requestTemplate}})
	wantStatus(t, err, StatusFormat)
	_, err = queue.Submit(&Request{Text: "x", Chat: &ChatOptions{}})
	if e := wantStatus(t, err, StatusInvalidArgument); e.Message != "Chat is set, and Conversation is not" {
		t.Error(e.Message)
	}
	_, err = queue.Submit(&Request{Text: "x", Session: SessionOptions{Flags: SessionReserve}})
	wantStatus(t, err, StatusInvalidArgument)
	_, err = queue.Submit(nil)
	wantStatus(t, err, StatusInvalidArgument)
	_, err = queue.Submit(&Request{Text: "x", Session: SessionOptions{MaxTokens: beyond}})
	wantStatus(t, err, StatusInvalidArgument)
}

// Among waiting requests the one of the highest priority begins, then the one whose deadline is the earliest.
func TestOrderOfRequests(t *testing.T) {
	engine := engineWith(t, func(o *LoadOptions) { o.MaxSessions = 1 })
	queue := queueOf(t, engine, nil)
	last := submit(t, queue, Request{Text: "Once", Session: upTo(2)})
	later := submit(t, queue, Request{Text: "Once", Session: upTo(2), Deadline: time.Hour})
	sooner := submit(t, queue, Request{Text: "Once", Session: upTo(2), Deadline: time.Minute})
	first := submit(t, queue, Request{Text: "Once", Session: upTo(2), Priority: 7})
	run(t, engine, RunOptions{})
	events, err := queue.Poll(nil)
	var order []RequestID
	for _, event := range events {
		if event.Kind == RequestEventEnd {
			order = append(order, event.Request)
		}
	}
	if fmt.Sprint(order) != fmt.Sprint([]RequestID{first, sooner, later, last}) || err != nil {
		t.Error(order, err)
	}
}

// A request that nobody polls rests, and holds no other up.
func TestUnreadTokens(t *testing.T) {
	engine := engineWith(t, nil)
	deaf, reads := queueOf(t, engine, &QueueOptions{MaxUnreadTokens: 3}), queueOf(t, engine, nil)
	id := submit(t, deaf, Request{Text: "Once", Session: upTo(20)})
	submit(t, reads, Request{Text: "Once", Session: upTo(20)})
	if info, err := engine.Run(background, RunOptions{}); err != nil || info.NRequests != 1 || info.HasWork {
		t.Fatalf("%+v %v", info, err)
	}
	collect(t, reads, 1)
	own := cameOf{}
	for own[id] == nil || own[id].ends == 0 {
		events, err := deaf.Poll(nil)
		if err != nil || len(events) == 0 || len(events[0].Tokens) > 3 {
			t.Fatal(events, err)
		}
		own.take(t, events)
		if _, err := engine.Run(background, RunOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	if len(own[id].tokens) != 20 {
		t.Error(own[id].tokens)
	}
}

func TestRequestsShareTheirPrompts(t *testing.T) {
	for _, flags := range []LoadFlags{0, LoadNoPrefixCache} {
		engine := engineWith(t, func(o *LoadOptions) { o.Flags = flags })
		queue := queueOf(t, engine, nil)
		prompt := make([]int32, 200)
		for i := range prompt {
			prompt[i] = int32(60 + i%20)
		}
		var ends []RequestEvent
		for i := 0; i < 2; i++ {
			id := submit(t, queue, Request{Tokens: prompt, Session: upTo(2)})
			run(t, engine, RunOptions{})
			ends = append(ends, collect(t, queue, 1)[id].end)
		}
		if ends[0].CachedTokens != 0 || (ends[1].CachedTokens > 0) != (flags == 0) {
			t.Errorf("%v: %+v", flags, ends)
		}
	}
}

func TestBlocksGoToTheHostAndComeBack(t *testing.T) {
	plan, err := MemoryPlan(testModel, &LoadOptions{Context: 256, MaxSessions: 1})
	if err != nil || plan.PrefixCacheHostBytes != 0 {
		t.Fatal(plan, err)
	}
	block := plan.KVBytes / 8
	engine := engineWith(t, func(o *LoadOptions) {
		o.Context, o.MaxSessions, o.KVBudget, o.PrefixCacheHost = 256, 1, 4*block, 6*block
	})
	for stats, _ := engine.Stats(); stats.PrefixCacheHostBytesTaken < 6*block; stats, _ = engine.Stats() { // a thread takes it
		time.Sleep(time.Millisecond)
	}
	queue := queueOf(t, engine, nil)
	for i, token := range []int32{65, 66, 65} {
		prompt := make([]int32, 100)
		for k := range prompt {
			prompt[k] = token
		}
		id := submit(t, queue, Request{Tokens: prompt, Session: upTo(4)})
		run(t, engine, RunOptions{})
		if end := collect(t, queue, 1)[id].end; end.CachedTokens != []int{0, 0, 96}[i] {
			t.Errorf("%d: %+v", i, end)
		}
	}
	stats, err := engine.Stats()
	if err != nil || stats.NKVBlocksToHost != 6 || stats.NKVBlocksFromHost != 3 || stats.NKVBlocksOnHost != 3 || stats.NKVBlocksHostDropped != 0 {
		t.Errorf("%+v %v", stats, err)
	}
}

func TestWaitForEvents(t *testing.T) {
	engine := engineWith(t, nil)
	queue := queueOf(t, engine, nil)
	e := wantStatus(t, queue.Wait(background), StatusInvalidState)
	if errors.Is(e, ErrClosed) || !strings.Contains(e.Message, "Engine.SetThread") {
		t.Error(e)
	}
	if _, err := engine.Run(background, RunOptions{}); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(background, 5*time.Millisecond)
	defer cancel()
	if e := wantStatus(t, queue.Wait(ctx), StatusCancelled); !errors.Is(e, context.DeadlineExceeded) {
		t.Error(e)
	}
	submit(t, queue, Request{Text: "Once", Session: upTo(3)})
	var waiters sync.WaitGroup
	for i := 0; i < 4; i++ { // All of them are told.
		waiters.Add(1)
		go func() {
			defer waiters.Done()
			if err := queue.Wait(background); err != nil {
				t.Error(err)
			}
		}()
	}
	time.Sleep(5 * time.Millisecond)
	run(t, engine, RunOptions{})
	waiters.Wait()
	if err := queue.Wait(background); err != nil { // It stays so until all is polled.
		t.Error(err)
	}
	wantStatus(t, queue.Wait(ctx), StatusCancelled)
	collect(t, queue, 1)
	closed := make(chan error, 2)
	go func() { closed <- queue.Wait(background) }()
	go func() { _, err := queue.Next(background, nil); closed <- err }()
	time.Sleep(5 * time.Millisecond)
	queue.Close()
	for i := 0; i < 2; i++ {
		wantClosed(t, <-closed)
	}
}

func TestRunErrors(t *testing.T) {
	engine := engineWith(t, nil)
	ctx, cancel := context.WithCancel(background)
	cancel()
	_, err := engine.Run(ctx, RunOptions{})
	if e := wantStatus(t, err, StatusCancelled); !errors.Is(e, context.Canceled) {
		t.Error(e)
	}
	giveThread(t, engine)
	_, err = engine.Run(background, RunOptions{})
	wantStatus(t, err, StatusInvalidState)
	if err := engine.SetThread(nil); err != nil {
		t.Fatal(err)
	}
	// The context's end ends it behind a step.
	queue := queueOf(t, engine, &QueueOptions{MaxUnreadTokens: 1000})
	run(t, engine, RunOptions{}) // Waiting is refused before somebody has computed.
	id := submit(t, queue, Request{Text: "Once", Session: upTo(400)})
	ctx, cancel = context.WithCancel(background)
	go func() {
		if err := queue.Wait(background); err != nil {
			t.Error(err)
		}
		cancel()
	}()
	info, err := engine.Run(ctx, RunOptions{})
	if err == nil && info.NTokens < 400 || err != nil && (info.NRequests != 1 || info.NTokens < 1 || !errors.Is(err, context.Canceled)) {
		t.Errorf("%+v %v", info, err)
	}
	run(t, engine, RunOptions{})
	if got := collect(t, queue, 1)[id]; len(got.tokens) != 400 {
		t.Error(len(got.tokens))
	}
	// Of several goroutines one computes.
	var busy, fine atomic.Int64
	var all sync.WaitGroup
	for i := 0; i < 20; i++ {
		submit(t, queue, Request{Text: "Once", Session: upTo(50)})
	}
	for i := 0; i < 4; i++ {
		all.Add(1)
		go func() {
			defer all.Done()
			for k := 0; k < 50; k++ {
				switch _, err := engine.Run(background, RunOptions{Budget: 200 * time.Microsecond}); {
				case err == nil:
					fine.Add(1)
				case errors.Is(err, StatusBusy):
					busy.Add(1)
				default:
					t.Error(err)
				}
			}
		}()
	}
	all.Wait()
	if fine.Load() == 0 {
		t.Error("none has computed")
	}
	run(t, engine, RunOptions{})
	collect(t, queue, 20)
}

func TestWakeOfAQueue(t *testing.T) {
	engine := engineWith(t, nil)
	woken, told := make(chan struct{}, 1), make(chan struct{})
	var queue *Queue
	queue = queueOf(t, engine, &QueueOptions{Wake: func() {
		<-told // queue is set
		if events, err := queue.Poll(nil); err == nil && len(events) > 0 {
			select {
			case woken <- struct{}{}:
			default:
			}
		}
	}})
	close(told)
	for i := 0; i < 3; i++ {
		submit(t, queue, Request{Text: "Once", Session: upTo(1)})
		select {
		case <-woken:
			t.Fatal("it was woken though nothing was computed")
		case <-time.After(2 * time.Millisecond):
		}
		run(t, engine, RunOptions{})
		select {
		case <-woken:
		case <-time.After(time.Minute):
			t.Fatal("nobody was woken")
		}
		for drained := false; !drained; { // what came in two parts
			select {
			case <-woken:
			case <-time.After(20 * time.Millisecond):
				drained = true
			}
		}
	}
}

func TestErrorOfARequest(t *testing.T) {
	event := RequestEvent{Kind: RequestEventEnd, Finish: FinishError, Status: StatusKVFull, Message: "the pool is full"}
	if e := wantStatus(t, event.Err(), StatusKVFull); e.Message != "the pool is full" {
		t.Error(e)
	}
	for _, none := range []RequestEvent{{}, {Kind: RequestEventEnd, Finish: FinishTimeout}} {
		if none.Err() != nil {
			t.Error(none.Err())
		}
	}
}

func TestNoQueue(t *testing.T) {
	_, err := (*Engine)(nil).NewQueue(nil)
	wantStatus(t, err, StatusInvalidArgument)
	_, err = (*Engine)(nil).Run(background, RunOptions{})
	wantStatus(t, err, StatusInvalidArgument)
	wantStatus(t, (*Engine)(nil).SetThread(nil), StatusInvalidArgument)
	var queue *Queue
	_, err = queue.Submit(&Request{Text: "x"})
	wantStatus(t, err, StatusInvalidArgument)
	_, err = queue.Poll(nil)
	wantStatus(t, err, StatusInvalidArgument)
	wantStatus(t, queue.Wait(background), StatusInvalidArgument)
	queue.Cancel(1)
}
