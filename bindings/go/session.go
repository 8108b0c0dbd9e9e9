package inlay

import (
	"context"
	"runtime"
	"sync"
	"sync/atomic"
	"unsafe"

	"inlay.dev/inlay/raw"
)

// SessionOptions say how a session generates. Zero is the default of every field.
type SessionOptions struct {
	// Sampler says how tokens are drawn, by default greedily.
	Sampler Sampler
	// Stop are texts that end a generation; neither they nor anything behind them is part of the text. There are at most 64, each of
	// 1 to 1024 bytes.
	Stop []string
	// StopTokens are tokens that end a generation when drawn, at most 1024.
	StopTokens []int32
	// Stream tells sessions with one seed apart.
	Stream uint64
	// MaxTokens is how many tokens are drawn after each prefill; 0 is no limit but the context. Range: 0 or more.
	MaxTokens int
	// Flags change how the session generates.
	Flags SessionFlags
	// Constraint says what each generation may write, from its first drawn token on, by default anything. It is of the same engine,
	// and refused with SessionIgnoreEndOfGeneration, since it says where a text ends.
	Constraint *Constraint
}

// Session is one token sequence of an engine. It is used by one goroutine at a time: a call that finds it in use
// returns an error that matches StatusBusy. Only Cancel, Info and Close may be called beside another call.
type Session struct {
	engine *sharedEngine
	handle *raw.Session
	users  users      // the session's owner, and the calls that may run beside others
	inUse  sync.Mutex // held by the one call that may use the sequence
	once   sync.Once
	closed atomic.Bool
	single *batch // what Step needs, so that it allocates nothing
	// cancels is what Cancel needs.
	cancels cancels
	// latest counts the Generations, of which only the last may go on.
	latest atomic.Uint64
	// prompt and generated count the tokens of the generation under way; who holds inUse may use them.
	prompt, generated int
}

// NewSession makes an empty session. It outlives the engine's Close.
func (e *Engine) NewSession(options *SessionOptions) (*Session, error) {
	handle, err := e.join("new session")
	if err != nil {
		return nil, err
	}
	defer e.leave()
	if options == nil {
		options = &SessionOptions{}
	}
	var memory memoryInC
	defer memory.release()
	params, err := options.inC("new session", &memory)
	if err != nil {
		return nil, err
	}
	var created *raw.Session
	err = check("new session", func(err *raw.Error) Status { return raw.SessionCreate(handle, &params, &created, err) })
	if err != nil {
		return nil, err
	}
	session := newSession(e.shared, created)
	if len(options.StopTokens) > 0 {
		if err := session.SetStopTokens(options.StopTokens...); err != nil {
			session.Close()
			return nil, err
		}
	}
	return session, nil
}

// inC are the options in C's form, but for StopTokens.
func (o *SessionOptions) inC(op string, memory *memoryInC) (params raw.SessionParams, err error) {
	n := numbers{op: op}
	params = raw.SessionParams{StructSize: uint32(unsafe.Sizeof(raw.SessionParams{})), Flags: o.Flags, Stream: o.Stream,
		MaxTokens: n.int32("MaxTokens", o.MaxTokens)}
	if n.err != nil {
		return params, n.err
	}
	if params.Sampler, err = o.Sampler.inC(op); err != nil {
		return params, err
	}
	memory.keep(unsafe.Pointer(params.Sampler))
	if len(o.Stop) > 0 {
		params.Stops, params.NStops = textsInC(o.Stop), uintptr(len(o.Stop))
		memory.keep(unsafe.Pointer(params.Stops))
	}
	if o.Constraint != nil {
		if err := o.Constraint.join(op); err != nil {
			return params, err
		}
		memory.constraint, params.Constraint = o.Constraint, o.Constraint.handle
	}
	return params, nil
}

// newSession takes a handle over. The caller is a user of the engine, so that there is one.
func newSession(engine *sharedEngine, handle *raw.Session) *Session {
	engine.users.join()
	s := &Session{engine: engine, handle: handle, single: newBatch(1)}
	s.users.Store(1)
	runtime.SetFinalizer(s, func(s *Session) { go s.Close() })
	return s
}

// Close cancels a call under way, waits for it, and frees the session.
func (s *Session) Close() error {
	s.once.Do(func() {
		s.closed.Store(true)
		runtime.SetFinalizer(s, nil)
		raw.SessionCancel(s.handle)
		s.inUse.Lock() // Waits for the call. The mutex stays locked: nothing may use the handle any more.
		s.leave()
	})
	return nil
}

// join makes the session outlive a call that may run beside others, which must leave it afterwards.
func (s *Session) join(op string) error {
	if s == nil {
		return fail(op, StatusInvalidArgument, "the session is nil")
	}
	if s.closed.Load() || !s.users.join() {
		return closedError(op, "session")
	}
	return nil
}

func (s *Session) leave() {
	if s.users.leave() {
		raw.SessionFree(s.handle)
		s.engine.queue.freed.tell()
		s.engine.leave()
	}
	runtime.KeepAlive(s)
}

