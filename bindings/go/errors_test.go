package inlay

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unsafe"

	"inlay.dev/inlay/raw"
)

func loadError(change func(*LoadOptions)) error {
	options := testOptions()
	change(&options)
	engine, err := Load(background, testModel, &options)
	if engine != nil {
		engine.Close()
	}
	return err
}

func TestInvalidArgument(t *testing.T) {
	e := wantStatus(t, loadError(func(o *LoadOptions) { o.Context = -1 }), StatusInvalidArgument)
	if !strings.Contains(e.Message, "Context is -1") || e.Op != "load" || !strings.Contains(e.Error(), "INVALID_ARGUMENT") {
		t.Errorf("the message is %q", e.Error())
	}
	wantStatus(t, loadError(func(o *LoadOptions) { o.Context = beyond }), StatusInvalidArgument)
	engine := engineWith(t, nil)
	_, err := engine.NewSession(&SessionOptions{Sampler: Sampler{Temperature: -1}})
	wantStatus(t, err, StatusInvalidArgument)
	_, err = engine.NewSession(&SessionOptions{Sampler: Sampler{Bias: []LogitBias{{Token: -5}}}})
	wantStatus(t, err, StatusInvalidArgument)
	_, err = engine.NewSession(&SessionOptions{Stop: make([]string, 1000)})
	wantStatus(t, err, StatusInvalidArgument)
	_, err = engine.NewSession(&SessionOptions{MaxTokens: beyond})
	wantStatus(t, err, StatusInvalidArgument)
	session := sessionOf(t, engine, nil)
	_, err = session.Prefill(background, []int32{-1})
	wantStatus(t, err, StatusInvalidArgument)
	wantStatus(t, session.Truncate(-1), StatusInvalidArgument)
	wantStatus(t, session.SetMaxTokens(-1), StatusInvalidArgument)
	wantStatus(t, session.SetMaxTokens(beyond), StatusInvalidArgument)
	_, err = session.GenerateTokens(background, []int32{1}, &GenerateOptions{MaxTokens: -1})
	wantStatus(t, err, StatusInvalidArgument)
	var noSession *Session
	_, err = noSession.Generate(background, "x", nil)
	wantStatus(t, err, StatusInvalidArgument)
	_, err = noSession.Info()
	wantStatus(t, err, StatusInvalidArgument)
	_, err = DecodeStep(background, nil, nil)
	wantStatus(t, err, StatusInvalidArgument)
	_, err = DecodeStep(background, []*Session{nil}, nil)
	wantStatus(t, err, StatusInvalidArgument)
	_, err = DecodeStep(background, []*Session{session, session}, nil)
	wantStatus(t, err, StatusInvalidArgument)
	_, err = LoadBytes(background, nil, nil)
	wantStatus(t, err, StatusInvalidArgument)
	_, err = LoadReader(background, nil, 1, nil)
	wantStatus(t, err, StatusInvalidArgument)
	_, err = Load(background, "", nil)
	wantStatus(t, err, StatusInvalidArgument)
	var noContext context.Context
	_, err = Load(noContext, testModel, nil)
	wantStatus(t, err, StatusInvalidArgument)
	_, err = engine.Ask(noContext, &Request{Text: "x"})
	wantStatus(t, err, StatusInvalidArgument)
	var none *Engine
	_, err = none.Stats()
	wantStatus(t, err, StatusInvalidArgument)
}

func TestNotFound(t *testing.T) {
	_, err := Load(background, filepath.Join(t.TempDir(), "no.gguf"), nil)
	wantStatus(t, err, StatusNotFound)
	if !errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrPermission) {
		t.Errorf("%v is not fs.ErrNotExist", err)
	}
	_, err = engineWith(t, nil).Meta("no.such.key")
	if e := wantStatus(t, err, StatusNotFound); !strings.Contains(e.Message, "no.such.key") {
		t.Error(e)
	}
}

func TestIO(t *testing.T) {
	err := Convert(background, testModel, filepath.Join(t.TempDir(), "absent", "made.gguf"), ConvertF16, nil)
	wantStatus(t, err, StatusIO)
}

func TestFormatAndUnsupported(t *testing.T) {
	model, err := os.ReadFile(testModel)
	if err != nil {
		t.Fatal(err)
	}
	options := testOptions()
	_, err = LoadBytes(background, model[:len(model)-1], &options)
	wantStatus(t, err, StatusFormat)
	other := bytes.Replace(model, []byte("general.architecture"), []byte("general.architectura"), 1)
	_, err = LoadBytes(background, other, &options)
	wantStatus(t, err, StatusFormat)
	dtype := KVF32
	if testDevice == DeviceReference {
		dtype = KVF16
	}
	wantStatus(t, loadError(func(o *LoadOptions) { o.KVDtype = dtype }), StatusUnsupported)
}

func TestMemoryAndDevices(t *testing.T) {
	want := StatusOutOfMemory
	if testDevice == DeviceCUDA {
		want = StatusDeviceOutOfMemory
	}
	wantStatus(t, loadError(func(o *LoadOptions) { o.KVBudget = 1 << 42 }), want)
	devices, err := Devices()
	if err != nil || len(devices) == 0 || devices[0].Kind != DeviceCPU || devices[0].Name == "" || devices[0].Units < 1 ||
		devices[0].TotalBytes < devices[0].FreeBytes {
		t.Fatal(devices, err)
	}
	wantStatus(t, loadError(func(o *LoadOptions) { o.Device, o.DeviceIndex = DeviceCUDA, 99 }), StatusNoDevice)
}

