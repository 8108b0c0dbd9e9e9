// Command eight continues eight prompts at once: every step reads the weights once and draws a token for each of them.
//
//	eight MODEL [TOKENS [PROMPT...]]
//
// There are at most eight prompts; without any it takes eight of its own.
package main

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"strings"

	"inlay.dev/inlay"
)

const maxPrompts = 8

var ownPrompts = []string{"Once upon a time", "The old fox said", "In a small house", "One cold winter day,",
	"The queen smiled", "A little boat", "Deep in the forest", "The bear woke up"}

func main() {
	tokens, prompts := 30, ownPrompts
	if len(os.Args) > 2 {
		tokens, _ = strconv.Atoi(os.Args[2])
	}
	if len(os.Args) < 2 || tokens < 1 || len(os.Args)-3 > maxPrompts {
		fmt.Fprintln(os.Stderr, "usage: eight MODEL [TOKENS [PROMPT...]] (at most 8)")
		os.Exit(2)
	}
	if len(os.Args) > 3 {
		prompts = os.Args[3:]
	}
	if err := run(context.Background(), os.Args[1], tokens, prompts); err != nil {
		fmt.Fprintln(os.Stderr, "eight:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, model string, tokens int, prompts []string) error {
	engine, err := inlay.Load(ctx, model, &inlay.LoadOptions{MaxSessions: maxPrompts})
	if err != nil {
		return err
	}
	defer engine.Close()
	sessions, texts := []*inlay.Session{}, map[*inlay.Session]*strings.Builder{}
	for _, prompt := range prompts {
		session, err := engine.NewSession(&inlay.SessionOptions{MaxTokens: tokens})
		if err != nil {
			return err
		}
		defer session.Close()
		if _, err := session.Generate(ctx, prompt, nil); err != nil {
			return err
		}
		sessions, texts[session] = append(sessions, session), &strings.Builder{}
		texts[session].WriteString(prompt)
	}
	if err := decodeAll(ctx, sessions, texts); err != nil {
		return err
	}
	for _, session := range sessions {
		fmt.Println(texts[session])
	}
	return nil
}

// decodeAll steps all sessions; one that has finished leaves the batch, the others go on.
func decodeAll(ctx context.Context, sessions []*inlay.Session, texts map[*inlay.Session]*strings.Builder) error {
	active := append([]*inlay.Session(nil), sessions...)
	var events []inlay.Event
	for len(active) > 0 {
		var err error
		if events, err = inlay.DecodeStep(ctx, active, events); err != nil {
			return err
		}
		active = active[:0]
		for _, event := range events {
			texts[event.Session].WriteString(event.Text)
			if event.Finish == inlay.FinishNone {
				active = append(active, event.Session)
			}
		}
	}
	return nil
}
