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
	constraint, err := engine.NewConstraint(inlay.ConstraintOptions{JSONSchema: `{
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
