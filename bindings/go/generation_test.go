package inlay

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"reflect"
	"strings"
	"testing"
	"time"
	"unicode/utf8"
)

func TestGenerationEndsWithEOF(t *testing.T) {
	engine := engineWith(t, nil)
	session := sessionOf(t, engine, &SessionOptions{MaxTokens: 12, Sampler: Sampler{Logprobs: 3}})
	generation, err := session.Generate(background, "Once upon a time", nil)
	if err != nil {
		t.Fatal(err)
	}
	var tokens []int32
	text := ""
	for i := 1; ; i++ {
		event, err := generation.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if event.Session != session || event.Kind != EventToken || len(event.Top) != 3 || event.Top[0].Token != event.Token ||
			event.Top[0].Logprob != event.Logprob || event.Logprob > 0 || event.Top[1].Logprob > event.Logprob {
			t.Errorf("%+v", event)
		}
		if want := map[bool]FinishReason{true: FinishMaxTokens}[i == 12]; event.Finish != want {
			t.Errorf("event %d finishes with %s", i, event.Finish)
		}
		tokens, text = append(tokens, event.Token), text+event.Text
	}
	if _, err := generation.Next(); err != io.EOF {
		t.Error(err)
	}
	if written, err := engine.Detokenize(tokens, 0); err != nil || written != text || len(tokens) != 12 {
		t.Errorf("%q is not %q: %v", text, written, err)
	}
	info, err := session.Info()
	if err != nil || info.FinishReason != FinishMaxTokens || info.NGenerated != 12 {
		t.Errorf("%+v %v", info, err)
	}
	// The same prompt in another session, through a writer.
	again, err := sessionOf(t, engine, &SessionOptions{MaxTokens: 12}).Generate(background, "Once upon a time", nil)
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if n, err := again.WriteTo(&out); err != nil || int(n) != len(text) || out.String() != text {
		t.Error(n, err, out.String())
	}
}

func TestStopAndSampler(t *testing.T) {
	engine := engineWith(t, nil)
	write := func(options *SessionOptions, generate *GenerateOptions) string {
		generation, err := sessionOf(t, engine, options).Generate(background, "Once upon a time", generate)
		if err != nil {
			t.Fatal(err)
		}
		text, err := generation.Text()
		if err != nil {
			t.Fatal(err)
		}
		return text
	}
	whole := write(&SessionOptions{MaxTokens: 24}, nil)
	stop := whole[len(whole)/2 : len(whole)/2+3]
	want := whole[:strings.Index(whole, stop)]
	if got := write(&SessionOptions{MaxTokens: 24, Stop: []string{"qqq", stop}}, nil); got != want {
		t.Errorf("%q, expected %q", got, want)
	}
	if got := write(&SessionOptions{MaxTokens: 24}, &GenerateOptions{Stop: []string{stop}}); got != want {
		t.Errorf("%q, expected %q", got, want)
	}
	hot := Sampler{Temperature: 1.2, Seed: 3, TopK: 40, TopP: 0.95, MinP: 0.01, RepetitionPenalty: 1.1}
	a, b := write(&SessionOptions{MaxTokens: 24, Sampler: hot}, nil), write(&SessionOptions{MaxTokens: 24}, &GenerateOptions{Sampler: &hot})
	other := hot
	other.Seed = 4
	if c := write(&SessionOptions{MaxTokens: 24, Sampler: other}, nil); a != b || a == whole || a == c {
		t.Errorf("%q, %q, %q, %q", whole, a, b, c)
	}
	// A bias that leaves the draw no choice, and one that bans what would be drawn.
	session := sessionOf(t, engine, &SessionOptions{Sampler: Sampler{Bias: []LogitBias{{Token: 9, Bias: 1e6}, {Token: 7, Bias: -1}}}})
	prefill(t, session, 1, 2)
	if tokens := drawn(t, session, 3); !same(tokens, []int32{9, 9, 9}) {
		t.Error(tokens)
	}
	if err := session.SetSampler(Sampler{Bias: []LogitBias{{Token: 9, Bias: float32(math.Inf(-1))}}}); err != nil {
		t.Error(err)
	}
	if tokens := drawn(t, session, 1); tokens[0] == 9 {
		t.Error("a banned token was drawn")
	}
}

