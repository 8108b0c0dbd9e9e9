package inlay

import (
	"context"
	"runtime"
	"sync"
	"sync/atomic"
	"unsafe"

	"inlay.dev/inlay/raw"
)

// QueueOptions say what a queue holds. Zero is the default of every field.
type QueueOptions struct {
	// MaxRequests is how many requests there may be that were submitted and whose ends were not polled, or whose vectors were not
	// taken, by default 1024: one more is an error that matches StatusQueueFull. Range: 0 to 1048576.
	MaxRequests int
	// MaxUnreadTokens is of how many tokens that nobody has polled a request rests until some are, by default 256. It loses
	// nothing, and holds no other up. Range: 0 to 1048576.
	MaxUnreadTokens int
	// Wake is called when there comes something to poll, on a goroutine of its own: it may call anything, and a call may be under
	// way still when Close returns. Where the queue is reachable from it, the queue must be closed: the garbage collector does
	// not find it then.
	Wake func()
}

// Queue is where a part of a program submits requests to an engine, which computes them together, and collects what becomes of
// them. Somebody has to compute: Engine.SetThread gives the engine a thread for that, or the program calls Engine.Run. An engine
// may have several queues; none sees what becomes of another's requests. All methods may be called from any goroutine.
type Queue struct {
	engine *Engine // so that the garbage collector closes it no sooner than the queue
	shared *sharedQueue
}

// sharedQueue is a queue's C handle with all that calls and the thread of wake-ups need of it.
type sharedQueue struct {
	engine *sharedEngine
	handle *raw.Queue
	wake   raw.Wake
	number uint64 // among the process's queues
	users  users
	once   sync.Once
	closed atomic.Bool
	gone   chan struct{} // closed with the queue
	news   changes       // there may be something to poll, or nothing may come any more
	calls  chan struct{} // for who calls QueueOptions.Wake

	mutex   sync.Mutex
	waiting int    // goroutines in waitFor that no Wake has ended
	wakes   uint64 // Wakes that ended some
	kept    bool   // a Wake is left to the next one that would wait
	// live are the requests that have not ended, as far as polls have told, with the sessions that they continue, so that the
	// garbage collector closes none of these. One whose end was polled before its Submit returned is in early meanwhile.
	live    map[RequestID]*Session
	early   map[RequestID]struct{}
	submits int // under way
}

// requests are the queues of an engine.
type requests struct {
	sync.Mutex
	queues map[*sharedQueue]struct{}
}

// NewQueue makes a queue of the engine. It outlives the engine's Close.
func (e *Engine) NewQueue(options *QueueOptions) (*Queue, error) {
	const op = "new queue"
	handle, err := e.join(op)
	if err != nil {
		return nil, err
	}
	defer e.leave()
	if options == nil {
		options = &QueueOptions{}
	}
	n := numbers{op: op}
	params := raw.QueueParams{StructSize: uint32(unsafe.Sizeof(raw.QueueParams{})), MaxRequests: n.int32("MaxRequests", options.MaxRequests),
		MaxUnreadTokens: n.int32("MaxUnreadTokens", options.MaxUnreadTokens)}
	if n.err != nil {
		return nil, n.err
	}
	s := &sharedQueue{engine: e.shared, gone: make(chan struct{}), news: newChanges(), live: map[RequestID]*Session{}}
	s.users.Store(1)
	wakeUps.add(s)
	s.wake.Attach(&params)
	var created *raw.Queue // C may not be given an address in memory with Go pointers.
	err = check(op, func(err *raw.Error) Status { return raw.QueueCreate(handle, &params, &created, err) })
	if err != nil {
		wakeUps.remove(s)
		return nil, err
	}
	s.handle = created
	e.shared.requests.add(s)
	q := &Queue{engine: e, shared: s}
	runtime.SetFinalizer(q, func(q *Queue) { go q.Close() })
	if options.Wake != nil {
		s.calls = make(chan struct{}, 1)
		go s.callWake(options.Wake)
		wakeUps.listen()
	}
	return q, nil
}

// Close cancels the queue's requests, of which nothing is told any more, and frees it. Calls that wait for it end with an error
// that matches ErrClosed.
func (q *Queue) Close() error {
	runtime.SetFinalizer(q, nil)
	q.shared.close()
	return nil
}

func (s *sharedQueue) close() {
	s.once.Do(func() {
		s.closed.Store(true)
		close(s.gone)
		s.engine.requests.remove(s)
		s.leave()
	})
}

