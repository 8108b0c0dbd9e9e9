// Command chat is a conversation on the console: each line is a turn, and the answer is written as it is decoded. Ctrl-C ends
// an answer, Ctrl-D the conversation.
//
//	chat MODEL [SYSTEM [TOKENS]]
//
// SYSTEM is what the model is told before, TOKENS the longest answer (256). The model's file must have a chat template.
package main

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/signal"
	"strconv"

	"inlay.dev/inlay"
)

func main() {
	if len(os.Args) < 2 || len(os.Args) > 4 {
		fmt.Fprintln(os.Stderr, "usage: chat MODEL [SYSTEM [TOKENS]]")
		os.Exit(2)
	}
	arguments := append(os.Args[1:], "", "")
	if len(os.Args) < 4 {
		arguments[2] = "256"
	}
	if err := run(arguments[0], arguments[1], arguments[2]); err != nil {
		fmt.Fprintln(os.Stderr, "chat:", err)
		os.Exit(1)
	}
}

func run(model, system, tokens string) error {
	limit, err := strconv.Atoi(tokens)
	if err != nil || limit < 1 {
		return fmt.Errorf("TOKENS is %q, expected a number from 1 on", tokens)
	}
	engine, err := inlay.Load(context.Background(), model, &inlay.LoadOptions{MaxSessions: 1})
	if err != nil {
		return err
	}
	defer engine.Close()
	if most := engine.Info().NContext / 2; limit > most {
		limit = most
	}
	session, err := engine.NewSession(&inlay.SessionOptions{MaxTokens: limit,
		Sampler: inlay.Sampler{Temperature: 0.8, TopP: 0.95, Seed: 1}}) // another seed, other answers
	if err != nil {
		return err
	}
	defer session.Close()
	c := conversation{engine: engine, session: session, room: engine.Info().NContext - limit}
	if system != "" {
		c.messages, c.first = []inlay.ChatMessage{{Role: "system", Content: system}}, 1
	}
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		if lines.Text() == "" {
			continue
		}
		ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt) // between answers Ctrl-C ends the program
		err := c.answer(ctx, lines.Text())
		stop()
		if err != nil {
			return err
		}
	}
	return lines.Err()
}
