// Command chat is a conversation on the console: each line is a turn, and the answer is written as it is decoded. Ctrl-C ends
// an answer, Ctrl-D the conversation. The model's file must have a chat template.
//
//	chat MODEL [SYSTEM [TOKENS]]     SYSTEM: what the model is told before; TOKENS: the longest answer (256)
package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"log"
	"os"
	"os/signal"
	"strconv"

	"inlay.dev/inlay"
)

func main() {
	log.SetFlags(0)
	if len(os.Args) < 2 || len(os.Args) > 4 {
		fmt.Fprintln(os.Stderr, "usage: chat MODEL [SYSTEM [TOKENS]]")
		os.Exit(2)
	}
	options := inlay.SessionOptions{MaxTokens: 256, Sampler: inlay.Sampler{Temperature: 0.8, TopP: 0.95, Seed: 1}}
	var messages []inlay.ChatMessage
	if len(os.Args) > 2 {
		messages = append(messages, inlay.ChatMessage{Role: "system", Content: os.Args[2]})
	}
	if len(os.Args) > 3 {
		options.MaxTokens, _ = strconv.Atoi(os.Args[3]) // 0 where it is no number
	}
	if options.MaxTokens < 1 {
		log.Fatalf("chat: TOKENS is %q, expected a number from 1 on", os.Args[3])
	}
	engine, err := inlay.Load(context.Background(), os.Args[1], &inlay.LoadOptions{MaxSessions: 1})
	if err != nil {
		log.Fatal("chat: ", err)
	}
	defer engine.Close()
	chat, err := engine.NewChat(&options, messages...)
	for lines := bufio.NewScanner(os.Stdin); err == nil && lines.Scan(); {
		if lines.Text() != "" {
			err = answer(chat, lines.Text())
		}
	}
	if err != nil {
		log.Fatal("chat: ", err)
	}
}

// answer writes what the model says to the line.
func answer(chat *inlay.Chat, line string) error {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt) // between answers Ctrl-C ends the program
	defer stop()
	dropped, event := chat.DroppedTurns(), inlay.Event{}
	generation, err := chat.Ask(ctx, line)
	if dropped == 0 && chat.DroppedTurns() > 0 {
		fmt.Fprintln(os.Stderr, "(the context is full: from here on the oldest turns are forgotten)")
	}
	for err == nil && event.Finish == inlay.FinishNone {
		event, err = generation.Next()
		fmt.Print(event.Text)
	}
	switch {
	case errors.Is(err, inlay.StatusContextFull):
		fmt.Fprintf(os.Stderr, "(%v)\n", err)
	case errors.Is(err, context.Canceled):
		fmt.Fprintln(os.Stderr, "(interrupted)")
		fmt.Println()
	case err != nil:
		return err
	default:
		n, held := event.PromptTokens, chat.ReusedTokens()
		fmt.Fprintf(os.Stderr, "(%d of %d tokens were new, %d drawn, %v)\n", n, n+held, event.GeneratedTokens, event.Finish)
		fmt.Println()
	}
	return nil
}