func TestDryBreaksRepetitionsButForItsBreakers(t *testing.T) {
	engine := engineWith(t, nil)
	tokens, err := engine.Tokenize("fox", TokenizeNoBOSEOS)
	if err != nil {
		t.Fatal(err)
	}
	fox := tokens[0]
	all := []int32{fox, fox, fox, fox, fox, fox, fox, fox}
	for name, c := range map[string]struct {
		sampler Sampler
		repeats bool
	}{
		"plain":             {Sampler{}, true},
		"DRY":               {Sampler{DryMultiplier: 100}, false},
		"a breaker":         {Sampler{DryMultiplier: 100, DryBreakers: []string{"never", "f"}}, true},
		"no breaker":        {Sampler{DryMultiplier: 100, Flags: SamplerNoDryBreakers}, false},
		"a length":          {Sampler{DryMultiplier: 100, DryAllowedLength: 20}, true},
		"a window of a few": {Sampler{DryMultiplier: 100, DryWindow: 2}, true},
	} {
		c.sampler.Bias = []LogitBias{{Token: fox, Bias: 50}}
		session := sessionOf(t, engine, &SessionOptions{Sampler: c.sampler})
		prefill(t, session, 1, 2)
		if got := drawn(t, session, 8); same(got, all) != c.repeats {
			t.Errorf("%s: %v", name, got)
		}
	}
}

func TestStopTokens(t *testing.T) {
	engine := engineWith(t, nil)
	generation, err := sessionOf(t, engine, &SessionOptions{MaxTokens: 24}).Generate(background, "Once upon a time", nil)
	if err != nil {
		t.Fatal(err)
	}
	first, err := generation.Next()
	if err != nil {
		t.Fatal(err)
	}
	stopped := sessionOf(t, engine, &SessionOptions{MaxTokens: 24, StopTokens: []int32{first.Token}})
	if generation, err = stopped.Generate(background, "Once upon a time", nil); err != nil {
		t.Fatal(err)
	}
	if text, err := generation.Text(); err != nil || text != "" {
		t.Error(text, err)
	}
	if info, err := stopped.Info(); err != nil || info.FinishReason != FinishStopToken {
		t.Error(info, err)
	}
	_, err = engine.NewSession(&SessionOptions{StopTokens: []int32{-1}})
	wantStatus(t, err, StatusInvalidArgument)
}

func TestForkTruncateLogits(t *testing.T) {
	session := sessionOf(t, engineWith(t, nil), nil)
	prefill(t, session, 1, 2, 3)
	logits, err := session.Logits(nil)
	if err != nil {
		t.Fatal(err)
	}
	best := 0
	room := make([]float32, 0, len(logits))
	for _, into := range [][]float32{room, make([]float32, 3)} {
		if again, err := session.Logits(into); err != nil || !reflect.DeepEqual(again, logits) {
			t.Errorf("they differ from each other, or %v", err)
		}
	}
	if !reflect.DeepEqual(room[:len(logits)], logits) {
		t.Error("the room that there was has not been used")
	}
	for i := range logits {
		if logits[i] > logits[best] {
			best = i
		}
	}
	child, err := session.Fork()
	if err != nil {
		t.Fatal(err)
	}
	defer child.Close()
	a := drawn(t, session, 8)
	if b := drawn(t, child, 8); !same(a, b) || int(a[0]) != best {
		t.Error(a, b, best)
	}
	if err := session.Truncate(3); err != nil {
		t.Fatal(err)
	}
	if again := drawn(t, session, 8); !same(a, again) {
		t.Error(a, again)
	}
	wantStatus(t, session.Truncate(100), StatusInvalidArgument)
	before, _ := session.Info()
	if err := session.Shift(1, 5); err != nil {
		t.Fatal(err)
	}
	if after, err := session.Info(); err != nil || after.NTokens != before.NTokens-5 || after.NGenerated != before.NGenerated {
		t.Error(before, after, err)
	}
	drawn(t, session, 3)
	wantStatus(t, session.Shift(-1, 1), StatusInvalidArgument)
	wantStatus(t, session.Shift(0, 100), StatusInvalidArgument)
	if text, err := session.TakeText(); text != "" || err != nil {
		t.Error(text, err)
	}
}

