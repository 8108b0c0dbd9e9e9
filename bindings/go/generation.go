package inlay

import (
	"context"
	"fmt"
	"io"
	"strings"
)

// GenerateOptions say how Generate treats the prompt, and change what the session goes on with. Zero is the default of
// every field.
type GenerateOptions struct {
	// Tokenize says how the prompt becomes tokens. Where the session has tokens already, TokenizeNoBOSEOS comes on top: a
	// sequence has one BOS, at its beginning.
	Tokenize TokenizeFlags
	// RepeatBOS lets a prompt begin with BOS also where the session has tokens already.
	RepeatBOS bool
	// Sampler, if it is not nil, becomes the session's.
	Sampler *Sampler
	// Stop, if it is not nil, becomes the session's stop texts.
	Stop []string
	// MaxTokens, if it is not 0, becomes the session's: see SetMaxTokens.
	MaxTokens int
	// Constraint, if it is not nil, becomes the session's: see SetConstraint.
	Constraint *Constraint
}

// Generation is what a session writes until it finishes. One goroutine at a time may use it. A session has one at a time:
// where another one is begun, the next call of the one before returns an error that matches StatusInvalidState. It may be
// left at any time; nothing of it goes on by itself. Generations of an engine that goroutines run at a time share their
// decode steps; one that is read slowly keeps no other one waiting.
type Generation struct {
	session *Session
	ctx     context.Context
	number  uint64 // among the session's generations
	prefill uint64 // of the session, behind which it writes
	finish  FinishReason
	end     error // what Next returns from now on
	chat    *Chat // that hears its events, if there is one
}

// Generate appends the prompt to the session and returns what the model writes after it. When the context ends, Generate
// or the next Next stops with an error that matches StatusCancelled and the context's error; the session can be used
// further. A prompt that does not fit is an error that matches StatusContextFull; the end of the context behind it is the
// end of the generation, with FinishContextFull in its last event.
func (s *Session) Generate(ctx context.Context, prompt string, options *GenerateOptions) (*Generation, error) {
	// One call, so that no other one comes between options, prompt and generation.
	if err := s.begin("generate"); err != nil {
		return nil, err
	}
	defer s.end()
	tokens, err := s.promptTokens(prompt, options)
	if err != nil {
		return nil, err
	}
	return s.generate(ctx, tokens, options)
}

// GenerateTokens is Generate with a prompt of token ids.
func (s *Session) GenerateTokens(ctx context.Context, tokens []int32, options *GenerateOptions) (*Generation, error) {
	if err := s.begin("generate"); err != nil {
		return nil, err
	}
	defer s.end()
	return s.generate(ctx, tokens, options)
}

// promptTokens are a prompt's tokens for the session as it stands.
func (s *Session) promptTokens(prompt string, options *GenerateOptions) ([]int32, error) {
	flags := TokenizeFlags(0)
	if options != nil {
		flags = options.Tokenize
	}
	info, err := s.info()
	if err != nil {
		return nil, err
	}
	if info.NTokens > 0 && (options == nil || !options.RepeatBOS) {
		flags |= TokenizeNoBOSEOS
	}
	return tokenize(s.engine.handle, prompt, flags)
}

func (s *Session) generate(ctx context.Context, tokens []int32, options *GenerateOptions) (*Generation, error) {
	n, err := s.applyAndPrefill(ctx, tokens, options)
	if err == nil {
		return s.Continue(ctx), nil
	}
	if n > 0 {
		s.latest.Add(1) // The prompt's part belongs to no generation.
	}
	return nil, err
}

func (s *Session) applyAndPrefill(ctx context.Context, tokens []int32, options *GenerateOptions) (int, error) {
	if options != nil {
		if err := s.apply(options); err != nil {
			return 0, err
		}
	}
	return s.prefillWith(ctx, tokens)
}

func (s *Session) apply(options *GenerateOptions) error {
	if options.Sampler != nil {
		if err := s.setSampler(*options.Sampler); err != nil {
			return err
		}
	}
	if options.Stop != nil {
		if err := s.setStop(options.Stop); err != nil {
			return err
		}
	}
	if options.MaxTokens != 0 {
		if err := s.setMaxTokens(options.MaxTokens); err != nil {
			return err
		}
	}
	if options.Constraint != nil {
		return s.setConstraint(options.Constraint, "")
	}
	return nil
}

// Continue is what the session writes from where it stands, as after Prefill or Fork.
func (s *Session) Continue(ctx context.Context) *Generation {
	s.cancels.Lock()
	defer s.cancels.Unlock()
	return &Generation{session: s, ctx: ctx, number: s.latest.Add(1), prefill: s.cancels.prefills}
}

