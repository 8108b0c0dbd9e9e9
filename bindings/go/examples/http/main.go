// Command http serves a model: GET /?prompt=TEXT streams what it writes as server-sent events. All answers share the decode steps.
//
//	http MODEL [ADDRESS]
//
// The address is 127.0.0.1:8080 unless given; port 0 is any free one. There are at most eight answers at a time, each of at most
// 200 tokens; further clients wait. An answer is events data: {"text":"..."}, and at last one of type end, data:
// {"finish":"...","status":"..."}. GET /stats is the engine's statistics.
package main

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/signal"
	"syscall"
	"time"

	"inlay.dev/inlay"
)

const sessions, maxTokens = 8, 200

func main() {
	address := "127.0.0.1:8080"
	if len(os.Args) == 3 {
		address = os.Args[2]
	}
	if len(os.Args) < 2 || len(os.Args) > 3 {
		fmt.Fprintln(os.Stderr, "usage: http MODEL [ADDRESS]")
		os.Exit(2)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := serve(ctx, os.Args[1], address); err != nil {
		fmt.Fprintln(os.Stderr, "http:", err)
		os.Exit(1)
	}
}

func serve(ctx context.Context, model, address string) error {
	engine, err := inlay.Load(ctx, model, &inlay.LoadOptions{MaxSessions: sessions})
	if err != nil {
		return err
	}
	defer engine.Close()
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return err
	}
	s := &streamer{engine: engine, places: make(chan struct{}, sessions), begun: make(chan answer, sessions)}
	go s.decode()
	http.HandleFunc("/", s.stream)
	http.HandleFunc("/stats", s.stats)
	// The context ends all answers. A client that does not read its answer is given up after some time.
	server := http.Server{BaseContext: func(net.Listener) context.Context { return ctx },
		ReadHeaderTimeout: 10 * time.Second, WriteTimeout: 5 * time.Minute}
	failed := make(chan error, 1)
	go func() { failed <- server.Serve(listener) }()
	fmt.Printf("listening on http://%s\n", listener.Addr())
	select {
	case err := <-failed:
		return err
	case <-ctx.Done():
	}
	soon, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	return server.Shutdown(soon)
}
