// Command game_loop is a game's loop: 60 frames a second, while a character talks. The model runs on a goroutine of its
// own and sends its words through a channel, which each frame empties; a frame never waits for the model. It prints how
// long frames took with and without it.
//
//	game_loop MODEL [SECONDS]
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"sort"
	"strconv"
	"time"

	"inlay.dev/inlay"
)

const (
	framesASecond = 60
	work          = 4 * time.Millisecond // what the rest of the game takes of a frame
	maxSeconds    = 60
)

func main() {
	seconds := 5
	if len(os.Args) == 3 {
		seconds, _ = strconv.Atoi(os.Args[2])
	}
	if len(os.Args) < 2 || len(os.Args) > 3 || seconds < 1 || seconds > maxSeconds {
		fmt.Fprintln(os.Stderr, "usage: game_loop MODEL [SECONDS] (at most 60)")
		os.Exit(2)
	}
	if err := run(os.Args[1], seconds*framesASecond); err != nil {
		fmt.Fprintln(os.Stderr, "game_loop:", err)
		os.Exit(1)
	}
}

func run(model string, frames int) error {
	// One thread computes: the others stay with the game.
	engine, err := inlay.Load(context.Background(), model, &inlay.LoadOptions{Threads: 1})
	if err != nil {
		return err
	}
	defer engine.Close()
	session, err := engine.NewSession(&inlay.SessionOptions{Sampler: inlay.Sampler{Temperature: 0.8, Seed: 7}})
	if err != nil {
		return err
	}
	defer session.Close()
	words := make(chan string, 256)
	runFrames("silent", frames, words)

	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	tokens := 0
	go func() {
		var err error
		tokens, err = talk(ctx, session, words)
		ended <- err
	}()
	start := time.Now()
	runFrames("talking", frames, words)
	stop()
	err = <-ended
	fmt.Printf("%d tokens, %.0f a second\n", tokens, float64(tokens)/time.Since(start).Seconds())
	return err
}

// talk tells one tale after the other, each until it ends or the context is full, until the game stops it. Only this goroutine uses the session.
func talk(ctx context.Context, session *inlay.Session, words chan<- string) (tokens int, err error) {
	for {
		if err := session.Truncate(0); err != nil {
			return tokens, err
		}
		generation, err := session.Generate(ctx, "Once upon a time", nil)
		for err == nil {
			var event inlay.Event
			if event, err = generation.Next(); err == nil {
				tokens++
				select {
				case words <- event.Text:
				case <-ctx.Done():
				}
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

// frame stands for the game: its own work, and showing the words that came. It returns how many bytes came.
func frame(words <-chan string) (shown int) {
	start := time.Now()
	for more := true; more; {
		select {
		case word := <-words:
			shown += len(word)
		default:
			more = false
		}
	}
	for time.Since(start) < work {
	}
	return shown
}

// runFrames runs frames at their times. A frame's time goes from when it was due to the end of its work.
func runFrames(what string, n int, words <-chan string) {
	took, shown := make([]float64, n), 0
	begin := time.Now()
	for i := range took {
		due := begin.Add(time.Duration(i) * time.Second / framesASecond)
		time.Sleep(time.Until(due))
		shown += frame(words)
		took[i] = time.Since(due).Seconds() * 1e3
	}
	sort.Float64s(took)
	fmt.Printf("%-9s %d frames, ms: p50 %.2f p99 %.2f max %.2f; %d bytes shown\n", what, n, took[n/2], took[n*99/100],
		took[n-1], shown)
}
