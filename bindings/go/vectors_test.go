package inlay

import (
	"context"
	"errors"
	"strings"
	"testing"
)

// Requests that make vectors make those of EmbedTexts, beside one that draws.
func TestRequestsEmbed(t *testing.T) {
	engine := engineWith(t, func(o *LoadOptions) { o.MaxSessions = 2 })
	queue := queueOf(t, engine, nil)
	texts := []string{"A fox in the woods.", "The old fox", "Once upon a time, there was a little boat", "!"}
	want, err := engine.EmbedTexts(background, texts, PoolingMean, EmbedNormalize)
	if err != nil {
		t.Fatal(err)
	}
	if err := engine.SetThread(&ThreadOptions{}); err != nil {
		t.Fatal(err)
	}
	beside := submit(t, queue, Request{Text: "Once", Session: SessionOptions{MaxTokens: 5}})
	ids := make([]RequestID, len(texts))
	for i, text := range texts {
		ids[i] = submit(t, queue, Request{Text: text, Kind: RequestEmbed, Embed: &EmbedOptions{PoolingMean, EmbedNormalize}})
	}
	found := collect(t, queue, len(texts)+1)
	for i, id := range ids {
		end := found[id].end
		if end.Finish != FinishEmbedded || end.Values != len(want[i]) || end.GeneratedTokens != 0 {
			t.Errorf("it ended with %+v", end)
		}
		got, err := queue.TakeValues(id)
		if err != nil || len(got) != len(want[i]) {
			t.Fatal(len(got), err)
		}
		for k := range got {
			if got[k] != want[i][k] {
				t.Fatalf("value %d of text %d is %v, expected %v", k, i, got[k], want[i][k])
			}
		}
		if _, err := queue.TakeValues(id); !errors.Is(err, StatusNotFound) {
			t.Error("a vector is taken once:", err)
		}
	}
	if _, err := queue.TakeValues(beside); !errors.Is(err, StatusNotFound) {
		t.Error(err)
	}
}

func TestWhatIsNoVectorIsRefused(t *testing.T) {
	engine := engineWith(t, nil)
	queue := queueOf(t, engine, &QueueOptions{MaxRequests: 1})
	session := sessionOf(t, engine, &SessionOptions{Flags: SessionForRequests})
	vector := Request{Text: "a", Kind: RequestEmbed, Embed: &EmbedOptions{Pooling: PoolingMean}}
	for named, change := range map[string]func(r *Request){
		"Session is set":      func(r *Request) { r.Session.MaxTokens = 3 },
		"Continues is set":    func(r *Request) { r.Continues = session },
		"Conversation is set": func(r *Request) { r.Text, r.Messages = "", []ChatMessage{{Role: "user", Content: "Hello"}} },
		"Embed is set":        func(r *Request) { r.Kind = RequestGenerate },
		"Embed.Flags:":        func(r *Request) { r.Embed = &EmbedOptions{Flags: 1 << 30} },
		"Embed.Pooling is 77": func(r *Request) { r.Embed = &EmbedOptions{Pooling: 77} },
	} {
		request := vector
		change(&request)
		if _, err := queue.Submit(&request); !errors.Is(err, StatusInvalidArgument) || !strings.Contains(err.Error(), named) {
			t.Errorf("%s: %v", named, err)
		}
	}
	if _, err := engine.Ask(context.Background(), &vector); !errors.Is(err, StatusInvalidArgument) {
		t.Error(err)
	}
	id := submit(t, queue, vector)
	if _, err := queue.TakeValues(id); !errors.Is(err, StatusInvalidState) {
		t.Error("it has not ended:", err)
	}
	run(t, engine, RunOptions{})
	collect(t, queue, 1)
	if _, err := queue.Submit(&vector); !errors.Is(err, StatusQueueFull) {
		t.Error("nobody has taken it:", err)
	}
	if _, err := queue.TakeValues(id); err != nil {
		t.Error(err)
	}
	submit(t, queue, vector)
}
