package main

import (
	"fmt"
	"os"

	"inlay.dev/inlay"
)

// conversation is the messages, and the session that holds their tokens: a turn runs only those that are new.
type conversation struct {
	engine   *inlay.Engine
	session  *inlay.Session
	messages []inlay.ChatMessage
	first    int     // the message with which the turns begin
	room     int     // for the prompt's tokens
	held     []int32 // what the session's tokens begin with
	told     bool    // that turns are forgotten
}

// prompt is the conversation as tokens. Where they have no room, the oldest turns are forgotten until half of it is free: what
// is forgotten changes all that follows, which then runs again, and this should be rare.
func (c *conversation) prompt() ([]int32, error) {
	kept, wanted := c.messages, c.room
	tokens, err := c.engine.MessagesTokens(kept, "", inlay.ChatAddGenerationPrompt)
	for err == nil && len(tokens) > wanted && len(kept) > c.first+1 {
		wanted = c.room / 2
		kept = append(kept[:c.first:c.first], kept[c.first+2:]...) // a line and its answer; the system's message stays
		tokens, err = c.engine.MessagesTokens(kept, "", inlay.ChatAddGenerationPrompt)
	}
	if len(kept) == len(c.messages) || len(tokens) > c.room {
		return tokens, err
	}
	c.messages = kept
	if !c.told {
		fmt.Fprintln(os.Stderr, "(the context is full: from here on the oldest turns are forgotten)")
	}
	c.told = true
	return tokens, err
}
