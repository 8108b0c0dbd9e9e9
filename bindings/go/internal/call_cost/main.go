// Command call_cost prints what a call costs, in nanoseconds: the median of blocks of calls, or of single ones for
// decode_step.
//
//	call_cost LIBRARY MODEL
package main

import (
	"context"
	"fmt"
	"os"
	"sort"
	"time"

	"inlay.dev/inlay"
	"inlay.dev/inlay/raw"
)

const (
	blocks = 100
	steps  = 500
)

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: call_cost LIBRARY MODEL")
		os.Exit(2)
	}
	if err := run(os.Args[1], os.Args[2]); err != nil {
		fmt.Fprintln(os.Stderr, "call_cost:", err)
		os.Exit(1)
	}
}

// measure prints the median of count runs of calls calls each.
func measure(name string, count, calls int, call func() error) error {
	times := make([]time.Duration, count)
	for i := range times {
		start := time.Now()
		for j := 0; j < calls; j++ {
			if err := call(); err != nil {
				return err
			}
		}
		times[i] = time.Since(start)
	}
	sort.Slice(times, func(i, j int) bool { return times[i] < times[j] })
	fmt.Printf("%s %.1f\n", name, float64(times[count/2].Nanoseconds())/float64(calls))
	return nil
}

func run(library, model string) error {
	if err := inlay.OpenLibrary(library); err != nil {
		return err
	}
	ctx := context.Background()
	engine, err := inlay.Load(ctx, model, &inlay.LoadOptions{Device: inlay.DeviceCPU, Context: 512, Threads: 1})
	if err != nil {
		return err
	}
	defer engine.Close()
	session, err := engine.NewSession(&inlay.SessionOptions{Flags: inlay.SessionIgnoreEndOfGeneration})
	if err != nil {
		return err
	}
	defer session.Close()
	if _, err := session.Generate(ctx, "Once", nil); err != nil {
		return err
	}
	err = measure("abi_version", blocks, 10000, func() error {
		raw.ABIVersion()
		return nil
	})
	if err != nil {
		return err
	}
	err = measure("session_get_info", blocks, 1000, func() error {
		_, err := session.Info()
		return err
	})
	if err != nil {
		return err
	}
	return measure("decode_step", steps, 1, func() error {
		_, err := session.Step()
		return err
	})
}
