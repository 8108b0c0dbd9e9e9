package inlay

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

// tale is what an engine writes, greedily.
func tale(t *testing.T, engine *Engine) string {
	t.Helper()
	generation, err := sessionOf(t, engine, &SessionOptions{MaxTokens: 16}).Generate(background, "Once upon a time", nil)
	if err != nil {
		t.Fatal(err)
	}
	text, err := generation.Text()
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func TestLoadFromBytesAndReader(t *testing.T) {
	want, options := tale(t, engineWith(t, nil)), testOptions()
	if len(want) < 16 {
		t.Errorf("the tale is %q", want)
	}
	model, err := os.ReadFile(testModel)
	if err != nil {
		t.Fatal(err)
	}
	fromBytes, err := LoadBytes(background, model, &options)
	if err != nil {
		t.Fatal(err)
	}
	defer fromBytes.Close()
	for i := range model {
		model[i] = 0 // The bytes are not needed any more.
	}
	file, err := os.Open(testModel)
	if err != nil {
		t.Fatal(err)
	}
	fromReader, err := LoadReader(background, file, int64(len(model)), &options)
	if err != nil {
		t.Fatal(err)
	}
	defer fromReader.Close()
	file.Close()
	if a, b := tale(t, fromBytes), tale(t, fromReader); a != want || b != want {
		t.Errorf("%q, %q and %q", want, a, b)
	}
}

// failingReader fails at a read, in one of several ways.
type failingReader struct {
	file  io.ReaderAt
	reads int
	at    int
	fail  func(into []byte) (int, error)
}

func (r *failingReader) ReadAt(into []byte, offset int64) (int, error) {
	if r.reads++; r.reads == r.at {
		return r.fail(into)
	}
	return r.file.ReadAt(into, offset)
}

func TestReaderErrorsArrive(t *testing.T) {
	file, err := os.Open(testModel)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	size, _ := file.Seek(0, io.SeekEnd)
	options := testOptions()
	own := errors.New("the archive is torn")
	for at := 1; at <= 3; at++ {
		reader := &failingReader{file: file, at: at, fail: func([]byte) (int, error) { return 0, own }}
		_, err := LoadReader(background, reader, size, &options)
		if e := wantStatus(t, err, StatusIO); !errors.Is(err, own) || e.NativeCode != int(syscall.EIO) || reader.reads != at {
			t.Errorf("read %d of %d: %#v", at, reader.reads, e)
		}
	}
	_, err = LoadReader(background, &failingReader{file: file, at: 2, fail: func([]byte) (int, error) { return 0, syscall.ENOSPC }},
		size, &options)
	if e := wantStatus(t, err, StatusIO); e.NativeCode != int(syscall.ENOSPC) {
		t.Errorf("%#v", e)
	}
	_, err = LoadReader(background, &failingReader{file: file, at: 2, fail: func(into []byte) (int, error) { return len(into) - 1, io.EOF }},
		size, &options)
	if wantStatus(t, err, StatusIO); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Error(err)
	}
	for _, more := range []int{1, 1 << 20, -1 << 20} {
		read := func(into []byte) (int, error) { return len(into) + more, nil }
		_, err = LoadReader(background, &failingReader{file: file, at: 2, fail: read}, size, &options)
		if wantStatus(t, err, StatusIO); !strings.Contains(fmt.Sprint(errors.Unwrap(err)), "the reader says that it has read ") {
			t.Errorf("%d bytes more than there is room for: %v, of %v", more, err, errors.Unwrap(err))
		}
	}
}

// A reader's panic reaches the caller of LoadReader, and nothing of the load is left.
func TestReaderPanics(t *testing.T) {
	file, err := os.Open(testModel)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	size, _ := file.Seek(0, io.SeekEnd)
	before, options := runtime.NumGoroutine(), testOptions()
	func() {
		defer func() {
			if caught := recover(); fmt.Sprint(caught) != "of the reader" {
				t.Error(caught)
			}
		}()
		LoadReader(background, &failingReader{file: file, at: 3, fail: func([]byte) (int, error) { panic("of the reader") }},
			size, &options)
	}()
	for deadline := time.Now().Add(5 * time.Second); runtime.NumGoroutine() > before && time.Now().Before(deadline); {
		time.Sleep(time.Millisecond)
	}
	if n := runtime.NumGoroutine(); n > before {
		t.Errorf("%d goroutines, %d before", n, before)
	}
}

// slowReader makes a load last, so that there is time to cancel it.
type slowReader struct {
	file  io.ReaderAt
	reads atomic.Int32
	first chan struct{}
}

