// Command http serves a model: GET /?prompt=TEXT streams what it writes as server-sent events, data: {"text":"..."}. The last one,
// and no other, is of type end and has the finish reason, and the status if it was cut short. A prompt that is refused is answered
// by 400. The engine's thread computes for all clients together; those beyond its places wait. GET /stats is its statistics.
//
//	http MODEL [ADDRESS [BYTES]]     ADDRESS: 127.0.0.1:8080 unless given; port 0 is any free one. BYTES: of the KV pool
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
	"strconv"
	"syscall"
	"time"

	"inlay.dev/inlay"
)

func main() {
	if len(os.Args) < 2 || len(os.Args) > 4 {
		fmt.Fprintln(os.Stderr, "usage: http MODEL [ADDRESS [BYTES]]")
		os.Exit(2)
	}
	args := append(os.Args, []string{"127.0.0.1:8080", "0"}[len(os.Args)-2:]...)
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	bytes, err := strconv.ParseUint(args[3], 10, 64)
	fatal(err)
	engine, err := inlay.Load(ctx, args[1], &inlay.LoadOptions{MaxSessions: 8, KVBudget: bytes})
	fatal(err)
	defer engine.Close()
	fatal(engine.SetThread(&inlay.ThreadOptions{}))
	listener, err := net.Listen("tcp", args[2])
	fatal(err)
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

func fatal(err error) {
	if err != nil {
		log.Fatal("http: ", err)
	}
}

// stream hands the prompt over to the engine and writes the answer as it comes. Where the client leaves, the context ends it.
func stream(engine *inlay.Engine, w http.ResponseWriter, r *http.Request) {
	answer, err := engine.Ask(r.Context(), &inlay.Request{Text: r.FormValue("prompt"), Session: inlay.SessionOptions{MaxTokens: 200}})
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("Cache-Control", "no-cache")
	for event, err := answer.Next(); err == nil && event.Kind != inlay.RequestEventEnd; event, err = answer.Next() {
		text, _ := json.Marshal(event.Text)
		fmt.Fprintf(w, "data: {\"text\":%s}\n\n", text)
		w.(http.Flusher).Flush()
	}
	status, failure := inlay.StatusOK, new(inlay.Error)
	if errors.As(answer.Err(), &failure) {
		status = failure.Status
	}
	fmt.Fprintf(w, "event: end\ndata: {\"finish\":%q,\"status\":%q}\n\n", answer.Finish(), status.String())
}
