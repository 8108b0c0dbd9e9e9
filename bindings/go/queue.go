package inlay

import (
	"context"
	"errors"
	"sync"
)

// queue is who waits until an engine has room for another session.
type queue struct {
	first chan struct{} // held by the one that may try; the others get it in their order
	freed changes       // it may have become possible: a session was freed, or the engine was closed
}

func newQueue() queue { return queue{first: make(chan struct{}, 1), freed: newChanges()} }

// changes tell all that wait for one.
type changes struct {
	mutex sync.Mutex
	next  chan struct{} // closed at the next one
}

func newChanges() changes { return changes{next: make(chan struct{})} }

func (c *changes) tell() {
	c.mutex.Lock()
	close(c.next)
	c.next = make(chan struct{})
	c.mutex.Unlock()
}

// wait is closed at the next change.
func (c *changes) wait() <-chan struct{} {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	return c.next
}

// WaitForSession is NewSession that waits while all sessions are in use, behind those that came before. When the context ends
// it returns an error that matches StatusCancelled and the context's error; when the engine is closed, one that matches
// ErrClosed.
func (e *Engine) WaitForSession(ctx context.Context, options *SessionOptions) (*Session, error) {
	const op = "wait for session"
	if e == nil {
		return e.NewSession(options)
	}
	q := &e.shared.queue
	select {
	case q.first <- struct{}{}:
		defer func() { <-q.first }()
	case <-ctx.Done():
		return nil, cancelled(op, ctx)
	}
	for ctx.Err() == nil {
		freed := q.freed.wait()
		session, err := e.NewSession(options)
		if !errors.Is(err, StatusSessionLimit) {
			return session, err
		}
		select {
		case <-freed:
		case <-ctx.Done():
		}
	}
	return nil, cancelled(op, ctx)
}
