// Command http serves a model: GET /?prompt=TEXT streams what it writes as server-sent events. All answers share the decode steps.
//
//	http [-address 127.0.0.1:8080] [-sessions 8] [-tokens 200] MODEL
//
// There are at most so many answers at a time, each of so many tokens; further clients wait. An answer is events
// data: {"text":"..."}, and at last one of type end, data: {"finish":"...","status":"..."}. GET /stats is the engine's statistics.
package main

import (
	"context"
	"flag"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/signal"
	"syscall"
	"time"

	"inlay.dev/inlay"
)

func main() {
	address := flag.String("address", "127.0.0.1:8080", "where to listen; port 0 is any free one")
	sessions := flag.Int("sessions", 8, "the most answers at a time")
	tokens := flag.Int("tokens", 200, "the longest answer")
	flag.Parse()
	if flag.NArg() != 1 || *sessions < 1 || *tokens < 1 {
		fmt.Fprintln(os.Stderr, "usage: http [-address 127.0.0.1:8080] [-sessions 8] [-tokens 200] MODEL")
		os.Exit(2)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := serve(ctx, flag.Arg(0), *address, *sessions, *tokens); err != nil {
		fmt.Fprintln(os.Stderr, "http:", err)
		os.Exit(1)
	}
}

func serve(ctx context.Context, model, address string, sessions, tokens int) error {
	engine, err := inlay.Load(ctx, model, &inlay.LoadOptions{MaxSessions: sessions})
	if err != nil {
		return err
	}
	defer engine.Close()
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return err
	}
	s := &streamer{engine: engine, tokens: tokens, places: make(chan struct{}, sessions), begun: make(chan answer, sessions)}
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
