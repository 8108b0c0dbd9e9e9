// Command http serves a model: GET /?prompt=TEXT streams what it writes as server-sent events, data: {"text":"..."}. The last one,
// and no other, is of type end and has the finish reason, and the status if it was cut short. A prompt that is refused is answered
// by 400. GET /stats is the engine's statistics.
//
//	http MODEL [ADDRESS]     ADDRESS: 127.0.0.1:8080 unless given; port 0 is any free one
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log"
	"net"
	"net/http"
	"os"
	"os/signal"
	"syscall"
	"time"

	"inlay.dev/inlay"
)

func main() {
	if len(os.Args) < 2 || len(os.Args) > 3 {
		fmt.Fprintln(os.Stderr, "usage: http MODEL [ADDRESS]")
		os.Exit(2)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	engine, err := inlay.Load(ctx, os.Args[1], &inlay.LoadOptions{MaxSessions: 8})
	if err != nil {
		log.Fatal("http: ", err)
	}
	defer engine.Close()
	listener, err := net.Listen("tcp", append(os.Args, "127.0.0.1:8080")[2])
	if err != nil {
		log.Fatal("http: ", err)
	}
	http.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) { stream(engine, w, r) })
	http.HandleFunc("/stats", func(w http.ResponseWriter, _ *http.Request) {
		stats, _ := engine.Stats() // fails only after Close
		_ = json.NewEncoder(w).Encode(stats)
	})
	server := http.Server{ReadHeaderTimeout: 10 * time.Second, WriteTimeout: 5 * time.Minute} // who stops reading is given up
	server.BaseContext = func(net.Listener) context.Context { return ctx }                    // which ends all answers
	go server.Serve(listener)
	fmt.Printf("listening on http://%s\n", listener.Addr())
	<-ctx.Done()
	_ = server.Shutdown(context.Background())
}

// stream answers in a session of its own, or waits for a free one. The answers of all clients share their decode steps.
func stream(engine *inlay.Engine, w http.ResponseWriter, r *http.Request) {
	var answer *inlay.Generation
	session, err := engine.WaitForSession(r.Context(), &inlay.SessionOptions{MaxTokens: 200})
	if err == nil {
		defer session.Close()
		answer, err = session.Generate(r.Context(), r.FormValue("prompt"), nil)
	}
	if err != nil {
		isWrong := errors.Is(err, inlay.StatusContextFull) || errors.Is(err, inlay.StatusInvalidArgument)
		http.Error(w, err.Error(), map[bool]int{true: http.StatusBadRequest, false: http.StatusServiceUnavailable}[isWrong])
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("Cache-Control", "no-cache")
	status := inlay.StatusOK
	for answer.Finish() == inlay.FinishNone {
		event, err := answer.Next()
		if err != nil { // of the library, as all but io.EOF
			status = err.(*inlay.Error).Status
			break
		}
		text, _ := json.Marshal(event.Text)
		fmt.Fprintf(w, "data: {\"text\":%s}\n\n", text)
		w.(http.Flusher).Flush()
	}
	fmt.Fprintf(w, "event: end\ndata: {\"finish\":%q,\"status\":%q}\n\n", answer.Finish(), status.String())
}
