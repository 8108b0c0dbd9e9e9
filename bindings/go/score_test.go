package inlay

import (
	"context"
	"errors"
	"math"
	"path/filepath"
	"reflect"
	"runtime"
	"strings"
	"testing"
	"time"
)

func tokensIn(t testing.TB, engine *Engine, text string) []int32 {
	t.Helper()
	tokens, err := engine.Tokenize(text, 0)
	if err != nil {
		t.Fatal(err)
	}
	return tokens
}

func scoresOf(t testing.TB, engine *Engine, options *ScoreOptions, texts ...[]int32) [][]TokenScore {
	t.Helper()
	scores, err := engine.Score(background, texts, options)
	if err != nil || len(scores) != len(texts) {
		t.Fatal(len(scores), err)
	}
	for i, text := range texts {
		if len(scores[i]) != len(text) {
			t.Fatalf("%d scores of %d tokens", len(scores[i]), len(text))
		}
	}
	return scores
}

// distribution has the natural logarithms of the probabilities of all tokens behind these ones.
func distribution(t testing.TB, engine *Engine, tokens []int32) []float64 {
	t.Helper()
	session := sessionOf(t, engine, nil)
	defer session.Close()
	prefill(t, session, tokens...)
	logits, err := session.Logits(nil)
	if err != nil {
		t.Fatal(err)
	}
	largest, sum := math.Inf(-1), 0.0
	for _, logit := range logits {
		largest = math.Max(largest, float64(logit))
	}
	for _, logit := range logits {
		sum += math.Exp(float64(logit) - largest)
	}
	all := make([]float64, len(logits))
	for i, logit := range logits {
		all[i] = float64(logit) - largest - math.Log(sum)
	}
	return all
}

func best(values []float64) (at int) {
	for i, value := range values {
		if value > values[at] {
			at = i
		}
	}
	return at
}

func above(values []float64, limit float64) (n int) {
	for _, value := range values {
		if value > limit {
			n++
		}
	}
	return n
}

func near(a float32, b float64) bool { return math.Abs(float64(a)-b) < 2e-3 }

func TestScoresAreWhatTheLogitsSay(t *testing.T) {
	engine := engineWith(t, nil)
	text := tokensIn(t, engine, "Once upon a time the zebra sang of bricks.")
	unlikely := 0
	for i, score := range scoresOf(t, engine, &ScoreOptions{Logprobs: 3}, text)[0] {
		if i == 0 {
			if !reflect.DeepEqual(score, TokenScore{Rank: -1}) {
				t.Errorf("a token that was given has %+v", score)
			}
			continue
		}
		all := distribution(t, engine, text[:i])
		own := all[text[i]]
		if !score.Scored || !near(score.Logprob, own) || score.Rank < above(all, own+4e-3) || score.Rank > above(all, own-4e-3) {
			t.Errorf("token %d: %+v, expected %g", i, score, own)
		}
		if len(score.Top) != 3 || score.Against != nil || !near(score.Top[0].Logprob, all[best(all)]) {
			t.Fatalf("token %d: %+v", i, score)
		}
		for place, top := range score.Top {
			if !near(top.Logprob, all[top.Token]) || place > 0 && top.Logprob > score.Top[place-1].Logprob {
				t.Errorf("token %d: %+v", i, score.Top)
			}
			if place == score.Rank && top != (TokenLogprob{Token: text[i], Logprob: score.Logprob}) {
				t.Errorf("token %d: %+v", i, score)
			}
		}
		if score.Rank > 0 {
			unlikely++
		}
	}
	if unlikely == 0 {
		t.Error("the text is what a greedy draw gives")
	}
}

func TestDrawnTokensHaveTheScoresOfTheirEvents(t *testing.T) {
	engine := engineWith(t, nil)
	text := tokensIn(t, engine, "Once upon a time")
	prompt := len(text)
	session := sessionOf(t, engine, &SessionOptions{Flags: endless})
	prefill(t, session, text...)
	var events []Event
	for i := 0; i < 12; i++ {
		event, err := session.Step()
		if err != nil {
			t.Fatal(err)
		}
		events, text = append(events, event), append(text, event.Token)
	}
	scores := scoresOf(t, engine, &ScoreOptions{Given: prompt, Logprobs: 1}, text)[0]
	for i, score := range scores {
		if i < prompt {
			if score.Scored || len(score.Top) != 0 {
				t.Errorf("token %d was given and has %+v", i, score)
			}
			continue
		}
		event := events[i-prompt]
		if !near(score.Logprob, float64(event.Logprob)) || !near(score.Top[0].Logprob, float64(event.Logprob)) ||
			(score.Rank == 0) != (score.Top[0].Token == event.Token) {
			t.Errorf("token %d: %+v, expected %g", i, score, event.Logprob)
		}
	}
	for _, score := range scoresOf(t, engine, &ScoreOptions{Given: math.MaxInt32}, text)[0] {
		if score.Scored {
			t.Errorf("all was given, and there is %+v", score)
		}
	}
}

