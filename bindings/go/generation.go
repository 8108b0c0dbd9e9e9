package inlay

import (
	"context"
	"io"
	"strings"
)

// GenerateOptions say how Generate treats the prompt, and change what the session goes on with. Zero is the default of
// every field.
type GenerateOptions struct {
	// Tokenize says how the prompt becomes tokens. Turns after a session's first want TokenizeNoBOSEOS.
	Tokenize TokenizeFlags
	// Sampler, if it is not nil, becomes the session's.
	Sampler *Sampler
	// Stop, if it is not nil, becomes the session's stop texts.
	Stop []string
	// MaxTokens, if it is not 0, becomes the session's: see SetMaxTokens.
	MaxTokens int
}

// Generation is what a session writes until it finishes. One goroutine at a time may use it. A session has one at a time:
// where another one is begun, the next call of the one before returns an error that matches StatusInvalidState. It may be
// left at any time; nothing of it goes on by itself.
type Generation struct {
	session *Session
	ctx     context.Context
	turn    uint64
	end     error // what Next returns from now on
}

// Generate appends the prompt to the session and returns what the model writes after it. When the context ends, Generate
// or the next Next stops with an error that matches StatusCancelled and the context's error; the session can be used
// further. A prompt that does not fit is an error that matches StatusContextFull; the end of the context behind it is the
// end of the generation, with FinishContextFull in its last event.
func (s *Session) Generate(ctx context.Context, prompt string, options *GenerateOptions) (*Generation, error) {
	if options == nil {
		options = &GenerateOptions{}
	}
	if err := s.join("generate"); err != nil {
		return nil, err
	}
	tokens, err := tokenize(s.engine.handle, prompt, options.Tokenize)
	s.leave()
	if err != nil {
		return nil, err
	}
	return s.GenerateTokens(ctx, tokens, options)
}

// GenerateTokens is Generate with a prompt of token ids.
func (s *Session) GenerateTokens(ctx context.Context, tokens []int32, options *GenerateOptions) (*Generation, error) {
	// One call, so that no other one comes between options, prompt and generation.
	if err := s.begin("generate"); err != nil {
		return nil, err
	}
	defer s.end()
	if options != nil {
		if err := s.apply(options); err != nil {
			return nil, err
		}
	}
	n, err := s.prefillWith(ctx, tokens)
	if err == nil {
		return s.Continue(ctx), nil
	}
	if n > 0 {
		s.turn.Add(1) // The prompt's part belongs to no generation.
	}
	return nil, err
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
		return s.setMaxTokens(options.MaxTokens)
	}
	return nil
}

// Continue is what the session writes from where it stands, as after Prefill or Fork.
func (s *Session) Continue(ctx context.Context) *Generation {
	return &Generation{session: s, ctx: ctx, turn: s.turn.Add(1)}
}

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
	switch {
	case err != nil:
		g.end = err
	case event.Finish != FinishNone:
		g.end = io.EOF
	}
	return event, err
}

func (g *Generation) step() (Event, error) {
	const op = "generate"
	if err := g.session.begin(op); err != nil {
		return Event{}, err
	}
	defer g.session.end()
	if g.turn != g.session.turn.Load() {
		return Event{}, fail(op, StatusInvalidState, "another generation has begun in the session")
	}
	return g.session.step()
}

// WriteTo writes the text to w piece by piece as it is drawn, until the generation has ended. Session.Info then tells why.
func (g *Generation) WriteTo(w io.Writer) (n int64, err error) {
	for {
		event, err := g.Next()
		if err == io.EOF {
			return n, nil
		}
		if err != nil {
			return n, err
		}
		written, err := io.WriteString(w, event.Text)
		n += int64(written)
		if err != nil {
			return n, err
		}
	}
}

// Text is all text until the generation has ended; with an error, what was drawn before it.
func (g *Generation) Text() (string, error) {
	var text strings.Builder
	_, err := g.WriteTo(&text)
	return text.String(), err
}
