//go:build !cgo

package raw

import (
	"errors"
	"unsafe"
)

// WithoutCgo says why nothing works in this build.
const WithoutCgo = "this program was built without cgo (CGO_ENABLED=0, or for another system without a C compiler for it), " +
	"which package inlay needs to call the library"

// Built tells if the program was built with cgo.
const Built = false

func withoutCgo(err *Error) Status {
	if err != nil {
		*err = Error{Status: StatusUnsupported, MessageLen: uint32(len(WithoutCgo))}
		copy(err.Message[:], WithoutCgo)
	}
	return StatusUnsupported
}

// Open says that the program was built without cgo.
func Open(path string) error { return errors.New(WithoutCgo) }

// Path is empty.
func Path() string { return "" }

// Calloc gives memory of Go's heap.
func Calloc(size uintptr) unsafe.Pointer { return unsafe.Pointer(&make([]uint64, size/8+1)[0]) }

// Release does nothing.
func Release(p unsafe.Pointer) {}

// Control is what follows a call, of which there is none in this build.
type Control struct{}

// NewControl makes a control that does nothing.
func NewControl() Control { return Control{} }

func (Control) Free()                          {}
func (Control) Attach(*LoadParams)             {}
func (Control) AttachConvert(*ConvertParams)   {}
func (Control) AttachScore(*ScoreParams)       {}
func (Control) AttachEmbed(*EmbedParams)       {}
func (Control) AttachLog(*ConvertParams)       {}
func (Control) AttachLoadLog(*LoadParams)      {}
func (Control) AttachReader(*Reader)           {}
func (Control) AttachStateReader(*StateReader) {}
func (Control) AttachStateWriter(*StateWriter) {}
func (Control) Cancel()                        {}
func (Control) Progress() (done, total uint64) { return 0, 0 }
func (Control) Answer(int32)                   {}
func (Control) EndLog()                        {}
func (Control) Finish()                        {}

func (Control) NextMessage() (level LogLevel, text string, ok bool) { return 0, "", false }
func (Control) WaitMessage() (level LogLevel, text string, ok bool) { return 0, "", false }
func (Control) NextRead() (offset uint64, into []byte, ok bool)     { return 0, nil, false }

// Wakes tells which queues were woken; there are none in this build.
type Wakes struct{}

// Wake is a queue's part of them.
type Wake struct{}

// NewWakes makes one that does nothing.
func NewWakes() Wakes { return Wakes{} }

func (Wakes) Add(uint64) Wake                { return Wake{} }
func (Wakes) Next() (number uint64, ok bool) { return 0, false }
func (Wakes) End()                           {}
func (Wakes) Free()                          {}
func (Wake) Attach(*QueueParams)             {}
func (Wake) Remove()                         {}