// begin makes this the one call that uses the session; end must follow.
func (s *Session) begin(op string) error {
	if s == nil {
		return fail(op, StatusInvalidArgument, "the session is nil")
	}
	if !s.inUse.TryLock() {
		if s.closed.Load() {
			return closedError(op, "session")
		}
		return fail(op, StatusBusy, "another goroutine uses the session")
	}
	if s.closed.Load() {
		s.inUse.Unlock()
		return closedError(op, "session")
	}
	return nil
}

func (s *Session) end() { s.inUse.Unlock() }

// Info tells where the session stands: as of the last finished step while another goroutine runs one.
func (s *Session) Info() (SessionInfo, error) {
	if err := s.join("session info"); err != nil {
		return SessionInfo{}, err
	}
	defer s.leave()
	info, err := s.info()
	return sessionInfoOf(&info), err
}

func (s *Session) info() (raw.SessionInfo, error) {
	info := raw.SessionInfo{StructSize: uint32(unsafe.Sizeof(raw.SessionInfo{}))}
	err := check("session info", func(err *raw.Error) Status { return raw.SessionGetInfo(s.handle, &info, err) })
	return info, err
}

// Prefill appends tokens and runs them. It begins a new generation: finish reason and MaxTokens start over, text that was not
// taken is dropped. When the context ends, it stops after the chunk under way with an error that matches StatusCancelled
// and the context's error. n says how many of the tokens the session has kept: all of them, or whole chunks. A context
// that ends when the last chunk has begun changes nothing any more.
func (s *Session) Prefill(ctx context.Context, tokens []int32) (n int, err error) {
	if err := s.begin("prefill"); err != nil {
		return 0, err
	}
	defer s.end()
	return s.prefillWith(ctx, tokens)
}

// PrefillText is Prefill with a text, which becomes tokens as in Generate.
func (s *Session) PrefillText(ctx context.Context, text string, options *GenerateOptions) (n int, err error) {
	if err := s.begin("prefill"); err != nil {
		return 0, err
	}
	defer s.end()
	tokens, err := s.promptTokens(text, options)
	if err != nil {
		return 0, err
	}
	return s.applyAndPrefill(ctx, tokens, options)
}

// Step draws one token. It is DecodeStep with one session. An event whose Finish is not FinishNone is the last one until the
// next prefill; a further Step returns an error that matches StatusInvalidState.
func (s *Session) Step() (Event, error) {
	if err := s.begin("decode step"); err != nil {
		return Event{}, err
	}
	defer s.end()
	return s.step()
}

func (s *Session) step() (Event, error) {
	s.forgetLate()
	s.single.handles[0] = s.handle
	err := s.single.run()
	if err != nil && s.single.events[0].Status == StatusOK {
		return Event{}, err
	}
	event, missing := s.single.event(0, s)
	if err == nil {
		err = missing
	}
	return event, err
}

// TakeText takes the text that the library still holds for the session. Steps made by this package leave none.
func (s *Session) TakeText() (string, error) {
	if err := s.begin("take text"); err != nil {
		return "", err
	}
	defer s.end()
	return takeText(s.handle, raw.EventTextBytes)
}

// Fork makes a second session with the same sequence, options and state. Keys and values are shared until one of the two
// writes. Give the child another seed if the two are to differ.
func (s *Session) Fork() (*Session, error) {
	if err := s.begin("fork"); err != nil {
		return nil, err
	}
	defer s.end()
	var child *raw.Session
	err := check("fork", func(err *raw.Error) Status { return raw.SessionFork(s.handle, &child, err) })
	if err != nil {
		return nil, err
	}
	fork := newSession(s.engine, child)
	fork.cancels.number = s.cancels.number
	fork.prompt, fork.generated = s.prompt, s.generated
	return fork, nil
}

// Truncate cuts the sequence back to its first n tokens. It begins a new generation: text that was not taken is dropped,
// finish reason and MaxTokens start over.
func (s *Session) Truncate(n int) error {
	if err := s.begin("truncate"); err != nil {
		return err
	}
	defer s.end()
	if n < 0 {
		return fail("truncate", StatusInvalidArgument, "n is %d", n)
	}
	s.cancels.Lock()
	defer s.cancels.Unlock()
	return s.truncate(n)
}

// Shift takes n tokens from first on out of the sequence, for texts that outgrow the context: what is behind them moves to the
// front and keeps what the model has computed for it, so that the next tokens are close to those of the shorter sequence, but
// not the same. A generation that FinishContextFull has ended can go on; where the last token goes, this is Truncate.
func (s *Session) Shift(first, n int) error {
	if err := s.begin("shift"); err != nil {
		return err
	}
	defer s.end()
	if first < 0 || n < 0 {
		return fail("shift", StatusInvalidArgument, "first is %d and n %d", first, n)
	}
	err := check("shift", func(err *raw.Error) Status {
		return raw.SessionShift(s.handle, uintptr(first), uintptr(n), err)
	})
	if err != nil {
		return err
	}
	info, err := s.info()
	s.generated = int(info.NGenerated)
	s.cancels.Lock()
	s.cancels.number = info.Generation // Where the last token went, another one has begun.
	s.cancels.Unlock()
	return err
}