func TestTextsAreScoredTogetherAsAlone(t *testing.T) {
	engine := engineWith(t, func(o *LoadOptions) { o.MaxSessions = 2 })
	a, b := tokensIn(t, engine, "The old fox said"), tokensIn(t, engine, "A queen lived in a castle by the sea.")
	texts := [][]int32{a, b, a[:1], b, a}
	var done, total uint64
	together := scoresOf(t, engine, &ScoreOptions{Progress: func(n, all uint64) { done, total = n, all }}, texts...)
	for i, text := range texts {
		for j, alone := range scoresOf(t, engine, nil, text)[0] {
			if together[i][j].Scored != alone.Scored || !near(together[i][j].Logprob, float64(alone.Logprob)) {
				t.Errorf("token %d of text %d: %+v, alone %+v", j, i, together[i][j], alone)
			}
		}
	}
	if want := uint64(2*len(a) + 2*len(b) - 4); done != want || total != want { // nothing runs behind a text's last token
		t.Errorf("%d of %d tokens are done, expected %d", done, total, want)
	}
	scoresOf(t, engine, nil)
	_, err := engine.Score(background, [][]int32{a, {}}, nil)
	if e := wantStatus(t, err, StatusInvalidArgument); !strings.Contains(e.Message, "texts[1]") {
		t.Error(e)
	}
}

func TestEnginesAreCompared(t *testing.T) {
	engine := engineWith(t, func(o *LoadOptions) { o.MaxSessions = 1 }) // that against itself takes no second one
	text := tokensIn(t, engine, "Once upon a time the zebra sang of bricks.")
	for _, scores := range scoresOf(t, engine, &ScoreOptions{Against: engine}, text, text) {
		for i, score := range scores {
			if i == 0 {
				if score.Against != nil {
					t.Errorf("a token that was given has %+v", *score.Against)
				}
				continue
			}
			if want := (TokenComparison{Logprob: score.Logprob, Rank: score.Rank, SameBest: true}); *score.Against != want {
				t.Errorf("token %d: %+v, expected %+v", i, *score.Against, want)
			}
		}
	}

	target := filepath.Join(t.TempDir(), "coarse.gguf")
	if err := Convert(background, testModel, target, ConvertQ40, nil); err != nil {
		t.Fatal(err)
	}
	options := testOptions()
	coarse, err := Load(background, target, &options)
	if err != nil {
		t.Fatal(err)
	}
	defer coarse.Close()
	for i, score := range scoresOf(t, coarse, &ScoreOptions{Against: engine}, text)[0] {
		if i == 0 {
			continue
		}
		p, q, divergence := distribution(t, engine, text[:i]), distribution(t, coarse, text[:i]), 0.0
		for token := range p {
			divergence += math.Exp(p[token]) * (p[token] - q[token])
		}
		other := score.Against
		if !near(other.Logprob, p[text[i]]) || !near(score.Logprob, q[text[i]]) || other.Divergence <= 0 ||
			!near(other.Divergence, divergence) || other.SameBest != (best(p) == best(q)) {
			t.Errorf("token %d: %+v against %+v, expected divergence %g", i, score, *other, divergence)
		}
	}
	coarse.Close()
	_, err = engine.Score(background, [][]int32{text}, &ScoreOptions{Against: coarse})
	wantClosed(t, err)
}

func TestContextEndsAScoring(t *testing.T) {
	engine := engineWith(t, func(o *LoadOptions) { o.MaxSessions, o.PrefillChunk = 1, 8 })
	long := make([]int32, 500)
	for i := range long {
		long[i] = int32(i + 1)
	}
	texts := [][]int32{long, long, long, long, long, long, long, long}
	prefilled := func() uint64 {
		stats, err := engine.Stats()
		if err != nil {
			t.Error(err)
		}
		return stats.NPrefillTokens
	}
	cancelDuringIt := func() (uint64, error) {
		ctx, cancel := context.WithCancel(background)
		before := prefilled()
		go func() {
			defer cancel()
			for prefilled() == before { // until a step was run
				runtime.Gosched()
			}
		}()
		_, err := engine.Score(ctx, texts, nil)
		return prefilled() - before, err
	}
	n, err := cancelDuringIt()
	for late := 0; err == nil && late < 20; late++ { // It was over when the goroutine that cancels had a processor.
		n, err = cancelDuringIt()
	}
	if wantStatus(t, err, StatusCancelled); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if n == 0 || n >= 8*499 {
		t.Errorf("%d tokens were run", n)
	}

	// Who waits for a session gets one when the scoring has ended.
	begun, ended := make(chan struct{}), make(chan error, 1)
	ctx, cancel := context.WithTimeout(background, time.Minute)
	defer cancel()
	before := prefilled()
	go func() {
		_, err := engine.Score(background, texts[:4], nil)
		ended <- err
	}()
	go func() {
		for prefilled() == before {
			runtime.Gosched()
		}
		close(begun)
	}()
	<-begun
	session, err := engine.WaitForSession(ctx, nil)
	if err != nil {
		t.Fatal(err)
	}
	session.Close()
	if err := <-ended; err != nil && !errors.Is(err, StatusSessionLimit) { // The waiting one may come between two texts.
		t.Error(err)
	}
}

func TestWrongScoreOptions(t *testing.T) {
	engine := engineWith(t, nil)
	for message, options := range map[string]*ScoreOptions{
		"Logprobs is 21, expected 0 to 20": {Logprobs: 21},
		"Logprobs is -1, expected 0 to 20": {Logprobs: -1},
		"Given is -1, ":                    {Given: -1},
	} {
		_, err := engine.Score(background, [][]int32{{1, 2}}, options)
		if e := wantStatus(t, err, StatusInvalidArgument); !strings.HasPrefix(e.Message, message) {
			t.Errorf("%s, expected %s", e.Message, message)
		}
	}
	var none *Engine
	_, err := none.Score(background, nil, nil)
	wantStatus(t, err, StatusInvalidArgument)
}