// A long text that was held back for a stop string comes whole, though an event of the library carries 128 bytes.
func TestLongText(t *testing.T) {
	engine := engineWith(t, nil)
	letter, err := engine.Tokenize("ab", TokenizeNoBOSEOS)
	if err != nil {
		t.Fatal(err)
	}
	piece, _ := engine.Detokenize(letter[:1], 0)
	const n = 150
	session := sessionOf(t, engine, &SessionOptions{MaxTokens: n, Stop: []string{strings.Repeat(piece, n+1)},
		Sampler: Sampler{Bias: []LogitBias{{Token: letter[0], Bias: 1e6}}}})
	prefill(t, session, 1)
	var events []string
	for generation := session.Continue(background); ; {
		event, err := generation.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		events = append(events, event.Text)
	}
	if last := events[len(events)-1]; len(last) <= 128 || strings.Join(events, "") != strings.Repeat(piece, n) {
		t.Errorf("the last of %d events has %d bytes", len(events), len(last))
	}
}

// Events end between characters, whatever the tokens are.
func TestTextIsUTF8(t *testing.T) {
	engine := engineWith(t, nil)
	session := sessionOf(t, engine, nil)
	const text = "é🦊"
	tokens, err := engine.Tokenize(text, TokenizeNoBOSEOS)
	if err != nil || len(tokens) < 4 {
		t.Fatal(tokens, err)
	}
	prefill(t, session, 1)
	got := ""
	for _, token := range tokens {
		if err := session.SetSampler(Sampler{Bias: []LogitBias{{Token: token, Bias: 1e6}}}); err != nil {
			t.Fatal(err)
		}
		event, err := session.Step()
		if err != nil || event.Token != token || !utf8.ValidString(event.Text) {
			t.Fatalf("%+v %v", event, err)
		}
		got += event.Text
	}
	if got != text {
		t.Errorf("%q", got)
	}
}

func TestSlicesDrawWhatStepsDraw(t *testing.T) {
	engine := engineWith(t, nil)
	begin := func(first int32) *Session {
		session := sessionOf(t, engine, &SessionOptions{Flags: SessionIgnoreEndOfGeneration})
		prefill(t, session, first, 2, 3)
		return session
	}
	want := [][]int32{drawn(t, begin(1), 10), drawn(t, begin(7), 10)}
	sessions := []*Session{begin(1), begin(7)}
	got := make([][]int32, 2)
	pending := 0
	for len(got[0]) < 10 {
		events, left, err := DecodeSlice(sessions, 2, nil)
		if err != nil || (left > 0) != (events == nil) {
			t.Fatal(events, left, err)
		}
		if left > 0 {
			pending++
			continue
		}
		for i, event := range events {
			got[i] = append(got[i], event.Token)
		}
	}
	if !same(got[0], want[0]) || !same(got[1], want[1]) || same(got[0], got[1]) || pending < 2*9 {
		t.Error(got, want, pending)
	}
	// A pending step refuses, until it is dropped; then it never was.
	if _, left, err := DecodeSlice(sessions, 0, nil); err != nil || left <= int(engine.Info().NLayers) {
		t.Error(left, err)
	}
	_, err := sessions[0].Prefill(background, []int32{1})
	wantStatus(t, err, StatusInvalidState)
	_, err = sessions[0].Step()
	wantStatus(t, err, StatusInvalidState)
	wantStatus(t, DecodeAbandon(sessions[:1]), StatusInvalidState)
	for i := 0; i < 2; i++ {
		if err := DecodeAbandon(sessions); err != nil {
			t.Error(err)
		}
	}
	if next := drawn(t, sessions[0], 1); next[0] != drawn(t, begin(1), 11)[10] {
		t.Error(next)
	}
	_, _, err = DecodeSlice(sessions, -1, nil)
	wantStatus(t, err, StatusInvalidArgument)
	_, _, err = DecodeSlice(sessions, beyond, nil)
	wantStatus(t, err, StatusInvalidArgument)
	_, _, err = DecodeSlice(nil, 1, nil)
	wantStatus(t, err, StatusInvalidArgument)
	_, _, err = DecodeSlice([]*Session{sessions[0], sessions[0]}, 1, nil)
	wantStatus(t, err, StatusInvalidArgument)
	wantStatus(t, DecodeAbandon(nil), StatusInvalidArgument)
	// None of them is left in use.
	if _, err := DecodeStep(background, sessions, nil); err != nil {
		t.Error(err)
	}
}

