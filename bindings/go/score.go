package inlay

import (
	"context"
	"errors"
	"math"
	"unsafe"

	"inlay.dev/inlay/raw"
)

// ScoreOptions say what Score tells of texts. Zero is the default of every field.
type ScoreOptions struct {
	// Given is how many tokens at the beginning of each text are context and have no scores, by default 1, which has nothing
	// before it. Range: 0 or more.
	Given int
	// Logprobs is how many of the likeliest tokens are reported beside each token. Range: 0 to 20.
	Logprobs int
	// Against is another engine of the same vocabulary, whose distributions count as exact: both run, and are compared.
	Against *Engine
	// Progress is told a few times a second how many tokens were run, and how many there are, and once at the end. It is
	// called on another goroutine, which the call waits for; a panic there ends the call and goes on from it.
	Progress func(done, total uint64)
}

// TokenScore is how likely a token of a text is, given those before it.
type TokenScore struct {
	// Scored is false for the tokens at the beginning that were given, of which the rest says nothing.
	Scored bool `json:"scored"`
	// Logprob is the natural logarithm of the token's probability under the model.
	Logprob float32 `json:"logprob"`
	// Rank counts the tokens that are likelier, or as likely with a lower id: at 0 a greedy draw takes this one. -1 for tokens
	// that were given.
	Rank int `json:"rank"`
	// Against is what the other engine says, nil where there is none.
	Against *TokenComparison `json:"against,omitempty"`
	// Top are the likeliest tokens in its place, the likeliest first, as many as ScoreOptions.Logprobs asks for.
	Top []TokenLogprob `json:"top,omitempty"`
}

// TokenComparison is what another engine says of a token of a text, and how far the engines' distributions are apart there.
type TokenComparison struct {
	// Logprob and Rank are those of the other engine.
	Logprob float32 `json:"logprob"`
	Rank    int     `json:"rank"`
	// Divergence is the Kullback-Leibler divergence of this engine's distribution from the other one's, which counts as exact,
	// in nats.
	Divergence float32 `json:"divergence"`
	// SameBest tells if the likeliest token of both engines is the same.
	SameBest bool `json:"same_best"`
}

func tokenScoreOf(c *raw.TokenScore, top []raw.TokenLogprob) TokenScore {
	score := TokenScore{Rank: -1}
	if c.Rank >= 0 {
		score.Scored, score.Logprob, score.Rank = true, c.Logprob, int(c.Rank)
	}
	if c.AgainstRank >= 0 {
		score.Against = &TokenComparison{Logprob: c.AgainstLogprob, Rank: int(c.AgainstRank), Divergence: c.Divergence,
			SameBest: c.SameBest == 1}
	}
	for _, t := range top {
		if t.Token >= 0 {
			score.Top = append(score.Top, TokenLogprob(t))
		}
	}
	return score
}

// Score tells how likely each token of texts is, given those before it: for perplexities, choices between answers, and what a
// quantization costs. Nothing is drawn. Each text runs in a session of its own, several at once where sessions are free. When
// the context ends, the call ends behind the step under way, with an error that matches StatusCancelled and the context's error.
func (e *Engine) Score(ctx context.Context, texts [][]int32, options *ScoreOptions) ([][]TokenScore, error) {
	handle, err := e.join("score")
	if err != nil {
		return nil, err
	}
	defer e.leave()
	defer e.shared.queue.freed.tell() // The texts have had sessions.
	if options == nil {
		options = &ScoreOptions{}
	}
	var against *raw.Engine
	if other := options.Against; other != nil {
		if against, err = other.join("score"); err != nil {
			return nil, err
		}
		defer other.leave()
		defer other.shared.queue.freed.tell()
	}
	if ctx.Err() != nil {
		return nil, cancelled("score", ctx)
	}
	n := numbers{op: "score"}
	params := &raw.ScoreParams{StructSize: uint32(unsafe.Sizeof(raw.ScoreParams{})),
		NGiven:    n.within("Given", options.Given, 0, math.MaxInt32),
		NLogprobs: n.within("Logprobs", options.Logprobs, 0, raw.MaxLogprobs)}
	if n.err != nil {
		return nil, n.err
	}
	for i, text := range texts {
		if len(text) == 0 {
			return nil, fail("score", StatusInvalidArgument, "texts[%d] has no tokens", i)
		}
	}
	scores, top, err := score(ctx, handle, against, texts, params, options.Progress)
	if err != nil {
		return nil, err
	}
	each := make([][]TokenScore, len(texts))
	for i, text := range texts {
		each[i] = make([]TokenScore, len(text))
		for j := range each[i] {
			each[i][j] = tokenScoreOf(&scores[0], top[:options.Logprobs])
			scores, top = scores[1:], top[options.Logprobs:]
		}
	}
	return each, nil
}

// score gives a score for each token, and the likeliest tokens of each.
func score(ctx context.Context, handle, against *raw.Engine, texts [][]int32, params *raw.ScoreParams,
	progress func(done, total uint64)) ([]raw.TokenScore, []raw.TokenLogprob, error) {
	tokens, lengths := joined(texts)
	scores := make([]raw.TokenScore, len(tokens)+1) // One more, so that there is an address.
	top := make([]raw.TokenLogprob, len(tokens)*int(params.NLogprobs)+1)
	control := raw.NewControl()
	defer control.Free()
	control.AttachScore(params)
	var err error
	followed(ctx, control, progress, func() {
		err = check("score", func(err *raw.Error) Status {
			return raw.Score(handle, against, tokensOf(tokens), uintptr(len(tokens)), tokensOf(lengths), uintptr(len(lengths)),
				params, &scores[0], unsafe.Sizeof(scores[0]), &top[0], uintptr(len(top)), err)
		})
	})
	if errors.Is(err, StatusCancelled) && ctx.Err() != nil {
		err = withCause(err, ctx.Err())
	}
	return scores, top, err
}
