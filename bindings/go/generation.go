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
}

// Generation is what a session writes until it finishes. One goroutine at a time may use it.
type Generation struct {
	session *Session
	ctx     context.Context
	end     error // what Next returns from now on
}

// Generate appends the prompt to the session and returns what the model writes after it. When the context ends, Generate
// or the next Next stops with an error that matches StatusCancelled and the context's error; the session can be used
// further.
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
	if options != nil && options.Sampler != nil {
		if err := s.SetSampler(*options.Sampler); err != nil {
			return nil, err
		}
	}
	if options != nil && options.Stop != nil {
		if err := s.SetStop(options.Stop...); err != nil {
			return nil, err
		}
	}
	if _, err := s.Prefill(ctx, tokens); err != nil {
		return nil, err
	}
	return s.Continue(ctx), nil
}

// Continue is what the session writes from where it stands, as after Prefill or Fork.
func (s *Session) Continue(ctx context.Context) *Generation {
	return &Generation{session: s, ctx: ctx}
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
	event, err := g.session.Step()
	switch {
	case err != nil:
		g.end = err
	case event.Finish != FinishNone:
		g.end = io.EOF
	}
	return event, err
}

// WriteTo writes the text to w piece by piece as it is drawn, until the generation has ended.
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