func TestDecodeStepTogether(t *testing.T) {
	engine := engineWith(t, nil)
	var sessions []*Session
	var alone [][]int32
	for i := 0; i < 4; i++ {
		session := sessionOf(t, engine, &SessionOptions{Sampler: Sampler{Temperature: 0.9, Seed: uint64(i)}, Flags: SessionIgnoreEndOfGeneration})
		prefill(t, session, 1, 2, int32(3+i))
		child, err := session.Fork()
		if err != nil {
			t.Fatal(err)
		}
		sessions, alone = append(sessions, session), append(alone, drawn(t, child, 10))
		child.Close()
	}
	events := make([]Event, 0, 4)
	memory := &events[:1][0]
	for step := 0; step < 10; step++ {
		var err error
		if events, err = DecodeStep(background, sessions, events); err != nil || len(events) != 4 || &events[0] != memory {
			t.Fatal(events, err)
		}
		for i, event := range events {
			if event.Session != sessions[i] || event.Token != alone[i][step] {
				t.Errorf("step %d: %+v, expected token %d", step, event, alone[i][step])
			}
		}
	}
	// One that cannot advance says so; the others go on.
	empty := sessionOf(t, engine, nil)
	events, err := DecodeStep(background, []*Session{sessions[0], empty, sessions[1]}, events)
	wantStatus(t, err, StatusInvalidState)
	if len(events) != 3 || events[0].Status != StatusOK || events[1].Status != StatusInvalidState || events[2].Token < 0 {
		t.Errorf("%+v", events)
	}
	// Sessions of two engines are refused as a whole, and nothing happened to them.
	stranger := sessionOf(t, engineWith(t, nil), nil)
	prefill(t, stranger, 1)
	before, _ := sessions[0].Info()
	events, err = DecodeStep(background, []*Session{sessions[0], stranger}, nil)
	wantStatus(t, err, StatusInvalidArgument)
	if after, _ := sessions[0].Info(); len(events) != 0 || after != before {
		t.Errorf("%+v %+v", events, after)
	}
}

