// Command cancel lets a model write for as long as it likes, and stops it from another goroutine, some time after the first token.
//
//	cancel MODEL [MILLISECONDS]
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"time"

	"inlay.dev/inlay"
)

func main() {
	milliseconds := 500
	if len(os.Args) == 3 {
		milliseconds, _ = strconv.Atoi(os.Args[2])
	}
	if len(os.Args) < 2 || len(os.Args) > 3 || milliseconds < 1 {
		fmt.Fprintln(os.Stderr, "usage: cancel MODEL [MILLISECONDS]")
		os.Exit(2)
	}
	if err := run(os.Args[1], time.Duration(milliseconds)*time.Millisecond); err != nil {
		fmt.Fprintln(os.Stderr, "cancel:", err)
		os.Exit(1)
	}
}

func run(model string, after time.Duration) error {
	engine, err := inlay.Load(context.Background(), model, nil)
	if err != nil {
		return err
	}
	defer engine.Close()
	session, err := engine.NewSession(&inlay.SessionOptions{Flags: inlay.SessionIgnoreEndOfGeneration})
	if err != nil {
		return err
	}
	defer session.Close()

	ctx, cancel := context.WithCancel(context.Background())
	requested := make(chan time.Time, 1)
	tokens, err := write(ctx, session, func() {
		time.AfterFunc(after, func() {
			requested <- time.Now()
			cancel()
		})
	})
	if err != nil {
		return err
	}
	fmt.Printf("cancelled after %d tokens, %.2f ms after the request\n", tokens,
		time.Since(<-requested).Seconds()*1e3)
	return nil
}

// write generates until the context ends, and calls began at the first token. Where the session's context is full, the tale begins again.
func write(ctx context.Context, session *inlay.Session, began func()) (tokens int, err error) {
	for {
		if err := session.Truncate(0); err != nil {
			return tokens, err
		}
		generation, err := session.Generate(ctx, "Once upon a time", nil)
		for err == nil {
			if _, err = generation.Next(); err != nil {
				break
			}
			if tokens++; tokens == 1 {
				began()
			}
		}
		if errors.Is(err, context.Canceled) {
			return tokens, nil
		}
		if err != io.EOF {
			return tokens, err
		}
	}
}
