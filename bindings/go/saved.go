package inlay

import (
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
	var n uintptr
	err := check(op, func(err *raw.Error) Status { return raw.SessionSave(s.handle, nil, 0, &n, err) })
	if err != nil {
		return nil, err
	}
	state := make([]byte, n)
	err = check(op, func(err *raw.Error) Status { return raw.SessionSave(s.handle, unsafe.Pointer(&state[0]), n, &n, err) })
	if err != nil {
		return nil, err
	}
	return state, nil
}

// SaveTo writes what Save gives, which is in memory until all of it is written. A writer's error is returned as it is.
func (s *Session) SaveTo(w io.Writer) error {
	state, err := s.Save()
	if err != nil {
		return err
	}
	_, err = w.Write(state)
	return err
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
	var restored *raw.Session
	err = check(op, func(err *raw.Error) Status {
		return raw.SessionRestore(handle, unsafe.Pointer(&state[0]), uintptr(len(state)), &restored, err)
	})
	if err != nil {
		return nil, err
	}
	session := newSession(e.shared, restored)
	session.cancels.number = session.begun()
	return session, nil
}

// RestoreFrom is Restore of all that a reader gives. A reader's error is returned as it is.
func (e *Engine) RestoreFrom(r io.Reader) (*Session, error) {
	state, err := io.ReadAll(r)
	if err != nil {
		return nil, err
	}
	return e.Restore(state)
}
