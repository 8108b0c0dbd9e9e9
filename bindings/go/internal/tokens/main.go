// Command tokens prints the token ids that a model draws for each of a file's cases: one session after the other, then
// all sessions together.
//
//	tokens LIBRARY MODEL DEVICE CASES
//
// A case is a line: name, temperature, seed, most tokens and prompt, with tabs between.
package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"

	"inlay.dev/inlay"
)

type testCase struct {
	name    string
	options inlay.SessionOptions
	prompt  string
}

var devices = map[string]inlay.DeviceKind{"cpu": inlay.DeviceCPU, "cuda": inlay.DeviceCUDA, "reference": inlay.DeviceReference}

func main() {
	if len(os.Args) != 5 {
		fmt.Fprintln(os.Stderr, "usage: tokens LIBRARY MODEL DEVICE CASES")
		os.Exit(2)
	}
	out := bufio.NewWriter(os.Stdout)
	if err := run(out, os.Args[1], os.Args[2], os.Args[3], os.Args[4]); err != nil {
		fmt.Fprintln(os.Stderr, "tokens:", err)
		os.Exit(1)
	}
	out.Flush()
}

func readCases(path string) ([]testCase, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var cases []testCase
	for i, line := range strings.Split(strings.TrimSuffix(string(text), "\n"), "\n") {
		fields := strings.SplitN(line, "\t", 5)
		if len(fields) != 5 {
			return nil, fmt.Errorf("%s:%d: expected 5 fields", path, i+1)
		}
		c := testCase{name: fields[0], prompt: fields[4]}
		temperature, err := strconv.ParseFloat(fields[1], 32)
		if err != nil {
			return nil, err
		}
		c.options.Sampler.Temperature = float32(temperature)
		if c.options.Sampler.Seed, err = strconv.ParseUint(fields[2], 10, 64); err != nil {
			return nil, err
		}
		if c.options.MaxTokens, err = strconv.Atoi(fields[3]); err != nil {
			return nil, err
		}
		cases = append(cases, c)
	}
	return cases, nil
}

func run(out io.Writer, library, model, deviceName, casesPath string) error {
	device, ok := devices[deviceName]
	if !ok {
		return fmt.Errorf("DEVICE must be cpu, cuda or reference")
	}
	cases, err := readCases(casesPath)
	if err != nil {
		return err
	}
	if err := inlay.OpenLibrary(library); err != nil {
		return err
	}
	ctx := context.Background()
	engine, err := inlay.Load(ctx, model, &inlay.LoadOptions{Device: device, Context: 512, Threads: 2})
	if err != nil {
		return err
	}
	defer engine.Close()
	for i := range cases {
		if err := alone(ctx, out, engine, &cases[i]); err != nil {
			return err
		}
	}
	fmt.Fprintln(out, "together:")
	return together(ctx, out, engine, cases)
}

func begin(ctx context.Context, engine *inlay.Engine, c *testCase) (*inlay.Session, *inlay.Generation, error) {
	session, err := engine.NewSession(&c.options)
	if err != nil {
		return nil, nil, err
	}
	generation, err := session.Generate(ctx, c.prompt, nil)
	if err != nil {
		session.Close()
		return nil, nil, err
	}
	return session, generation, nil
}

func alone(ctx context.Context, out io.Writer, engine *inlay.Engine, c *testCase) error {
	session, generation, err := begin(ctx, engine, c)
	if err != nil {
		return err
	}
	defer session.Close()
	fmt.Fprint(out, c.name)
	for {
		event, err := generation.Next()
		if err == io.EOF {
			fmt.Fprintln(out)
			return nil
		}
		if err != nil {
			return err
		}
		if event.Token >= 0 {
			fmt.Fprint(out, " ", event.Token)
		}
	}
}

func together(ctx context.Context, out io.Writer, engine *inlay.Engine, cases []testCase) error {
	lines := make(map[*inlay.Session][]string)
	var all, active []*inlay.Session
	for i := range cases {
		session, _, err := begin(ctx, engine, &cases[i])
		if err != nil {
			return err
		}
		defer session.Close()
		lines[session] = []string{cases[i].name}
		all, active = append(all, session), append(active, session)
	}
	var events []inlay.Event
	for len(active) > 0 {
		var err error
		if events, err = inlay.DecodeStep(ctx, active, events); err != nil {
			return err
		}
		active = active[:0]
		for _, event := range events {
			if event.Token >= 0 {
				lines[event.Session] = append(lines[event.Session], strconv.Itoa(int(event.Token)))
			}
			if event.Finish == inlay.FinishNone {
				active = append(active, event.Session)
			}
		}
	}
	for _, session := range all {
		fmt.Fprintln(out, strings.Join(lines[session], " "))
	}
	return nil
}