// Accept appends tokens that the program chose, as if they had been drawn: they count toward MaxTokens, penalties see them, and
// their text comes with the next event or TakeText. One that would end the generation ends it; what comes behind it is not
// accepted. Accept returns how many the sequence has now. Nothing is run before the next step.
func (s *Session) Accept(tokens []int32) (int, error) {
	if err := s.begin("accept"); err != nil {
		return 0, err
	}
	defer s.end()
	var n uintptr
	err := check("accept", func(err *raw.Error) Status {
		return raw.SessionAccept(s.handle, tokensOf(tokens), uintptr(len(tokens)), &n, err)
	})
	s.generated += int(n)
	return int(n), err
}

// Tokens are those of the sequence from the first one on: of prompts, drawn and accepted ones.
func (s *Session) Tokens(first int) ([]int32, error) {
	const op = "tokens"
	if err := s.begin(op); err != nil {
		return nil, err
	}
	defer s.end()
	if first < 0 {
		return nil, fail(op, StatusInvalidArgument, "first is %d", first)
	}
	return readArray(op, 0, func(tokens *int32, room uintptr, n *uintptr, err *raw.Error) Status {
		return raw.SessionGetTokens(s.handle, uintptr(first), tokens, room, n, err)
	})
}

// SetSampler changes how the following tokens are drawn.
func (s *Session) SetSampler(sampler Sampler) error {
	if err := s.begin("set sampler"); err != nil {
		return err
	}
	defer s.end()
	return s.setSampler(sampler)
}

func (s *Session) setSampler(sampler Sampler) error {
	params, err := sampler.inC("set sampler")
	if err != nil {
		return err
	}
	defer raw.Release(unsafe.Pointer(params))
	return check("set sampler", func(err *raw.Error) Status { return raw.SessionSetSampler(s.handle, params, err) })
}

// SetStop sets the texts that end a generation. Text held back for the old ones stays held until the next step.
func (s *Session) SetStop(texts ...string) error {
	if err := s.begin("set stop"); err != nil {
		return err
	}
	defer s.end()
	return s.setStop(texts)
}

func (s *Session) setStop(texts []string) error {
	array := textsInC(texts)
	defer raw.Release(unsafe.Pointer(array))
	return check("set stop", func(err *raw.Error) Status {
		return raw.SessionSetStop(s.handle, array, uintptr(len(texts)), err)
	})
}

// SetStopTokens sets the tokens that end a generation when drawn, at most 1024.
func (s *Session) SetStopTokens(tokens ...int32) error {
	if err := s.begin("set stop tokens"); err != nil {
		return err
	}
	defer s.end()
	return check("set stop tokens", func(err *raw.Error) Status {
		return raw.SessionSetStopTokens(s.handle, tokensOf(tokens), uintptr(len(tokens)), err)
	})
}

// SetMaxTokens sets how many tokens may be drawn after a prefill before the session finishes; 0 is no limit but the context.
// It counts for the generation under way, too: one that has drawn as many already ends with its next token. With SessionReserve
// that generation also gets the KV blocks for a higher limit, or the limit stays and the error matches StatusKVFull.
func (s *Session) SetMaxTokens(n int) error {
	if err := s.begin("set max tokens"); err != nil {
		return err
	}
	defer s.end()
	return s.setMaxTokens(n)
}

func (s *Session) setMaxTokens(n int) error {
	numbers := numbers{op: "set max tokens"}
	most := numbers.int32("n", n)
	if numbers.err != nil {
		return numbers.err
	}
	return check("set max tokens", func(err *raw.Error) Status { return raw.SessionSetMaxTokens(s.handle, most, err) })
}

// Logits are those of the last position that was run: those that the last token was drawn from, or the next one will be.
// They are a copy, in the memory of into if that has room.
func (s *Session) Logits(into []float32) ([]float32, error) {
	if err := s.begin("logits"); err != nil {
		return nil, err
	}
	defer s.end()
	n := uintptr(cap(into))
	if n == 0 {
		err := check("logits", func(err *raw.Error) Status { return raw.SessionCopyLogits(s.handle, nil, 0, &n, err) })
		if err != nil {
			return nil, err
		}
	}
	for {
		if n > uintptr(cap(into)) {
			into = make([]float32, n)
		}
		into = into[:cap(into)]
		err := check("logits", func(err *raw.Error) Status {
			return raw.SessionCopyLogits(s.handle, &into[0], uintptr(len(into)), &n, err)
		})
		if err == nil {
			return into[:n], nil
		}
		if statusOf(err) != StatusBufferTooSmall || n <= uintptr(len(into)) {
			return nil, err
		}
	}
}
