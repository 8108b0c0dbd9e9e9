package inlay

import (
	"context"
	"errors"
	"sync"
)

// queue is who waits until an engine has room for another session.
type queue struct {
	first chan struct{} // held by the one that may try; the others get it in their order
	mutex sync.Mutex
	freed chan struct{} // closed when it may have become possible
}

func newQueue() queue { return queue{first: make(chan struct{}, 1), freed: make(chan struct{})} }

// wake is called when a session was freed, or the engine was closed.
func (q *queue) wake() {
	q.mutex.Lock()
	close(q.freed)
	q.freed = make(chan struct{})
	q.mutex.Unlock()
}

func (q *queue) nextFreed() <-chan struct{} {
	q.mutex.Lock()
	defer q.mutex.Unlock()
	return q.freed
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
		freed := q.nextFreed()
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
