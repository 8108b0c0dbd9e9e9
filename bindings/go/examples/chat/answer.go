package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"inlay.dev/inlay"
)

// answer runs what is new of the conversation, and writes what the model says.
func (c *conversation) answer(ctx context.Context, line string) error {
	c.messages = append(c.messages, inlay.ChatMessage{Role: "user", Content: line})
	prompt, err := c.prompt()
	if err != nil {
		return err
	}
	if len(prompt) > c.room {
		c.messages = c.messages[:len(c.messages)-1]
		fmt.Fprintln(os.Stderr, "(this line is too long for the model's context)")
		return nil
	}
	n := 0 // tokens that the session holds already; one at least must be new
	for n < len(c.held) && n < len(prompt)-1 && c.held[n] == prompt[n] {
		n++
	}
	if err := c.session.Truncate(n); err != nil {
		return err
	}
	c.held = c.held[:n]
	var text strings.Builder
	var event, last inlay.Event
	generation, err := c.session.GenerateTokens(ctx, prompt[n:], nil)
	if err == nil {
		c.held = append(c.held, prompt[n:]...)
	}
	for err == nil {
		if event, err = generation.Next(); err == nil {
			last = event
			if event.Token >= 0 {
				c.held = append(c.held, event.Token)
			}
			text.WriteString(event.Text)
			fmt.Print(event.Text)
		}
	}
	fmt.Println()
	if text.Len() > 0 {
		c.messages = append(c.messages, inlay.ChatMessage{Role: "assistant", Content: text.String()})
	} else {
		c.messages = c.messages[:len(c.messages)-1] // as if the line had not been said
	}
	if err == io.EOF {
		fmt.Fprintf(os.Stderr, "(%d of %d tokens were new, %d drawn, %v)\n", len(prompt)-n, len(prompt), last.GeneratedTokens, last.Finish)
		return nil
	}
	if errors.Is(err, context.Canceled) {
		fmt.Fprintln(os.Stderr, "(interrupted)")
		return nil
	}
	return err
}
