package inlay_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"os"
	"strings"

	"inlay.dev/inlay"
)

// A completion, token by token.
func Example() {
	ctx := context.Background()
	engine, err := inlay.Load(ctx, "model.gguf", nil)
	if err != nil {
		log.Fatal(err)
	}
	defer engine.Close()
	session, err := engine.NewSession(&inlay.SessionOptions{MaxTokens: 100})
	if err != nil {
		log.Fatal(err)
	}
	defer session.Close()
	generation, err := session.Generate(ctx, "Once upon a time", nil)
	if err != nil {
		log.Fatal(err)
	}
	for {
		event, err := generation.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			log.Fatal(err)
		}
		fmt.Print(event.Text)
	}
}

// The answer to a request, piece by piece.
func ExampleEngine_Ask() {
	ctx := context.Background()
	engine, err := inlay.Load(ctx, os.Getenv("INLAY_TEST_MODEL"), nil)
	if err != nil {
		log.Fatal(err)
	}
	defer engine.Close()
	if err := engine.SetThread(&inlay.ThreadOptions{}); err != nil { // once
		log.Fatal(err)
	}
	answer, err := engine.Ask(ctx, &inlay.Request{Text: "Once upon a time", Session: inlay.SessionOptions{MaxTokens: 20}})
	if err != nil {
		log.Fatal(err)
	}
	text := ""
	for event := range answer.Channel() {
		text += event.Text
	}
	if err := answer.Err(); err != nil {
		log.Fatal(err)
	}
	fmt.Println(len(text) > 20, answer.Finish(), answer.End().GeneratedTokens)
	// Output: true MAX_TOKENS 20
}

// A text that parses, because a schema says which ones may be written.
func ExampleEngine_NewConstraint() {
	ctx := context.Background()
	engine, err := inlay.Load(ctx, os.Getenv("INLAY_TEST_MODEL"), nil)
	if err != nil {
		log.Fatal(err)
	}
	defer engine.Close()
	constraint, err := engine.NewConstraint(inlay.ConstraintOptions{Flags: inlay.ConstraintFlagCompact, JSONSchema: `{
		"type": "object",
		"properties": {"name": {"type": "string", "maxLength": 20}, "age": {"type": "integer", "minimum": 1, "maximum": 150}},
		"required": ["name", "age"], "additionalProperties": false
	}`})
	if err != nil {
		log.Fatal(err)
	}
	defer constraint.Close()
	session, err := engine.NewSession(&inlay.SessionOptions{Constraint: constraint})
	if err != nil {
		log.Fatal(err)
	}
	defer session.Close()
	generation, err := session.Generate(ctx, "The king is ", nil)
	if err != nil {
		log.Fatal(err)
	}
	text, err := generation.Text()
	if err != nil {
		log.Fatal(err)
	}
	var king struct {
		Name string
		Age  int
	}
	if err := json.Unmarshal([]byte(text), &king); err != nil {
		log.Fatal(err)
	}
	fmt.Println(king.Age >= 1 && king.Age <= 150, generation.Finish())
	// Output: true END_OF_GENERATION
}

// A tool is called, its result appended to the conversation, and the model answers.
func ExampleEngine_NewMessageParser() {
	ctx := context.Background()
	engine, err := inlay.Load(ctx, os.Getenv("INLAY_TEST_MODEL"), nil)
	if err != nil {
		log.Fatal(err)
	}
	defer engine.Close()
	if err := engine.SetThread(&inlay.ThreadOptions{}); err != nil {
		log.Fatal(err)
	}
	const tools = `[{"name": "price", "parameters": {"type": "object", "properties": {"item": {"enum": ["room", "meal"]}},
		"required": ["item"], "additionalProperties": false}}]`
	const writer = "<tool_call>" // "" where the model's own template knows calls
	messages := `{"role": "user", "content": "What is a room?"}`
	for _, choice := range []string{"required", "none"} {
		prompt, err := engine.ChatTokens(`{"messages": [`+messages+`], "tools": `+tools+`}`, "", inlay.ChatAddGenerationPrompt)
		if err != nil {
			log.Fatal(err)
		}
		constraint, err := engine.NewConstraint(inlay.ConstraintOptions{
			Message: `{"tools": ` + tools + `, "tool_choice": "` + choice + `", "parallel_tool_calls": false}`,
			Prompt:  prompt, ChatTemplate: writer, Flags: inlay.ConstraintFlagCompact,
		})
		if err != nil {
			log.Fatal(err)
		}
		defer constraint.Close()
		parser, err := engine.NewMessageParser(inlay.MessageOptions{Tools: tools, Prompt: prompt, ChatTemplate: writer})
		if err != nil {
			log.Fatal(err)
		}
		defer parser.Close()
		answer, err := engine.Ask(ctx, &inlay.Request{Tokens: prompt, Session: inlay.SessionOptions{MaxTokens: 300, Constraint: constraint}})
		if err != nil {
			log.Fatal(err)
		}
		defer answer.Close()
		for event := range answer.Channel() {
			for _, drawn := range event.Tokens {
				if err := parser.Append([]int32{drawn.Token}); err != nil {
					log.Fatal(err)
				}
			}
		}
		if err := answer.Err(); err != nil {
			log.Fatal(err)
		}
		if err := parser.Finish(); err != nil { // parser.Take has the parts, also before the end
			log.Fatal(err)
		}
		message, err := parser.Message()
		if err != nil {
			log.Fatal(err)
		}
		messages += ", " + message.JSON
		if message.Calls > 0 { // the program does what the calls ask for
			messages += `, {"role": "tool", "content": "5 coins"}`
		}
	}
	var all []inlay.ChatMessage
	if err := json.Unmarshal([]byte("["+messages+"]"), &all); err != nil {
		log.Fatal(err)
	}
	fmt.Println(strings.Contains(messages, `"name": "price"`), all[2].Content, all[3].Role)
	// Output: true 5 coins assistant
}

// Two requests, which the engine's own thread computes together.
func ExampleQueue() {
	ctx := context.Background()
	engine, err := inlay.Load(ctx, os.Getenv("INLAY_TEST_MODEL"), nil)
	if err != nil {
		log.Fatal(err)
	}
	defer engine.Close()
	if err := engine.SetThread(&inlay.ThreadOptions{}); err != nil {
		log.Fatal(err)
	}
	queue, err := engine.NewQueue(nil)
	if err != nil {
		log.Fatal(err)
	}
	defer queue.Close()
	texts := map[inlay.RequestID]string{}
	for _, prompt := range []string{"Once upon a time", "Once there was"} {
		id, err := queue.Submit(&inlay.Request{Text: prompt, Session: inlay.SessionOptions{MaxTokens: 20}})
		if err != nil {
			log.Fatal(err)
		}
		texts[id] = prompt
	}
	var buffer inlay.EventBuffer
	for left := len(texts); left > 0; {
		events, err := queue.Next(ctx, &buffer)
		if err != nil {
			log.Fatal(err)
		}
		for _, event := range events {
			texts[event.Request] += event.Text
			if event.Kind == inlay.RequestEventEnd {
				left--
				fmt.Println(strings.HasPrefix(texts[event.Request], "Once "), event.Finish, event.GeneratedTokens)
			}
		}
	}
	// Output:
	// true MAX_TOKENS 20
	// true MAX_TOKENS 20
}