func (r *slowReader) ReadAt(into []byte, offset int64) (int, error) {
	if r.reads.Add(1) == 1 {
		close(r.first)
	}
	time.Sleep(20 * time.Millisecond)
	return r.file.ReadAt(into, offset)
}

func TestContextEndsALoad(t *testing.T) {
	file, err := os.Open(testModel)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	size, _ := file.Seek(0, io.SeekEnd)
	options := testOptions()
	var calls, done, total atomic.Uint64
	options.Progress = func(nDone, nTotal uint64) {
		calls.Add(1)
		done.Store(nDone)
		total.Store(nTotal)
	}

	whole := &slowReader{file: file, first: make(chan struct{})}
	engine, err := LoadReader(background, whole, size, &options)
	if err != nil {
		t.Fatal(err)
	}
	engine.Close()
	if calls.Load() < 3 || total.Load() == 0 || done.Load() != total.Load() {
		t.Errorf("progress was told %d times, at last %d of %d", calls.Load(), done.Load(), total.Load())
	}
	ctx, cancel := context.WithCancel(background)
	reader := &slowReader{file: file, first: make(chan struct{})}
	go func() {
		<-reader.first
		cancel()
	}()
	_, err = LoadReader(ctx, reader, size, &options)
	if wantStatus(t, err, StatusCancelled); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if reader.reads.Load() >= whole.reads.Load() {
		t.Errorf("%d reads in spite of the cancel, %d without", reader.reads.Load(), whole.reads.Load())
	}
	_, err = Load(ctx, testModel, &options) // The context has ended before.
	if wantStatus(t, err, StatusCancelled); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	late, stop := context.WithTimeout(background, 0)
	defer stop()
	if _, err = Load(late, testModel, &options); !errors.Is(err, context.DeadlineExceeded) {
		t.Error(err)
	}
}

func TestInspection(t *testing.T) {
	options := testOptions()
	plan, err := MemoryPlan(testModel, &options)
	if err != nil || plan.TotalBytes != plan.WeightBytes+plan.KVBytes+plan.ScratchBytes || plan.NContext != 512 {
		t.Fatalf("%+v %v", plan, err)
	}
	engine := engineWith(t, func(o *LoadOptions) { o.LogLevel = LogDebug })
	info := engine.Info()
	if info.WeightBytes == 0 || info.NContext != 512 || info.MaxSessions != 8 || info.Flags&EngineHasTokenizer == 0 {
		t.Errorf("%+v", info)
	}
	keys, err := engine.MetaKeys()
	if err != nil || !strings.Contains(strings.Join(keys, "\n"), "general.architecture") {
		t.Error(keys, err)
	}
	for _, key := range keys {
		if value, err := engine.Meta(key); err != nil || (value == "" && key == "general.architecture") {
			t.Error(key, value, err)
		}
	}
	const text = "Once upon a time, Grüße 🦊"
	tokens, err := engine.Tokenize(text, TokenizeNoBOSEOS)
	if err != nil {
		t.Fatal(err)
	}
	if back, err := engine.Detokenize(tokens, 0); err != nil || back != text {
		t.Error(back, err)
	}
	if empty, err := engine.Tokenize("", TokenizeNoBOSEOS); err != nil || len(empty) != 0 {
		t.Error(empty, err)
	}
	if empty, err := engine.Detokenize(nil, 0); err != nil || empty != "" {
		t.Error(empty, err)
	}
	latin1 := strings.Repeat("\xe9", 40) // each of them is U+FFFD, of three bytes and tokens
	if more, err := engine.Tokenize(latin1, TokenizeNoBOSEOS); err != nil || len(more) <= len(latin1)+2 {
		t.Error(more, err)
	} else if back, err := engine.Detokenize(more, 0); err != nil || back != strings.Repeat("\ufffd", 40) {
		t.Error(back, err)
	}
	token, err := engine.TokenInfo(tokens[0])
	if piece, _ := engine.Detokenize(tokens[:1], 0); err != nil || !strings.HasSuffix(string(token.Piece), piece) ||
		token.PieceBytes != len(token.Piece) || token.Kind != TokenNormal {
		t.Errorf("%+v %v", token, err)
	}
	_, err = engine.TokenInfo(int32(info.NVocab))
	wantStatus(t, err, StatusInvalidArgument)
	stats, err := engine.Stats()
	if err != nil || stats.LoadSeconds <= 0 || stats.NSessions != 0 {
		t.Errorf("%+v %v", stats, err)
	}
	if text, err := engine.PlanText(); err != nil || strings.Count(text, "\n") < 5 {
		t.Error(text, err)
	}
}