// Sessions that are closed, in use or at their end have events of their own, and the others go on.
func TestOneSessionDoesNotRefuseTheOthers(t *testing.T) {
	engine := engineWith(t, nil)
	var sessions []*Session
	for i := 0; i < 6; i++ {
		session := sessionOf(t, engine, &SessionOptions{Flags: SessionIgnoreEndOfGeneration})
		prefill(t, session, 1, 2)
		sessions = append(sessions, session)
	}
	sessions[4].Close()
	if err := sessions[1].begin("test"); err != nil {
		t.Fatal(err)
	}
	sessions[2].Cancel()
	if event, err := sessions[2].Step(); err != nil || event.Finish != FinishCancelled {
		t.Fatal(event, err)
	}
	want := []Status{StatusOK, StatusBusy, StatusInvalidState, StatusOK, StatusInvalidState, StatusOK}
	blame := func(order ...int) {
		t.Helper()
		var batch []*Session
		for _, i := range order {
			batch = append(batch, sessions[i])
		}
		events, err := DecodeStep(background, batch, nil)
		if len(events) != len(order) {
			t.Fatal(events, err)
		}
		first := -1
		for at, i := range order {
			event := events[at]
			if event.Session != sessions[i] || event.Status != want[i] || (event.Status == StatusOK) != (event.Token >= 0) {
				t.Errorf("event %d is %+v", at, event)
			}
			if first < 0 && event.Status != StatusOK {
				first = at
			}
		}
		if e := wantStatus(t, err, want[order[first]]); e.Index != first || e.Session != batch[first] ||
			!strings.Contains(e.Message, fmt.Sprintf("session %d: ", first)) {
			t.Errorf("%+v, expected session %d", e, first)
		}
	}
	blame(0, 1, 2, 3, 4, 5)
	blame(0, 3, 2, 4, 1)
	blame(5, 4, 2)
	blame(4, 1)
	_, err := DecodeStep(background, []*Session{sessions[0], sessions[4]}, nil)
	wantClosed(t, err)
	// What is no set of sessions is refused as a whole.
	before, _ := sessions[0].Info()
	for _, wrong := range [][]*Session{{sessions[0], sessions[0]}, {sessions[0], nil}} {
		events, err := DecodeStep(background, wrong, nil)
		if e := wantStatus(t, err, StatusInvalidArgument); events != nil || e.Index != 1 || e.Session != wrong[1] {
			t.Errorf("%+v %v", e, events)
		}
	}
	_, _, err = DecodeSlice([]*Session{sessions[0], sessions[4]}, 1, nil)
	var e *Error
	if wantClosed(t, err); !errors.As(err, &e) || e.Index != 1 {
		t.Error(err)
	}
	if after, _ := sessions[0].Info(); after != before {
		t.Errorf("%+v, before %+v", after, before)
	}
	ended, cancel := context.WithCancel(background)
	cancel()
	if _, err := DecodeStep(ended, sessions[:1], nil); !errors.Is(err, context.Canceled) || !errors.Is(err, StatusCancelled) {
		t.Error(err)
	}
	sessions[1].end()
	if _, err := DecodeStep(background, []*Session{sessions[0], sessions[1], sessions[3], sessions[5]}, nil); err != nil {
		t.Error(err) // None of them is left in use.
	}
}

func TestContextEndsAGeneration(t *testing.T) {
	session := sessionOf(t, engineWith(t, nil), nil)
	ctx, cancel := context.WithCancel(background)
	generation, err := session.Generate(ctx, "Once upon a time", nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := generation.Next(); err != nil {
		t.Fatal(err)
	}
	cancel()
	for i := 0; i < 2; i++ {
		_, err := generation.Next()
		if wantStatus(t, err, StatusCancelled); !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
	}
	_, err = session.Prefill(ctx, []int32{1})
	if wantStatus(t, err, StatusCancelled); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	drawn(t, session, 2) // The session is as it was.
	late, stop := context.WithTimeout(background, 0)
	defer stop()
	if _, err = session.Generate(late, "x", nil); !errors.Is(err, context.DeadlineExceeded) {
		t.Error(err)
	}
}

// A context that ends during a prefill stops it after a chunk; one that ends just after it leaves no request behind that
// a later prefill would see.
func TestContextEndsAPrefill(t *testing.T) {
	const chunk = 8
	session := sessionOf(t, engineWith(t, func(o *LoadOptions) { o.PrefillChunk = chunk }), nil)
	tokens := make([]int32, 480)
	prefill(t, session, tokens...) // The first one may take longer.
	if err := session.Truncate(0); err != nil {
		t.Fatal(err)
	}
	whole := time.Now()
	prefill(t, session, tokens...)
	takes := time.Since(whole)
	partial := 0
	for i := 0; i < 60; i++ {
		if err := session.Truncate(0); err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(background, takes*time.Duration(i)/50)
		n, err := session.Prefill(ctx, tokens)
		cancel()
		if err != nil {
			if wantStatus(t, err, StatusCancelled); !errors.Is(err, context.DeadlineExceeded) || n%chunk != 0 {
				t.Fatal(n, err)
			}
			if n > 0 {
				partial++
			}
		} else if n != len(tokens) {
			t.Fatal(n)
		}
		if info, err := session.Info(); err != nil || int(info.NTokens) != n {
			t.Fatal(info, n, err)
		}
		prefill(t, session, 1)
	}
	if partial == 0 {
		t.Error("no prefill was stopped on its way")
	}
}
