// Command complete continues a prompt, and streams the text as it is decoded.
//
//	complete MODEL [PROMPT [TOKENS]]
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"strconv"

	"inlay.dev/inlay"
)

func main() {
	if len(os.Args) < 2 || len(os.Args) > 4 {
		fmt.Fprintln(os.Stderr, "usage: complete MODEL [PROMPT [TOKENS]]")
		os.Exit(2)
	}
	prompt, tokens := "Once upon a time", 100
	if len(os.Args) > 2 {
		prompt = os.Args[2]
	}
	if len(os.Args) > 3 {
		var err error
		if tokens, err = strconv.Atoi(os.Args[3]); err != nil {
			fmt.Fprintln(os.Stderr, "complete: TOKENS must be a number:", err)
			os.Exit(2)
		}
	}
	// Ctrl-C ends the load or the generation cleanly.
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := complete(ctx, os.Args[1], prompt, tokens); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func complete(ctx context.Context, model, prompt string, tokens int) error {
	engine, err := inlay.Load(ctx, model, nil)
	if err != nil {
		return err
	}
	defer engine.Close()
	session, err := engine.NewSession(&inlay.SessionOptions{MaxTokens: tokens})
	if err != nil {
		return err
	}
	defer session.Close()

	generation, err := session.Generate(ctx, prompt, nil)
	if err != nil {
		return err
	}
	fmt.Print(prompt)
	_, err = generation.WriteTo(os.Stdout)
	fmt.Println()
	return err
}
