package inlay

import (
	"context"
	"time"
	"unsafe"

	"inlay.dev/inlay/raw"
)

// RunOptions say how long Run may compute. Zero is the default of every field.
type RunOptions struct {
	// Budget is within which Run begins no part of a step that it does not expect to end, by what parts like it have taken, but
	// for the first, so that requests go on with any budget; 0 is until no request can go on. Range: 0 or more.
	Budget time.Duration
	// MaxStep bounds what prompts add to a step, and so the time from one token to the next of the requests that draw; 0 is no
	// bound. Range: 0 or more.
	MaxStep time.Duration
	// HostBudget bounds the time of Run's thread, as Budget bounds the computing; 0 is no bound of its own. With RunNoWait on a
	// GPU, where Budget is the GPU's time alone, Run begins nothing that it does not expect its thread to have done within
	// HostBudget. Where Run waits for what it computes the smaller of the two counts. Range: 0 or more.
	HostBudget time.Duration
	// Flags change how it computes.
	Flags RunFlags
}

// RunInfo is what a call of Run came to.
type RunInfo struct {
	// HasWork tells if another call at once would compute.
	HasWork bool `json:"has_work"`
	// NTokens counts the tokens that were drawn.
	NTokens uint64 `json:"n_tokens"`
	// NRequests counts the engine's requests that have not ended.
	NRequests int `json:"n_requests"`
}

// ThreadOptions say how an engine's own thread computes. Zero is the default of every field.
type ThreadOptions struct {
	// Busy is how long it computes at most in each Period, as far as that can be foretold: for programs that need the device
	// for something else, too. Both are 0, for all the time, or neither. Range: 0 or more.
	Busy time.Duration
	// Period is at least Busy. Range: 0 or more.
	Period time.Duration
	// MaxStep bounds what prompts add to a step, as in RunOptions. Range: 0 or more.
	MaxStep time.Duration
}

// Run computes the requests of all of the engine's queues, on this goroutine, for programs whose engine has no thread of its own:
// in a frame of a game with what time there is as its Budget. A step that the budget cuts goes on at the next call. Without a
// budget the end of the context ends it behind the step under way. The error matches StatusBusy while another goroutine is in it,
// and StatusInvalidState where the engine has a thread, or a DecodeSlice is pending.
func (e *Engine) Run(ctx context.Context, options RunOptions) (RunInfo, error) {
	const op = "run"
	handle, err := e.join(op)
	if err != nil {
		return RunInfo{}, err
	}
	defer e.leave()
	n := numbers{op: op}
	params := raw.RunParams{StructSize: uint32(unsafe.Sizeof(raw.RunParams{})), Flags: options.Flags,
		BudgetUs: n.microseconds("Budget", options.Budget), MaxStepUs: n.microseconds("MaxStep", options.MaxStep),
		HostBudgetUs: n.microseconds("HostBudget", options.HostBudget)}
	if n.err != nil {
		return RunInfo{}, n.err
	}
	byStep := ctx.Done() != nil && options.Budget == 0 && options.HostBudget == 0 && options.Flags&RunOneStep == 0
	if byStep {
		params.Flags |= RunOneStep
	}
	var out RunInfo
	for {
		if ctx.Err() != nil {
			return out, cancelled(op, ctx)
		}
		info := raw.RunInfo{StructSize: uint32(unsafe.Sizeof(raw.RunInfo{}))}
		err := check(op, func(err *raw.Error) Status { return raw.Run(handle, &params, &info, err) })
		if e.shared.closed.Load() {
			e.shared.finishStep()
		}
		if err != nil {
			return out, err
		}
		out.HasWork, out.NRequests = info.Flags&RunInfoHasWork != 0, int(info.NRequests)
		out.NTokens += info.NTokens
		if !byStep || !out.HasWork {
			return out, nil
		}
	}
}

// finishStep ends the requests that were cancelled in a step which a budget has cut. Where another goroutine is in Run, that one
// does it.
func (e *sharedEngine) finishStep() {
	info := raw.RunInfo{StructSize: uint32(unsafe.Sizeof(raw.RunInfo{}))}
	raw.Run(e.handle, nil, &info, nil)
}

// SetThread gives the engine a thread of its own that computes its requests, changes how that one computes, or ends it, with nil:
// behind the step under way. Without one the program calls Run.
func (e *Engine) SetThread(options *ThreadOptions) error {
	const op = "set thread"
	handle, err := e.join(op)
	if err != nil {
		return err
	}
	defer e.leave()
	if options == nil {
		defer wakeUps.tell() // Those that wait ask if anybody computes still.
		return check(op, func(err *raw.Error) Status { return raw.EngineSetThread(handle, nil, err) })
	}
	n := numbers{op: op}
	params := raw.ThreadParams{StructSize: uint32(unsafe.Sizeof(raw.ThreadParams{})), BusyUs: n.microseconds("Busy", options.Busy),
		PeriodUs: n.microseconds("Period", options.Period), MaxStepUs: n.microseconds("MaxStep", options.MaxStep)}
	if n.err != nil {
		return n.err
	}
	return check(op, func(err *raw.Error) Status { return raw.EngineSetThread(handle, &params, err) })
}
