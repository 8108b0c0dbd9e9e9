package main

import (
	"context"
	"log"

	"inlay.dev/inlay"
)

type streamer struct {
	engine *inlay.Engine
	places chan struct{} // as many as there may be sessions
	begun  chan answer   // for decode
}

// answer is a session, and its events, for all of which the channel has room: a slow client keeps no other one waiting.
type answer struct {
	session *inlay.Session
	events  chan inlay.Event
}

// decode steps all answers together, in one goroutine. It closes an answer's channel when it is done with the session.
func (s *streamer) decode() {
	answers := map[*inlay.Session]chan inlay.Event{}
	var sessions []*inlay.Session
	var events []inlay.Event
	for {
		for len(sessions) == 0 || len(s.begun) > 0 {
			next := <-s.begun
			answers[next.session], sessions = next.events, append(sessions, next.session)
		}
		var err error
		if events, err = inlay.DecodeStep(context.Background(), sessions, events); len(events) == 0 {
			log.Println(err) // The step was refused as a whole: all these answers end without an event "end".
			for session, channel := range answers {
				close(channel)
				delete(answers, session)
			}
		}
		sessions = sessions[:0]
		for _, event := range events {
			answers[event.Session] <- event
			if event.Finish == inlay.FinishNone && event.Status == inlay.StatusOK {
				sessions = append(sessions, event.Session)
			} else {
				close(answers[event.Session])
				delete(answers, event.Session)
			}
		}
	}
}