func TestFull(t *testing.T) {
	engine := engineWith(t, func(o *LoadOptions) { o.Context = 64 })
	session := sessionOf(t, engine, nil)
	_, err := session.Prefill(background, make([]int32, 65))
	if e := wantStatus(t, err, StatusContextFull); e.Required != 65 || e.Available != 64 {
		t.Errorf("required %d, available %d", e.Required, e.Available)
	}
	_, err = session.GenerateTokens(background, make([]int32, 65), nil)
	wantStatus(t, err, StatusContextFull)
	prefill(t, session, make([]int32, 64)...) // Nothing was kept of what did not fit.

	options := testOptions()
	options.MaxSessions = 1
	plan, err := MemoryPlan(testModel, &options)
	if err != nil {
		t.Fatal(err)
	}
	small := engineWith(t, func(o *LoadOptions) { o.MaxSessions, o.KVBudget = 2, plan.KVBytes })
	prefill(t, sessionOf(t, small, nil), make([]int32, 500)...)
	second := sessionOf(t, small, nil)
	n, err := second.Prefill(background, make([]int32, 500))
	wantStatus(t, err, StatusKVFull)
	if info, err := second.Info(); n != 0 || err != nil || info.NTokens != 0 {
		t.Error(n, info, err)
	}
	_, err = small.NewSession(nil)
	wantStatus(t, err, StatusSessionLimit)
}

func TestInvalidState(t *testing.T) {
	session := sessionOf(t, engineWith(t, nil), nil)
	event, err := session.Step()
	if wantStatus(t, err, StatusInvalidState); event.Status != StatusInvalidState || event.Token != -1 {
		t.Error(event)
	}
	_, err = session.Logits(nil)
	wantStatus(t, err, StatusInvalidState)
	if errors.Is(err, ErrClosed) {
		t.Error("an open session's error is that of a closed one")
	}
}

// A session in use says so; what may run beside it does.
func TestBusy(t *testing.T) {
	session := sessionOf(t, engineWith(t, nil), nil)
	prefill(t, session, 1)
	if err := session.begin("test"); err != nil {
		t.Fatal(err)
	}
	_, err := session.Step()
	wantStatus(t, err, StatusBusy)
	wantStatus(t, session.SetStop("x"), StatusBusy)
	wantStatus(t, session.SetMaxTokens(1), StatusBusy)
	_, err = session.Generate(background, "x", nil)
	wantStatus(t, err, StatusBusy)
	waiting := session.Continue(background)
	for i := 0; i < 2; i++ { // A generation that met it has ended with it.
		_, err = waiting.Next()
		wantStatus(t, err, StatusBusy)
	}
	wantStatus(t, session.SetSampler(Sampler{}), StatusBusy)
	wantStatus(t, session.Truncate(0), StatusBusy)
	_, err = session.Fork()
	wantStatus(t, err, StatusBusy)
	_, err = session.TakeText()
	wantStatus(t, err, StatusBusy)
	if _, err := session.Info(); err != nil {
		t.Error(err)
	}
	session.end()
	drawn(t, session, 1)
}

func TestBufferTooSmall(t *testing.T) {
	engine := engineWith(t, nil)
	handle, err := engine.join("test")
	if err != nil {
		t.Fatal(err)
	}
	defer engine.leave()
	var n uintptr
	err = check("tokenize", func(err *raw.Error) Status {
		return raw.Tokenize(handle, bytesOf("Once upon a time"), 16, 0, new(int32), 1, &n, err)
	})
	wantStatus(t, err, StatusBufferTooSmall)
	if tokens, err := engine.Tokenize("Once upon a time", 0); err != nil || len(tokens) != int(n) || n < 2 {
		t.Error(tokens, n, err)
	}
	// The layer asks again with room enough.
	calls := 0
	text, err := readText("plan text", 1, func(buf *byte, size uintptr, needed *uintptr, err *raw.Error) Status {
		calls++
		return raw.PlanText(handle, buf, size, needed, err)
	})
	if whole, _ := engine.PlanText(); err != nil || text != whole || calls != 2 || len(text) < 100 {
		t.Error(len(text), calls, err)
	}
}

// What is read may grow and shrink from one call to the next.
func TestReadArray(t *testing.T) {
	lengths, rooms := []uintptr{4, 6, 5}, []uintptr{}
	read := func(into *byte, room uintptr, n *uintptr, err *raw.Error) Status {
		rooms = append(rooms, room)
		*n, lengths = lengths[0], lengths[1:]
		if room < *n {
			return StatusBufferTooSmall
		}
		copy(unsafe.Slice(into, room), "abcdefgh"[:*n])
		return StatusOK
	}
	if got, err := readArray("save", 0, read); err != nil || string(got) != "abcde" || fmt.Sprint(rooms) != "[0 4 6]" {
		t.Errorf("%q %v %v", got, rooms, err)
	}
	lengths = []uintptr{0}
	if got, err := readArray("save", 0, read); err != nil || len(got) != 0 {
		t.Errorf("%q %v", got, err)
	}
	got, err := readArray("save", 0, func(_ *byte, room uintptr, n *uintptr, err *raw.Error) Status {
		if *n = 4; room == 0 {
			return StatusBufferTooSmall
		}
		return StatusBusy
	})
	if !errors.Is(err, StatusBusy) || got != nil {
		t.Errorf("%q %v", got, err)
	}
}

func TestStatusNames(t *testing.T) {
	if _, err := Version(); err != nil {
		t.Fatal(err)
	}
	for status := StatusOK; status <= StatusQueueFull+1; status++ {
		if status.String() != raw.StatusName(status) {
			t.Errorf("%d is %s here and %s in the library", int(status), status.String(), raw.StatusName(status))
		}
	}
	if StatusKVFull.Error() != "inlay: KV_FULL" {
		t.Error(StatusKVFull.Error())
	}
}
