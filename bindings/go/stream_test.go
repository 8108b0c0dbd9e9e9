package inlay

import (
	"context"
	"errors"
	"testing"
)

func TestAllAndChannel(t *testing.T) {
	engine := engineWith(t, nil)
	generate := func(ctx context.Context) *Generation {
		t.Helper()
		session := sessionOf(t, engine, &SessionOptions{MaxTokens: 12, Flags: SessionIgnoreEndOfGeneration})
		generation, err := session.Generate(ctx, "Once upon a time", nil)
		if err != nil {
			t.Fatal(err)
		}
		return generation
	}
	want := ""
	for _, event := range eventsOf(t, generate(background), nil) {
		want += event.Text
	}
	text, n := "", 0
	all := generate(background)
	all.All()(func(event Event, err error) bool {
		if err != nil {
			t.Error(err)
		}
		text += event.Text
		n++
		return true
	})
	if text != want || n != 12 || all.Err() != nil || all.Finish() != FinishMaxTokens {
		t.Errorf("%q, expected %q; %d, %v", text, want, n, all.Err())
	}
	text = ""
	channel := generate(background)
	within(t, func() {
		for event := range channel.Channel() {
			text += event.Text
		}
	})
	if text != want || channel.Err() != nil || channel.Finish() != FinishMaxTokens {
		t.Errorf("%q, expected %q; %v", text, want, channel.Err())
	}
	// Who leaves early can go on; an error comes once, as the last.
	left, n := generate(background), 0
	left.All()(func(Event, error) bool { n++; return n < 3 })
	if rest := eventsOf(t, left, nil); n != 3 || len(rest) != 9 {
		t.Errorf("%d and %d events", n, len(rest))
	}
	ctx, stop := context.WithCancel(background)
	ended := generate(ctx)
	var errs []error
	ended.All()(func(event Event, err error) bool {
		stop()
		errs = append(errs, err)
		return true
	})
	if len(errs) != 2 || errs[0] != nil || !errors.Is(errs[1], context.Canceled) || ended.Err() != errs[1] {
		t.Error(errs)
	}
	// A channel that nobody reads any more ends with its context.
	ctx, stop = context.WithCancel(background)
	ended = generate(ctx)
	events := ended.Channel()
	<-events
	stop()
	n = 0
	within(t, func() {
		for range events {
			n++
		}
	})
	if n > 1 || !errors.Is(ended.Err(), context.Canceled) {
		t.Error(n, ended.Err())
	}
}
