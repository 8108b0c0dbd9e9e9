package inlay_test

import (
	"context"
	"fmt"
	"io"
	"log"

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
