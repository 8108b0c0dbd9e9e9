package inlay

import (
	"errors"
	"io"
	"unsafe"

	"inlay.dev/inlay/raw"
)

// Save gives all that the session is as bytes: tokens, keys and values, sampler, limits, text that is held back, constraint. A session
// that Restore makes of them goes on as this one would, and computes nothing again. Other sessions compute meanwhile. The error
// matches StatusInvalidState where the session takes part in a step in slices.
func (s *Session) Save() ([]byte, error) {
	const op = "save"
	if err := s.begin(op); err != nil {
		return nil, err
	}
	defer s.end()
	return readArray(op, 0, func(state *byte, room uintptr, n *uintptr, err *raw.Error) Status {
		return raw.SessionSave(s.handle, unsafe.Pointer(state), room, n, err)
	})
}

// SaveTo writes what Save gives, part by part. The writer is called on this goroutine, during this call only; an error that it returns
// is what the error wraps, and its panic goes on from this call.
func (s *Session) SaveTo(w io.Writer) error {
	const op = "save"
	if err := s.begin(op); err != nil {
		return err
	}
	defer s.end()
	return stream(op, func(control raw.Control, err *raw.Error) Status {
		writer := &raw.StateWriter{StructSize: uint32(unsafe.Sizeof(raw.StateWriter{}))}
		control.AttachStateWriter(writer)
		return raw.SessionSaveTo(s.handle, writer, err)
	}, func(_ uint64, state []byte) error {
		n, err := w.Write(state)
		if err == nil && n != len(state) {
			err = io.ErrShortWrite
		}
		return err
	})
}

// stream makes a call that passes bytes on, and takes or gives these by part.
func stream(op string, call func(control raw.Control, err *raw.Error) Status, part func(_ uint64, bytes []byte) error) error {
	control := raw.NewControl()
	defer control.Free()
	var failure, cause error
	returned := make(chan struct{})
	go func() {
		defer close(returned)
		failure = check(op, func(err *raw.Error) Status { return call(control, err) })
		control.Finish()
	}()
	func() {
		defer func() { <-returned }()
		cause = serveParts(control, part)
	}()
	if errors.Is(failure, StatusIO) {
		failure = withCause(failure, cause)
	}
	return failure
}

// Restore makes a session of what Save gave, here or in another process: of the same model, with weights and keys and values of the
// same types. Device, pool, threads and context may differ, as long as the tokens fit. Bytes of unknown origin do no harm: what is
// damaged or no saved session is an error that matches StatusFormat; what is of another model, type of keys and values, or version one
// that matches StatusUnsupported.
func (e *Engine) Restore(state []byte) (*Session, error) {
	const op = "restore"
	handle, err := e.join(op)
	if err != nil {
		return nil, err
	}
	defer e.leave()
	if len(state) == 0 {
		return nil, fail(op, StatusFormat, "there are no bytes of a saved session")
	}
	restored := new(*raw.Session)
	err = check(op, func(err *raw.Error) Status {
		return raw.SessionRestore(handle, unsafe.Pointer(&state[0]), uintptr(len(state)), restored, err)
	})
	if err != nil {
		return nil, err
	}
	return e.restored(*restored), nil
}

func (e *Engine) restored(handle *raw.Session) *Session {
	session := newSession(e.shared, handle)
	session.cancels.number = session.begun()
	return session
}

// RestoreFrom is Restore from a reader, part by part; what lies behind the saved session is not read. The reader is called on this
// goroutine, during this call only; an error that it returns is what the error wraps, and its panic goes on from this call.
func (e *Engine) RestoreFrom(r io.Reader) (*Session, error) {
	const op = "restore"
	handle, err := e.join(op)
	if err != nil {
		return nil, err
	}
	defer e.leave()
	restored := new(*raw.Session)
	err = stream(op, func(control raw.Control, err *raw.Error) Status {
		reader := &raw.StateReader{StructSize: uint32(unsafe.Sizeof(raw.StateReader{}))}
		control.AttachStateReader(reader)
		return raw.SessionRestoreFrom(handle, reader, restored, err)
	}, func(_ uint64, into []byte) error {
		_, err := io.ReadFull(r, into)
		return err
	})
	if err != nil {
		return nil, err
	}
	return e.restored(*restored), nil
}
