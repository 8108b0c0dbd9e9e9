package inlay

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"os/exec"
	"testing"
)

// The tests run on the library, model and device that the environment names, so that the test program can be carried to
// another machine: INLAY_LIBRARY, INLAY_TEST_MODEL, INLAY_TEST_DEVICE (cpu, cuda or reference).

var (
	testModel  = os.Getenv("INLAY_TEST_MODEL")
	testDevice = DeviceCPU
	background = context.Background()
	// beyond is a count that the library cannot take: more than 32 bits hold, or, where an int has no more, less than none.
	beyond = math.MinInt
)

func init() {
	if math.MaxInt > math.MaxInt32 {
		beyond = math.MaxInt
	}
}

func TestMain(m *testing.M) {
	if os.Getenv("INLAY_LIBRARY") == "" && os.Getenv(childVariable) == "" || testModel == "" {
		fmt.Println("the tests need INLAY_LIBRARY, the path of the library, and INLAY_TEST_MODEL, that of a model")
		os.Exit(1)
	}
	switch name := os.Getenv("INLAY_TEST_DEVICE"); name {
	case "", "cpu":
	case "cuda":
		testDevice = DeviceCUDA
	case "reference":
		testDevice = DeviceReference
	default:
		fmt.Printf("INLAY_TEST_DEVICE is %s, expected cpu, cuda or reference\n", name)
		os.Exit(1)
	}
	os.Exit(m.Run())
}

// childVariable is set where a test runs again in a process of its own, because a process loads one library.
const childVariable = "INLAY_TEST_CHILD"

// ownVariable is the path of the library that is tested, in such a process.
const ownVariable = "INLAY_TEST_OWN_LIBRARY"

// inChild runs the calling test in a process of its own with another library, and tells if this is that process.
func inChild(t *testing.T, library string) bool {
	t.Helper()
	if os.Getenv(childVariable) == t.Name() {
		return true
	}
	command := exec.Command(os.Args[0], "-test.run", "^"+t.Name()+"$")
	for _, variable := range os.Environ() {
		if len(variable) < 14 || variable[:14] != "INLAY_LIBRARY=" {
			command.Env = append(command.Env, variable)
		}
	}
	command.Env = append(command.Env, childVariable+"="+t.Name(), ownVariable+"="+os.Getenv("INLAY_LIBRARY"))
	if library != "" {
		command.Env = append(command.Env, "INLAY_LIBRARY="+library)
	}
	if output, err := command.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, output)
	}
	return false
}

func testOptions() LoadOptions { return LoadOptions{Device: testDevice, Context: 512, Threads: 2} }

// engineWith loads the model; the test's end closes it.
func engineWith(t testing.TB, change func(*LoadOptions)) *Engine {
	t.Helper()
	options := testOptions()
	if change != nil {
		change(&options)
	}
	engine, err := Load(background, testModel, &options)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { engine.Close() })
	return engine
}

func sessionOf(t testing.TB, engine *Engine, options *SessionOptions) *Session {
	t.Helper()
	session, err := engine.NewSession(options)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { session.Close() })
	return session
}

func prefill(t testing.TB, session *Session, tokens ...int32) {
	t.Helper()
	if n, err := session.Prefill(background, tokens); err != nil || n != len(tokens) {
		t.Fatal(n, err)
	}
}

// drawn are the next n tokens.
func drawn(t testing.TB, session *Session, n int) []int32 {
	t.Helper()
	var tokens []int32
	for i := 0; i < n; i++ {
		event, err := session.Step()
		if err != nil {
			t.Fatal(err)
		}
		tokens = append(tokens, event.Token)
	}
	return tokens
}

func same(a, b []int32) bool { return fmt.Sprint(a) == fmt.Sprint(b) }

// wantStatus fails unless the error is the library's with that status and says something.
func wantStatus(t testing.TB, err error, want Status) *Error {
	t.Helper()
	var e *Error
	if !errors.As(err, &e) || !errors.Is(err, want) || errors.Is(err, want+1) || e.Message == "" {
		t.Fatalf("error is %v, expected %s", err, want.String())
	}
	return e
}

func wantClosed(t testing.TB, err error) {
	t.Helper()
	if !errors.Is(err, ErrClosed) {
		t.Errorf("error is %v, expected that of a closed object", err)
	}
}