// join makes the queue outlive a call, which must leave it afterwards.
func (q *Queue) join(op string) (*sharedQueue, error) {
	if q == nil {
		return nil, fail(op, StatusInvalidArgument, "the queue is nil")
	}
	if q.shared.closed.Load() || !q.shared.users.join() {
		return nil, closedError(op, "queue")
	}
	return q.shared, nil
}

func (q *Queue) leave() {
	q.shared.leave()
	runtime.KeepAlive(q)
}

func (s *sharedQueue) leave() {
	if s.users.leave() {
		raw.QueueFree(s.handle)
		wakeUps.remove(s)
		s.live = nil
	}
}

// Submit hands a request over. What can be wrong with it is refused here; a conversation or text becomes tokens in this call. The
// error matches StatusQueueFull where MaxRequests are there.
func (q *Queue) Submit(request *Request) (RequestID, error) {
	const op = "submit"
	s, err := q.join(op)
	if err != nil {
		return 0, err
	}
	defer q.leave()
	if request == nil {
		return 0, fail(op, StatusInvalidArgument, "the request is nil")
	}
	if s.engine.closed.Load() {
		return 0, closedError(op, "engine")
	}
	var memory memoryInC
	defer memory.release()
	if request.Continues != nil {
		if err := request.Continues.join(op); err != nil {
			return 0, err
		}
		defer request.Continues.leave()
	}
	params, err := request.inC(op, &memory)
	if err != nil {
		return 0, err
	}
	return s.submit(op, params, request.Continues)
}

func (s *sharedQueue) submit(op string, params *raw.Request, continues *Session) (RequestID, error) {
	s.mutex.Lock()
	s.submits++
	s.mutex.Unlock()
	var number uint64
	err := check(op, func(err *raw.Error) Status { return raw.Submit(s.handle, params, &number, err) })
	s.submitted(RequestID(number), continues)
	switch {
	case s.engine.closed.Load():
		if err == nil {
			raw.RequestCancel(s.handle, number, nil) // It came behind those that the engine's Close has cancelled.
		} else if statusOf(err) == StatusInvalidState {
			err = closedError(op, "engine")
		}
		s.news.tell()
	case s.closed.Load():
		err = closedError(op, "queue")
	}
	if err != nil {
		return 0, err
	}
	return RequestID(number), nil
}

// submitted notes how a Submit has ended: 0 is without a request.
func (s *sharedQueue) submitted(id RequestID, continues *Session) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	s.submits--
	if _, ended := s.early[id]; ended {
		delete(s.early, id)
	} else if id != 0 {
		s.live[id] = continues
	}
}

// ended notes that a request's end was polled.
func (s *sharedQueue) ended(id RequestID) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if _, known := s.live[id]; known {
		delete(s.live, id)
		return
	}
	if s.early == nil {
		s.early = map[RequestID]struct{}{}
	}
	s.early[id] = struct{}{}
}

// isOver tells if nothing can come any more: the engine is closed, and all was polled.
func (s *sharedQueue) isOver() bool {
	if !s.engine.closed.Load() {
		return false
	}
	s.mutex.Lock()
	defer s.mutex.Unlock()
	return s.submits == 0 && len(s.live) == 0
}

// Cancel ends a request: no token is added once this has returned. What waits to be polled still arrives, then its end, with
// FinishCancelled. It does nothing for one that has ended, or is of another queue.
func (q *Queue) Cancel(id RequestID) {
	s, err := q.join("cancel")
	if err != nil {
		return
	}
	defer q.leave()
	raw.RequestCancel(s.handle, uint64(id), nil)
}

// TakeValues moves the vector of a RequestEmbed that has ended with FinishEmbedded to the caller, once. Until then it stays, and the
// request counts among MaxRequests. The error matches StatusInvalidState where the request has not ended, and
// StatusNotFound where there is no vector of it, or it was taken.
func (q *Queue) TakeValues(id RequestID) ([]float32, error) {
	const op = "take values"
	s, err := q.join(op)
	if err != nil {
		return nil, err
	}
	defer q.leave()
	return readArray(op, 0, func(values *float32, room uintptr, n *uintptr, err *raw.Error) Status {
		return raw.RequestTakeValues(s.handle, uint64(id), values, room, n, err)
	})
}

// Wait waits until there is something to poll. When the context ends it returns an error that matches StatusCancelled and the
// context's error; when the queue is closed, or its engine and all was polled, one that matches ErrClosed; when Wake ends it, one
// that matches ErrWoken. Where nobody computes, because the engine has no thread and Run was never called, the error matches
// StatusInvalidState.
func (q *Queue) Wait(ctx context.Context) error {
	const op = "wait"
	s, err := q.join(op)
	if err != nil {
		return err
	}
	defer q.leave()
	return s.waitFor(ctx, op)
}

