package inlay

import (
	"errors"
	"fmt"
	"math"
	"sync"
	"syscall"
	"time"

	"inlay.dev/inlay/raw"
)

// ErrWoken is matched by the error of a Wait or Next that Queue.Wake has ended.
var ErrWoken = errors.New("inlay: woken")

// ErrClosed is matched by the error of a call on a closed engine, session, queue or constraint.
var ErrClosed = errors.New("inlay: closed")

// ErrNoLibrary is matched by the error of a call for which the library could not be loaded: there is none, or the program was
// built without cgo.
var ErrNoLibrary = errors.New("inlay: the library could not be loaded")

// ErrOtherABI is matched by the error of a call for which there is a library, of another major version of the ABI.
var ErrOtherABI = errors.New("inlay: the library is of another major version of the ABI")

// Error is what a failed call returns.
type Error struct {
	// Op is what was called, such as "load".
	Op string
	// Status says what kind of error it is; errors.Is matches it.
	Status Status
	// Message says in English what is wrong and where. Options and arguments have Go's names in it.
	Message string
	// NativeCode is the system's or the driver's error number, 0 if there is none.
	NativeCode int
	// Required and Available say what was needed and what there was, in the unit that the message names; both are 0
	// where that makes no sense.
	Required, Available uint64
	// Session is at fault where several were given, and Index its place among them; nil where it is no single one.
	Session *Session
	Index   int

	cause error
}

// Error is the message with what was called and the status.
func (e *Error) Error() string {
	return fmt.Sprintf("inlay: %s: %s (%s)", e.Op, e.Message, e.Status.String())
}

// Is tells if target is the error's status.
func (e *Error) Is(target error) bool {
	status, ok := target.(Status)
	return ok && status == e.Status
}

// Unwrap is what lies behind the error: ErrClosed, ErrNoLibrary, a context's error, what a reader returned, or the
// system's error number.
func (e *Error) Unwrap() error {
	if e.cause != nil {
		return e.cause
	}
	if e.NativeCode != 0 && (e.Status == StatusIO || e.Status == StatusNotFound) {
		return syscall.Errno(e.NativeCode)
	}
	return nil
}

func fail(op string, status Status, format string, arguments ...any) error {
	return &Error{Op: op, Status: status, Message: fmt.Sprintf(format, arguments...)}
}

func closedError(op, what string) error {
	return &Error{Op: op, Status: StatusInvalidState, Message: "the " + what + " is closed", cause: ErrClosed}
}

func newError(op string, status Status, err *raw.Error) error {
	if status == StatusDeviceLost {
		wakeUps.tell()
	}
	return &Error{Op: op, Status: status, Message: namesOf[op].inGo(err.Text()), NativeCode: int(err.NativeCode), Required: err.Required,
		Available: err.Available}
}

// withCause adds what made a call fail, if it is an error of the library.
func withCause(err, cause error) error {
	if e, ok := err.(*Error); ok && cause != nil {
		e.cause = cause
	}
	return err
}

var rawErrors = sync.Pool{New: func() any { return new(raw.Error) }}

// check runs a call of the library and turns its status into an error.
func check(op string, call func(err *raw.Error) Status) error {
	err := rawErrors.Get().(*raw.Error)
	defer rawErrors.Put(err)
	if status := call(err); status != StatusOK {
		return newError(op, status, err)
	}
	return nil
}

// readArray runs a call that fills an array and says how many there are, with larger arrays until all have room: what is read may grow
// or shrink from one call to the next.
func readArray[T any](op string, room int, call func(into *T, room uintptr, n *uintptr, err *raw.Error) Status) ([]T, error) {
	for {
		into, n := make([]T, room+1), uintptr(0) // One more, so that there is an address.
		err := check(op, func(err *raw.Error) Status { return call(&into[0], uintptr(room), &n, err) })
		if err == nil {
			return into[:n:n], nil
		}
		if statusOf(err) != StatusBufferTooSmall || n <= uintptr(room) {
			return nil, err
		}
		room = int(n)
	}
}

// readText is readArray of a text.
func readText(op string, room int, call func(buf *byte, room uintptr, n *uintptr, err *raw.Error) Status) (string, error) {
	text, err := readArray(op, room, call)
	return string(text), err
}

// numbers converts what a program gives as int to the library's int32 and keeps the first that does not fit.
type numbers struct {
	op  string
	err error
}

func (n *numbers) int32(name string, value int) int32 {
	if value < math.MinInt32 || value > math.MaxInt32 {
		if n.err == nil {
			n.err = fail(n.op, StatusInvalidArgument, "%s is %d, out of the range of 32 bits", name, value)
		}
		return 0
	}
	return int32(value)
}

// within is int32 for a value of which the library takes low to high.
func (n *numbers) within(name string, value, low, high int) int32 {
	if n.err == nil && (value < low || value > high) {
		n.err = fail(n.op, StatusInvalidArgument, "%s is %d, expected %d to %d", name, value, low, high)
	}
	return int32(value)
}

// microseconds are those of a duration; one that is shorter than a microsecond counts as one.
func (n *numbers) microseconds(name string, value time.Duration) uint64 {
	if value < 0 && n.err == nil {
		n.err = fail(n.op, StatusInvalidArgument, "%s is %s, expected 0 or more", name, value)
	}
	whole := uint64(value / time.Microsecond)
	if value%time.Microsecond > 0 {
		whole++
	}
	return whole
}

// bytesOf is the address of a string's bytes, never nil.
func bytesOf(text string) *byte {
	bytes := append([]byte(text), 0)
	return &bytes[0]
}

func tokensOf(tokens []int32) *int32 {
	if len(tokens) == 0 {
		return new(int32)
	}
	return &tokens[0]
}

// statusOf is the status of an error of the library, StatusOK of nil.
func statusOf(err error) Status {
	if e, ok := err.(*Error); ok {
		return e.Status
	}
	return StatusOK
}
