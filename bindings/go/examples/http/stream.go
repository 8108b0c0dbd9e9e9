package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"

	"inlay.dev/inlay"
)

func (s *streamer) stream(w http.ResponseWriter, r *http.Request) {
	select {
	case s.places <- struct{}{}:
		defer func() { <-s.places }()
	case <-r.Context().Done():
		return // the client left before it was its turn
	}
	session, err := s.engine.NewSession(&inlay.SessionOptions{MaxTokens: maxTokens})
	if err == nil {
		defer session.Close()
		_, err = session.PrefillText(r.Context(), r.FormValue("prompt"), nil)
	}
	if err != nil {
		code := http.StatusServiceUnavailable
		if errors.Is(err, inlay.StatusContextFull) || errors.Is(err, inlay.StatusInvalidArgument) {
			code = http.StatusBadRequest
		}
		http.Error(w, err.Error(), code)
		return
	}
	events := make(chan inlay.Event, maxTokens+1)
	s.begun <- answer{session, events}
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("Cache-Control", "no-cache")
	for left := r.Context().Done(); ; {
		select {
		case <-left: // The next step is the session's last one, so decode soon lets go of it.
			session.Cancel()
			left = nil
		case event, more := <-events:
			if !more {
				return
			}
			send(w, event)
		}
	}
}

func send(w http.ResponseWriter, event inlay.Event) {
	if event.Text != "" {
		text, _ := json.Marshal(event.Text)
		fmt.Fprintf(w, "data: {\"text\":%s}\n\n", text)
	}
	if event.Finish != inlay.FinishNone || event.Status != inlay.StatusOK {
		fmt.Fprintf(w, "event: end\ndata: {\"finish\":%q,\"status\":%q}\n\n", event.Finish, event.Status.String())
	}
	w.(http.Flusher).Flush()
}

func (s *streamer) stats(w http.ResponseWriter, _ *http.Request) {
	stats, err := s.engine.Stats()
	if err != nil {
		http.Error(w, err.Error(), http.StatusServiceUnavailable)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(stats) // A client that has left has no use for the error.
}