func (s *sharedQueue) waitFor(ctx context.Context, op string) error {
	wakeUps.listen()
	wakes := s.beginWait()
	defer s.endWait(wakes)
	for ctx.Err() == nil {
		changed := s.news.wait()
		var result raw.WaitResult
		// A time that is not 0 lets the call tell if somebody computes.
		err := check(op, func(err *raw.Error) Status { return raw.Wait(s.handle, 1, &result, err) })
		switch {
		case s.closed.Load():
			return closedError(op, "queue")
		case result == raw.WaitResultReady:
			return nil
		case s.isWoken(wakes, err == nil):
			return &Error{Op: op, Status: StatusCancelled, Message: "the queue was woken", cause: ErrWoken}
		case s.isOver():
			return closedError(op, "engine")
		case statusOf(err) == StatusInvalidState && !s.engine.closed.Load():
			return fail(op, StatusInvalidState, "nobody computes: Engine.SetThread gives the engine a thread, or another goroutine calls Engine.Run")
		case err != nil && statusOf(err) != StatusInvalidState:
			return err
		case result != raw.WaitResultTimeOver: // The library has ended its waits. The next call tells why.
			continue
		}
		select {
		case <-changed:
		case <-s.gone:
		case <-ctx.Done():
		}
	}
	return cancelled(op, ctx)
}

// Wake ends every Wait and Next that is under way, with an error that matches ErrWoken. Where none is, the next one that would wait
// ends so at once. There is no event.
func (q *Queue) Wake() {
	s, err := q.join("wake")
	if err != nil {
		return
	}
	defer q.leave()
	s.mutex.Lock()
	if s.waiting == 0 {
		s.kept = true
	} else {
		s.waiting = 0
		s.wakes++
	}
	s.mutex.Unlock()
	s.news.tell()
}

func (s *sharedQueue) beginWait() (wakes uint64) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	s.waiting++
	return s.wakes
}

func (s *sharedQueue) endWait(wakes uint64) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if s.wakes == wakes {
		s.waiting--
	}
}

// isWoken tells if there was a Wake for a wait. One that would wait takes what was left to it.
func (s *sharedQueue) isWoken(wakes uint64, wouldWait bool) bool {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if s.wakes != wakes {
		return true
	}
	kept := s.kept && wouldWait
	s.kept = s.kept && !kept
	return kept
}

// Handle is what a loop of the system can wait for, an eventfd on Linux: it is ready while there is something to poll, and Poll
// alone makes it unready. It belongs to the queue and is closed with it; do not read, write, set or close it.
func (q *Queue) Handle() (kind WaitKind, handle uintptr, err error) {
	const op = "queue handle"
	s, err := q.join(op)
	if err != nil {
		return 0, 0, err
	}
	defer q.leave()
	var number int64
	err = check(op, func(err *raw.Error) Status { return raw.QueueGetHandle(s.handle, &kind, &number, err) })
	return kind, uintptr(number), err
}

// callWake calls the program's function for each wake-up, or for several that came meanwhile.
func (s *sharedQueue) callWake(wake func()) {
	for {
		select {
		case <-s.calls:
			if !s.closed.Load() {
				wake()
			}
		case <-s.gone:
			return
		}
	}
}

// woken is called when something came to be polled.
func (s *sharedQueue) woken() {
	s.news.tell()
	select {
	case s.calls <- struct{}{}:
	default:
	}
}

func (r *requests) add(s *sharedQueue) {
	r.Lock()
	defer r.Unlock()
	if r.queues == nil {
		r.queues = map[*sharedQueue]struct{}{}
	}
	r.queues[s] = struct{}{}
}

func (r *requests) remove(s *sharedQueue) {
	r.Lock()
	delete(r.queues, s)
	r.Unlock()
}

// all are the queues that are not closed. Each is to be left.
func (r *requests) all() []*sharedQueue {
	r.Lock()
	defer r.Unlock()
	var all []*sharedQueue
	for s := range r.queues {
		if s.users.join() {
			all = append(all, s)
		}
	}
	return all
}

// endRequests cancels all requests when the engine is closed: the library does so only when its handle is freed, and sessions may
// need that for long.
func (e *sharedEngine) endRequests() {
	queues := e.requests.all()
	for _, s := range queues {
		s.mutex.Lock()
		for id := range s.live {
			raw.RequestCancel(s.handle, uint64(id), nil)
		}
		s.mutex.Unlock()
	}
	if len(queues) > 0 {
		e.finishStep()
	}
	for _, s := range queues {
		s.news.tell()
		s.leave()
	}
}
