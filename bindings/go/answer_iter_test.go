//go:build go1.23

package inlay

import (
	"iter"
	"testing"
)

func TestAllOfAnAnswerIsAnIterator(t *testing.T) {
	engine := engineWith(t, nil)
	giveThread(t, engine)
	var events iter.Seq2[RequestEvent, error] = ask(t, background, engine, Request{Text: "Once upon a time", Session: upTo(12)}).All()
	n := 0
	for event, err := range events {
		n += len(event.Tokens)
		if err != nil {
			t.Error(err)
		}
	}
	if n != 12 {
		t.Errorf("%d tokens", n)
	}
}
