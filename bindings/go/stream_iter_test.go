//go:build go1.23

package inlay

import (
	"iter"
	"testing"
)

func TestAllIsAnIterator(t *testing.T) {
	session := sessionOf(t, engineWith(t, nil), &SessionOptions{MaxTokens: 12, Flags: SessionIgnoreEndOfGeneration})
	generation, err := session.Generate(background, "Once upon a time", nil)
	if err != nil {
		t.Fatal(err)
	}
	var events iter.Seq2[Event, error] = generation.All()
	n := 0
	for event, err := range events {
		if n++; err != nil || event.GeneratedTokens != n {
			t.Errorf("event %d is %+v: %v", n, event, err)
		}
	}
	if n != 12 {
		t.Errorf("%d events", n)
	}
}