// Cancel asks for the end of this generation, from any goroutine: its next event finishes with FinishCancelled. Where the
// session has gone on to another generation it does nothing.
func (g *Generation) Cancel() {
	s := g.session
	if s.join("cancel") != nil {
		return
	}
	s.cancels.Lock()
	if g.number == s.latest.Load() && g.prefill == s.cancels.prefills {
		s.cancels.asked = s.cancels.number
		s.request(s.cancels.number)
	}
	s.cancels.Unlock()
	s.leave()
}

// Finish is why the generation has ended; FinishNone before that, and where Next has returned an error.
func (g *Generation) Finish() FinishReason { return g.finish }

// Next draws a token. Text of the last event and its finish reason come with it; afterwards Next returns io.EOF. After
// an error it returns that error again.
func (g *Generation) Next() (Event, error) {
	if g.end == nil && g.ctx.Err() != nil {
		g.end = cancelled("generate", g.ctx)
	}
	if g.end != nil {
		return Event{}, g.end
	}
	event, err := g.step()
	if g.chat != nil && err == nil {
		g.chat.heard(g, &event)
	}
	switch {
	case err != nil:
		g.end = err
	case event.Finish != FinishNone:
		g.end, g.finish = io.EOF, event.Finish
	}
	return event, err
}

func (g *Generation) step() (Event, error) {
	const op = "generate"
	if err := g.session.begin(op); err != nil {
		return Event{}, err
	}
	defer g.session.end()
	if g.number != g.session.latest.Load() {
		return Event{}, fail(op, StatusInvalidState, "another generation has begun in the session")
	}
	return g.session.step()
}

// All gives the events until the generation has ended, and then the error, if it did not end with io.EOF. It is an
// iter.Seq2[Event, error]: from Go 1.23 on, for event, err := range generation.All() goes through them.
func (g *Generation) All() func(yield func(Event, error) bool) {
	return func(yield func(Event, error) bool) {
		for {
			event, err := g.Next()
			if err == io.EOF || !yield(event, err) || err != nil {
				return
			}
		}
	}
}

// Channel gives the events in a channel, which is closed when the generation has ended; Err then tells why. A goroutine runs
// the generation meanwhile and is its only user; who stops to read ends the generation's context, so that it ends, too.
func (g *Generation) Channel() <-chan Event {
	events := make(chan Event)
	go func() {
		defer close(events)
		for {
			event, err := g.Next()
			if err != nil {
				return
			}
			select {
			case events <- event:
			case <-g.ctx.Done():
				g.end = cancelled("generate", g.ctx)
				return
			}
		}
	}()
	return events
}

// Err is the error that Next has ended with, nil where it was io.EOF or has not come.
func (g *Generation) Err() error {
	if g.end == io.EOF {
		return nil
	}
	return g.end
}

// WriteTo writes the text to w piece by piece as it is drawn, until the generation has ended. Where it was cut short there
// is an error: of StatusCancelled if it was cancelled, of StatusContextFull if the context had no more room, of
// StatusInvalidState if no token that the constraint allows could follow. Finish tells of any end.
func (g *Generation) WriteTo(w io.Writer) (n int64, err error) {
	n, err = writeTexts(w, func() (string, error) {
		event, err := g.Next()
		return event.Text, err
	})
	if err == nil {
		err = cutShort("generate", g.finish)
	}
	return n, err
}

// writeTexts writes all that next gives, until it gives io.EOF.
func writeTexts(w io.Writer, next func() (string, error)) (n int64, err error) {
	for {
		text, err := next()
		if err == io.EOF {
			return n, nil
		}
		if err != nil {
			return n, err
		}
		written, err := io.WriteString(w, text)
		if written < 0 || written > len(text) {
			return n, fmt.Errorf("the writer says that it has written %d bytes of %d", written, len(text))
		}
		n += int64(written)
		if err == nil && written < len(text) {
			err = io.ErrShortWrite
		}
		if err != nil {
			return n, err
		}
	}
}

// cutShort is the error of a text that has not ended by itself.
func cutShort(op string, finish FinishReason) error {
	switch finish {
	case FinishCancelled:
		return fail(op, StatusCancelled, "the generation was cancelled")
	case FinishContextFull:
		return fail(op, StatusContextFull, "the context is full")
	case FinishDeadEnd:
		return fail(op, StatusInvalidState, "no token that the constraint allows could follow")
	case FinishTimeout:
		return &Error{Op: op, Status: StatusCancelled, Message: "the request's time was over", cause: context.DeadlineExceeded}
	}
	return nil
}

// Text is all text until the generation has ended; with an error as in WriteTo, what was drawn before it.
func (g *Generation) Text() (string, error) {
	var text strings.Builder
	_, err := g.WriteTo(&text)
	return text.String(), err
}
