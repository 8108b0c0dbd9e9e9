package inlay

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"
)

// heard is a Logger.
type heard struct {
	sync.Mutex
	lines []string
}

func (h *heard) add(level, text string) {
	h.Lock()
	defer h.Unlock()
	h.lines = append(h.lines, level+" "+text)
}
func (h *heard) Debug(text string, _ ...any) { h.add("DEBUG", text) }
func (h *heard) Info(text string, _ ...any)  { h.add("INFO", text) }
func (h *heard) Warn(text string, _ ...any)  { h.add("WARNING", text) }
func (h *heard) Error(text string, _ ...any) { h.add("ERROR", text) }

func TestLogger(t *testing.T) {
	before := runtime.NumGoroutine()
	logger := &heard{}
	engine := engineWith(t, func(o *LoadOptions) { o.LogLevel, o.Logger, o.PrefillChunk = LogDebug, logger, 1000 })
	// It has what the ring has.
	logs := engine.Logs()
	var want []string
	for message, err := logs.Next(); err == nil; message, err = logs.Next() {
		want = append(want, message.Level.String()+" "+message.Text)
	}
	logger.Lock()
	if len(want) < 3 || strings.Join(logger.lines, "\n") != strings.Join(want, "\n") {
		t.Errorf("%q, expected %q", logger.lines, want)
	}
	logger.Unlock()
	sessionOf(t, engine, nil).Close()
	engine.Close()
	for deadline := time.Now().Add(10 * time.Second); runtime.NumGoroutine() > before && time.Now().Before(deadline); {
		time.Sleep(time.Millisecond)
	}
	if n := runtime.NumGoroutine(); n > before {
		t.Errorf("%d goroutines, %d before", n, before)
	}
}

func TestLoggerOfAFailedLoad(t *testing.T) {
	model, err := os.ReadFile(testModel)
	if err != nil {
		t.Fatal(err)
	}
	logger := &heard{}
	options := testOptions()
	options.LogLevel, options.Logger = LogDebug, logger
	_, err = LoadBytes(background, model[:len(model)-1], &options)
	wantStatus(t, err, StatusFormat)
	if n := len(logger.lines); n == 0 || logger.lines[n-1] != "ERROR "+err.Error() {
		t.Errorf("%q", logger.lines)
	}
}

// A panic in Progress ends the load, the conversion or the scoring and reaches its caller.
func TestProgressPanics(t *testing.T) {
	file, err := os.Open(testModel)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	info, _ := file.Stat()
	caught := func(call func()) (value any) {
		defer func() { value = recover() }()
		call()
		return nil
	}
	options := testOptions()
	for name, at := range map[string]int{"at its begin": 1, "later": 2} {
		n := 0
		options.Progress = func(done, total uint64) {
			if n++; n == at {
				panic("of the progress")
			}
		}
		reader := &slowReader{file: file, first: make(chan struct{})}
		value := caught(func() { LoadReader(background, reader, info.Size(), &options) })
		if fmt.Sprint(value) != "of the progress" || n != at {
			t.Errorf("%s: %v after %d calls", name, value, n)
		}
	}
	target := t.TempDir() + "/made.gguf"
	convert := &ConvertOptions{Progress: func(done, total uint64) { panic("of the progress") }}
	if value := caught(func() { Convert(background, testModel, target, ConvertF16, convert) }); fmt.Sprint(value) != "of the progress" {
		t.Error(value)
	}
	engine := engineWith(t, nil)
	scoring := &ScoreOptions{Progress: convert.Progress}
	if value := caught(func() { engine.Score(background, [][]int32{{1, 2}}, scoring) }); fmt.Sprint(value) != "of the progress" {
		t.Error(value)
	}
}

func TestContextsThatHaveEnded(t *testing.T) {
	engine := engineWith(t, func(o *LoadOptions) { o.MaxSessions = 2 })
	ctx, stop := context.WithCancel(background)
	texts := [][]int32{{5}, {6, 7}, {8}, {9}, {5}}
	want, err := engine.Embed(background, texts, PoolingMean, 0)
	if err != nil {
		t.Fatal(err)
	}
	got, err := engine.Embed(ctx, texts, PoolingMean, 0)
	if err != nil || len(got) != len(want) {
		t.Fatal(len(got), err)
	}
	for i := range want {
		for j := range want[i] {
			if d := want[i][j] - got[i][j]; d > 1e-3 || d < -1e-3 {
				t.Fatalf("text %d: %g and %g", i, want[i][j], got[i][j])
			}
		}
	}
	_, err = engine.Embed(ctx, [][]int32{{5}, {6}, {7}, {}}, PoolingMean, 0)
	if e := wantStatus(t, err, StatusInvalidArgument); !strings.HasPrefix(e.Message, "text 3 has no tokens") {
		t.Error(e)
	}
	if none, err := engine.Embed(ctx, nil, PoolingMean, 0); err != nil || len(none) != 0 {
		t.Error(none, err)
	}
	stop()
	_, err = engine.Embed(ctx, texts, PoolingMean, 0)
	if wantStatus(t, err, StatusCancelled); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	_, err = engine.Score(ctx, texts, nil)
	if wantStatus(t, err, StatusCancelled); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	err = engine.Profile(ctx, ProfileOptions{})
	if wantStatus(t, err, StatusCancelled); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}