func TestLogsProfileAndCompare(t *testing.T) {
	engine := engineWith(t, func(o *LoadOptions) { o.LogLevel = LogDebug })
	logs, last, n := engine.Logs(), uint64(0), 0
	for {
		message, err := logs.Next()
		if err == io.EOF {
			break
		}
		if err != nil || message.Text == "" || message.Number <= last || message.Level < LogError || message.Level > LogDebug {
			t.Fatalf("%+v %v", message, err)
		}
		last = message.Number
		n++
	}
	if n == 0 {
		t.Error("the load left no message")
	}
	if _, err := logs.Next(); err != io.EOF {
		t.Error(err)
	}
	_, err := engine.ProfileText(ProfileKinds)
	wantStatus(t, err, StatusNotFound)
	if err := engine.Profile(background, ProfileOptions{Repetitions: 2}); err != nil {
		t.Fatal(err)
	}
	for _, form := range []ProfileForm{ProfileKinds, ProfileTimeline, ProfileTrace} {
		if text, err := engine.ProfileText(form); err != nil || len(text) < 100 {
			t.Error(form, text, err)
		}
	}
	text, first, err := Compare(engine, engine, []int32{1, 2, 3}, 1e-9)
	if err != nil || first != -1 || len(text) < 100 {
		t.Error(text, first, err)
	}
	// Another type of the keys and values is another result, somewhere.
	reference := engineWith(t, func(o *LoadOptions) { o.Device = DeviceReference })
	if testDevice != DeviceReference {
		if _, first, err = Compare(engine, reference, []int32{1, 2, 3}, 1e-30); err != nil || first < 0 {
			t.Error(first, err)
		}
	}
}

func TestConvert(t *testing.T) {
	target := filepath.Join(t.TempDir(), "made.gguf")
	var done, total atomic.Uint64
	options := &ConvertOptions{Threads: 2, Progress: func(nDone, nTotal uint64) {
		done.Store(nDone)
		total.Store(nTotal)
	}}
	if err := Convert(background, testModel, target, ConvertQ80, options); err != nil {
		t.Fatal(err)
	}
	if total.Load() == 0 || done.Load() != total.Load() {
		t.Errorf("%d of %d at the end", done.Load(), total.Load())
	}
	plan, err := MemoryPlan(target, nil)
	if err != nil || plan.WeightBytes == 0 {
		t.Fatal(plan, err)
	}
	if err := Convert(background, "no/such/model.gguf", target, ConvertF16, nil); !errors.Is(err, StatusNotFound) {
		t.Fatal(err)
	}
	if err := Convert(background, testModel, target, ConvertType(99), nil); !errors.Is(err, StatusInvalidArgument) {
		t.Fatal(err)
	}
}

