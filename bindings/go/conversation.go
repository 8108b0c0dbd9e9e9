package inlay

import "context"

// Chat is a conversation: its messages, and a session that holds their tokens, so that an answer runs only what is new. It has a
// model's chat template write the messages, and drops the oldest turns where the context has no more room. One goroutine at a
// time may use it and the generation that Ask returns; chats of different goroutines share their decode steps.
type Chat struct {
	session   *Session
	messages  []ChatMessage
	system    int     // messages that are never dropped
	maxTokens int     // of an answer
	held      []int32 // what the session's tokens begin with
	reused    int
	dropped   int
	line      string      // that is being answered
	answer    *Generation // that answers it
	answered  bool        // the line and a part of its answer are among the messages
}

// NewChat begins a conversation in a session of its own, made with these options. Their MaxTokens is the longest answer, for
// which room is kept; where it is 0, or more than half of the context, it is half of the context. The messages are what was said
// before: the system's at the beginning always stay, and a turn is all from a user's message to the next one. There may be
// none. The errors are those of NewSession. Like a session, the chat outlives the engine's Close.
func (e *Engine) NewChat(options *SessionOptions, messages ...ChatMessage) (*Chat, error) {
	session, err := e.NewSession(options)
	if err != nil {
		return nil, err
	}
	c := &Chat{session: session, messages: append([]ChatMessage(nil), messages...), maxTokens: e.info.NContext / 2}
	if options != nil && options.MaxTokens > 0 && options.MaxTokens < c.maxTokens {
		c.maxTokens = options.MaxTokens
	}
	for c.system < len(messages) && messages[c.system].Role == "system" {
		c.system++
	}
	if err := session.SetMaxTokens(c.maxTokens); err != nil {
		session.Close()
		return nil, err
	}
	return c, nil
}

// Ask runs what the session does not hold yet of the conversation with the user's line, and returns the answer as Generate does;
// the context ends it. The line joins the messages with the first text of its answer, which grows with each event: a part of an
// answer stays however it was cut, and a line without one is as if it had not been said. Another Ask ends the generation before.
//
// Where the conversation and the longest answer do not fit into the context together, the oldest turns are dropped until half of
// the room is free: see DroppedTurns. A line that is too long even alone is an error that matches StatusContextFull, with the
// tokens that were required and available. After an error the messages are as they were.
func (c *Chat) Ask(ctx context.Context, line string) (*Generation, error) {
	info, err := c.session.Info()
	if err != nil {
		return nil, err
	}
	kept, prompt, dropped, err := c.fitting(line, info.NContext-c.maxTokens)
	if err != nil {
		return nil, err
	}
	n := 0 // tokens that stay; a prompt has one at least
	for n < len(c.held) && n < info.NTokens && n < len(prompt)-1 && c.held[n] == prompt[n] {
		n++
	}
	c.session.latest.Add(1) // A generation before has nothing to go on from.
	if err := c.session.Truncate(n); err != nil {
		return nil, err
	}
	c.held, c.answer = append([]int32(nil), prompt...), nil
	generation, err := c.session.GenerateTokens(ctx, prompt[n:], nil)
	if err != nil {
		return nil, err // A part of the prompt may have been run: the session's length tells.
	}
	c.messages, c.dropped, c.reused = kept, c.dropped+dropped, n
	c.line, c.answer, c.answered = line, generation, false
	generation.chat = c
	return generation, nil
}

// fitting are the messages before the line and the tokens with it, without the oldest turns where there is no room for them.
// Dropping goes on until half of the room is free: it changes all that follows, which runs again, and this should be rare.
func (c *Chat) fitting(line string, room int) (kept []ChatMessage, prompt []int32, dropped int, err error) {
	if err := c.session.join("ask"); err != nil {
		return nil, nil, 0, err
	}
	defer c.session.leave()
	kept, said := c.messages, ChatMessage{Role: "user", Content: line}
	for wanted := room; ; wanted = room / 2 {
		with := append(kept[:len(kept):len(kept)], said)
		prompt, err = chatTokens(c.session.engine.handle, MessagesJSON(with), "", ChatAddGenerationPrompt)
		if err != nil || len(prompt) <= wanted || len(kept) == c.system {
			break
		}
		next := c.system + 1
		for next < len(kept) && kept[next].Role != "user" {
			next++
		}
		kept = append(kept[:c.system:c.system], kept[next:]...)
		dropped++
	}
	if err == nil && len(prompt) > room {
		err = &Error{Op: "ask", Status: StatusContextFull, Message: "the line is too long: it has no room with the longest answer",
			Required: uint64(len(prompt)), Available: uint64(room)}
	}
	return kept, prompt, dropped, err
}

// heard takes what a generation has drawn.
func (c *Chat) heard(generation *Generation, event *Event) {
	if generation != c.answer {
		return
	}
	if event.Token >= 0 {
		c.held = append(c.held, event.Token)
	}
	if event.Text == "" {
		return
	}
	if !c.answered {
		c.answered = true
		c.messages = append(c.messages[:len(c.messages):len(c.messages)], ChatMessage{Role: "user", Content: c.line},
			ChatMessage{Role: "assistant"})
	}
	c.messages[len(c.messages)-1].Content += event.Text
}

// Messages are what was said and not dropped, the oldest first, as a copy.
func (c *Chat) Messages() []ChatMessage { return append([]ChatMessage(nil), c.messages...) }

// DroppedTurns counts the turns that have left the messages because the context was full, since NewChat or Clear.
func (c *Chat) DroppedTurns() int { return c.dropped }

// ReusedTokens counts the tokens of the latest Ask's conversation that the session held already. With PromptTokens of the
// events, which were run, they are the whole conversation.
func (c *Chat) ReusedTokens() int { return c.reused }

// Session is the chat's own: for Info, Cancel, and how it draws. The chat alone may prefill, step and cut it.
func (c *Chat) Session() *Session { return c.session }

// Clear forgets all but the system's messages at the beginning. A generation under way may go on, but is heard no more.
func (c *Chat) Clear() {
	c.messages = c.messages[:c.system:c.system]
	c.dropped, c.answer = 0, nil
}

// Close closes the session, which ends a generation under way. It may be called from any goroutine.
func (c *Chat) Close() error { return c.session.Close() }
