// Command requests is a loop of frames that hands prompts over and collects their texts: the engine computes for at most 4 ms in each
// frame, on this goroutine. A service gives the engine a thread instead, as the example http does.
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
	"time"

	"inlay.dev/inlay"
)

const (
	maxPrompts = 8
	frame      = time.Second / 60
	budget     = 4 * time.Millisecond // what the model may take of a frame
)

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
	texts, buffer := make([]string, len(prompts)), inlay.EventBuffer{}
	for left := len(prompts); left > 0; {
		begin := time.Now()
		if _, err := engine.Run(ctx, inlay.RunOptions{Budget: budget}); err != nil {
			return err
		}
		ended, err := collect(queue, &buffer, texts)
		if err != nil {
			return err
		}
		left -= ended
		time.Sleep(time.Until(begin.Add(frame))) // A game draws its picture here.
	}
	for i := range texts {
		fmt.Println(prompts[i] + texts[i])
	}
	return nil
}

// collect adds what has come since the last frame to the texts, where each request has its place as its User, and counts the
// requests that have ended.
func collect(queue *inlay.Queue, buffer *inlay.EventBuffer, texts []string) (ended int, err error) {
	events, err := queue.Poll(buffer)
	for _, event := range events {
		texts[event.User] += event.Text
		if event.Kind != inlay.RequestEventEnd {
			continue
		}
		ended++
		if err := event.Err(); err != nil {
			return ended, err
		}
	}
	return ended, err
}