func TestLogOfAConversion(t *testing.T) {
	folder := t.TempDir()
	files, err := filepath.Glob(filepath.Join(filepath.Dir(testModel), "hf", "*"))
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, file := range files {
		content, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		changed := strings.Replace(string(content), `"normalizer": null`, `"normalizer": {"type": "NFC"}`, 1)
		if err := os.WriteFile(filepath.Join(folder, filepath.Base(file)), []byte(changed), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	messages := func(source string) (found []LogMessage) {
		options := &ConvertOptions{Log: func(message LogMessage) { found = append(found, message) }}
		if err := Convert(background, source, filepath.Join(folder, "made.gguf"), ConvertQ80, options); err != nil {
			t.Fatal(err)
		}
		return found
	}
	said := messages(folder)
	if len(said) != 1 || said[0].Number != 1 || said[0].Level != LogWarning || !strings.Contains(said[0].Text, "normalizer NFC") {
		t.Error(said)
	}
	if none := messages(testModel); len(none) != 0 {
		t.Error(none)
	}
}

func TestPreTokenizer(t *testing.T) {
	tokens := func(name string) []int32 {
		found, err := engineWith(t, func(options *LoadOptions) { options.PreTokenizer = name }).Tokenize("The end.\n\nThen", 0)
		if err != nil {
			t.Fatal(err)
		}
		return found
	}
	if reflect.DeepEqual(tokens("gpt-2"), tokens("")) {
		t.Error("the name changes nothing")
	}
	options := testOptions()
	options.PreTokenizer = "gpt-99"
	if _, err := Load(background, testModel, &options); !errors.Is(err, StatusInvalidArgument) || !strings.Contains(err.Error(), "'gpt-99'") {
		t.Error(err)
	}
}

func TestTuning(t *testing.T) {
	options := testOptions()
	options.Device, options.Tuning = DeviceCPU, "cublas=0, isa=generic"
	engine, err := Load(background, testModel, &options)
	if err != nil {
		t.Fatal(err)
	}
	var logged string
	logs := engine.Logs()
	for message, err := logs.Next(); err == nil; message, err = logs.Next() {
		logged += message.Text
	}
	if !strings.Contains(logged, "tuning: cublas changes nothing") {
		t.Error(logged)
	}
	engine.Close()
	for text, says := range map[string]string{"speed=9": "'speed'", "isa=fast": "generic, avx2 or avx512", "isa": "key=value"} {
		options.Tuning = text
		if _, err := Load(background, testModel, &options); !errors.Is(err, StatusInvalidArgument) || !strings.Contains(err.Error(), says) {
			t.Error(text, err)
		}
	}
}

func TestContextEndsAConversion(t *testing.T) {
	target := filepath.Join(t.TempDir(), "made.gguf")
	ctx, cancel := context.WithCancel(background)
	var err error
	for delay := time.Millisecond; ; delay *= 2 {
		ctx, cancel = context.WithTimeout(background, delay)
		err = Convert(ctx, testModel, target, ConvertF32, nil)
		cancel()
		if err == nil {
			break
		}
		if wantStatus(t, err, StatusCancelled); !errors.Is(err, context.DeadlineExceeded) {
			t.Error(err)
		}
		if left, _ := os.ReadDir(filepath.Dir(target)); len(left) != 0 {
			t.Error(left, "is left after", delay)
		}
	}
	ctx, cancel = context.WithCancel(background)
	cancel()
	err = Convert(ctx, testModel, target, ConvertF32, nil) // The context has ended before.
	if wantStatus(t, err, StatusCancelled); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

func TestEmbed(t *testing.T) {
	engine := engineWith(t, nil)
	text := []int32{737, 937, 258, 480}
	vectors, err := engine.Embed(background, [][]int32{text, {5}, text}, PoolingMean, EmbedNormalize)
	if err != nil || len(vectors) != 3 || len(vectors[0]) != int(engine.Info().DModel) {
		t.Fatal(len(vectors), err)
	}
	product := func(a, b []float32) (sum float64) {
		for i := range a {
			sum += float64(a[i]) * float64(b[i])
		}
		return sum
	}
	if math.Abs(product(vectors[0], vectors[2])-1) > 1e-4 || product(vectors[0], vectors[1]) > 0.99 {
		t.Error(product(vectors[0], vectors[2]), product(vectors[0], vectors[1]))
	}
	if raw, err := engine.Embed(background, [][]int32{text}, PoolingMean, 0); err != nil || math.Abs(product(raw[0], raw[0])-1) < 0.01 {
		t.Error(err)
	}
	prompt := "Once upon a time"
	tokens, _ := engine.Tokenize(prompt, 0)
	of, err := engine.EmbedTexts(background, []string{prompt, "x"}, PoolingMean, EmbedNormalize)
	want, _ := engine.Embed(background, [][]int32{tokens}, PoolingMean, EmbedNormalize)
	if err != nil || len(of) != 2 || math.Abs(product(of[0], want[0])-1) > 1e-4 || product(of[0], of[1]) > 0.99 {
		t.Error(err)
	}
	if none, err := engine.EmbedTexts(background, nil, PoolingMean, 0); err != nil || len(none) != 0 {
		t.Error(none, err)
	}
	if none, err := engine.Embed(background, nil, PoolingMean, 0); err != nil || len(none) != 0 {
		t.Error(none, err)
	}
	if _, err := engine.Embed(background, [][]int32{{}}, PoolingMean, 0); !errors.Is(err, StatusInvalidArgument) {
		t.Error(err)
	}
	if _, err := engine.Embed(background, [][]int32{text}, PoolingDefault, 0); !errors.Is(err, StatusUnsupported) {
		t.Error(err)
	}
}

func TestExplain(t *testing.T) {
	text, devices, err := Explain(testModel, nil)
	if err != nil || devices < 2 || !strings.Contains(text, "would run on") {
		t.Error(text, devices, err)
	}
	text, devices, err = ExplainJSON(testModel, nil)
	var facts struct {
		Model   struct{ Family string }
		Devices []struct{ Error *string }
	}
	if err != nil || json.Unmarshal([]byte(text), &facts) != nil || facts.Model.Family != "llama" || len(facts.Devices) <= devices-1 {
		t.Error(text, devices, err)
	}
	if _, _, err := Explain("no/such/model.gguf", nil); !errors.Is(err, StatusNotFound) {
		t.Error(err)
	}
}
