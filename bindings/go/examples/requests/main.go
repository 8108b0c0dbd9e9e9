// Command requests hands prompts over, which the engine's own thread computes together, and collects their texts as they come.
//
//	requests MODEL [TOKENS [PROMPT...]]
//
// There are at most eight prompts; without any it takes three of its own.
package main

import (
	"context"
	"fmt"
	"os"
	"strconv"

	"inlay.dev/inlay"
)

const maxPrompts = 8

var ownPrompts = []string{"Once upon a time", "The old fox said", "In a small house"}

func main() {
	tokens, prompts := 30, ownPrompts
	if len(os.Args) > 2 {
		tokens, _ = strconv.Atoi(os.Args[2])
	}
	if len(os.Args) < 2 || tokens < 1 || len(os.Args)-3 > maxPrompts {
		fmt.Fprintln(os.Stderr, "usage: requests MODEL [TOKENS [PROMPT...]] (at most 8)")
		os.Exit(2)
	}
	if len(os.Args) > 3 {
		prompts = os.Args[3:]
	}
	if err := run(context.Background(), os.Args[1], tokens, prompts); err != nil {
		fmt.Fprintln(os.Stderr, "requests:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, model string, tokens int, prompts []string) error {
	engine, err := inlay.Load(ctx, model, nil)
	if err != nil {
		return err
	}
	defer engine.Close()
	if err := engine.SetThread(&inlay.ThreadOptions{}); err != nil {
		return err
	}
	queue, err := engine.NewQueue(nil)
	if err != nil {
		return err
	}
	defer queue.Close()
	for i, prompt := range prompts {
		request := inlay.Request{Text: prompt, Session: inlay.SessionOptions{MaxTokens: tokens}, User: uint64(i)}
		if _, err := queue.Submit(&request); err != nil {
			return err
		}
	}
	texts, err := collect(ctx, queue, len(prompts))
	for i := range texts {
		fmt.Println(prompts[i] + texts[i])
	}
	return err
}

// collect waits until n requests have ended. Each has its place in the texts as its User.
func collect(ctx context.Context, queue *inlay.Queue, n int) ([]string, error) {
	texts, buffer := make([]string, n), inlay.EventBuffer{}
	for left := n; left > 0; {
		events, err := queue.Next(ctx, &buffer)
		if err != nil {
			return nil, err
		}
		for _, event := range events {
			texts[event.User] += event.Text
			if event.Kind != inlay.RequestEventEnd {
				continue
			}
			left--
			if err := event.Err(); err != nil {
				return nil, err
			}
		}
	}
	return texts, nil
}
