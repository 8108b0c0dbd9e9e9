package inlay

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"
	"syscall"
	"time"
	"unsafe"

	"inlay.dev/inlay/raw"
)

// LoadOptions say how a model is loaded. Zero is the default of every field.
type LoadOptions struct {
	// Device is where the model runs: by default the fastest device that it fits on.
	Device DeviceKind
	// DeviceIndex is the number of the device among those of its kind. Range: 0 or more.
	DeviceIndex int
	// Context is the longest sequence of one session in tokens: by default what the model was trained for, at most 4096.
	// Range: 0 or more.
	Context int
	// MaxSessions is how many sessions may exist at a time, by default 8. Range: 0 to 1024.
	MaxSessions int
	// Threads is how many threads compute, by default all cores that the process may use. Range: 0 to 1024.
	Threads int
	// KVBudget is the size in bytes of the KV pool that the sessions share: by default enough for all sessions with a
	// full context, at most 2 GiB but one context at least.
	KVBudget uint64
	// PrefixCacheHost is how much of the host's memory, in bytes, blocks may have that requests may find again, but whose room in
	// the KV pool is wanted: by default none.
	PrefixCacheHost uint64
	// KVDtype is the type of the stored keys and values.
	KVDtype KVDtype
	// WeightDtype is the type in which the weights are held, by default the file's types.
	WeightDtype WeightDtype
	// PreTokenizer is how byte-level BPE of a GGUF file splits text: a name as in tokenizer.ggml.pre, by default the file's.
	PreTokenizer string
	// Tuning changes speed alone, for those who measure: key=value pairs, such as isa=avx2, with blanks or commas between. Keys
	// may come and go in any version; an unknown one is refused, and the error lists the known ones.
	Tuning string
	// PrefillChunk is how many tokens prefill runs at a time, by default 512, on a GPU 1024: the grain of its cancelling.
	// Range: 0 to 4096.
	PrefillChunk int
	// LogLevel is the least important kind of message that Logs has, by default LogInfo.
	LogLevel LogLevel
	// Flags choose between ways of running a model.
	Flags LoadFlags
	// Logger is given the messages: those of the load at its end, on this goroutine, also where it failed, and then the
	// engine's on a goroutine of its own, for as long as the engine lives.
	Logger Logger
	// Progress is told a few times a second how far the load is, and once at its end. It is called on another goroutine,
	// which the load waits for; a panic there ends the load and goes on from it.
	Progress func(done, total uint64)
}

const progressInterval = 50 * time.Millisecond

// params are the options in C's form, and what to call when they are not needed any more.
func (o *LoadOptions) params(op string) (*raw.LoadParams, func(), error) {
	params := &raw.LoadParams{StructSize: uint32(unsafe.Sizeof(raw.LoadParams{}))}
	if o == nil {
		return params, func() {}, nil
	}
	n := numbers{op: op}
	params.Device = o.Device
	params.DeviceIndex = n.int32("DeviceIndex", o.DeviceIndex)
	params.NContext = n.int32("Context", o.Context)
	params.MaxSessions = n.int32("MaxSessions", o.MaxSessions)
	params.NThreads = n.int32("Threads", o.Threads)
	params.KVBudgetBytes = o.KVBudget
	params.PrefixCacheHostBytes = o.PrefixCacheHost
	params.KVDtype = o.KVDtype
	params.WeightDtype = o.WeightDtype
	params.PrefillChunk = n.int32("PrefillChunk", o.PrefillChunk)
	params.LogLevel = o.LogLevel
	params.Flags = uint32(o.Flags)
	if n.err != nil {
		return params, func() {}, n.err
	}
	memory := textsInC([]string{o.PreTokenizer, o.Tuning})
	texts := unsafe.Slice(memory, 2)
	params.PreTokenizer, params.PreTokenizerLen = texts[0].Data, texts[0].Len
	params.Tuning, params.TuningLen = texts[1].Data, texts[1].Len
	return params, func() { raw.Release(unsafe.Pointer(memory)) }, nil
}

// Load loads a model file: GGUF, of which a split one is named by its first file. When the context ends first, the load
// is given up and the error matches StatusCancelled and the context's error.
func Load(ctx context.Context, path string, options *LoadOptions) (*Engine, error) {
	return load(ctx, options, func(l *loading) Status {
		return raw.Load(bytesOf(path), uintptr(len(path)), l.params, l.engine, &l.err)
	})
}

// LoadBytes loads a model that lies in memory. The bytes are not needed after the call.
func LoadBytes(ctx context.Context, model []byte, options *LoadOptions) (*Engine, error) {
	if len(model) == 0 {
		return nil, fail("load", StatusInvalidArgument, "the model has no bytes")
	}
	return load(ctx, options, func(l *loading) Status {
		return raw.LoadMemory(unsafe.Pointer(&model[0]), uintptr(len(model)), l.params, l.engine, &l.err)
	})
}

// LoadReader loads a model of size bytes through a reader: from an archive, an asset pack, a decrypting reader. The
// reader is called on this goroutine, during this call only; an error that it returns is what the load's error wraps, and
// its panic goes on from this call once the load has ended. One that says that it has read more bytes than it was asked for, or
// fewer than none, ends the load, too.
func LoadReader(ctx context.Context, model io.ReaderAt, size int64, options *LoadOptions) (*Engine, error) {
	if model == nil || size <= 0 {
		return nil, fail("load", StatusInvalidArgument, "there is no reader or its size is not positive")
	}
	var cause error
	engine, err := load(ctx, options, func(l *loading) Status {
		reader := &raw.Reader{StructSize: uint32(unsafe.Sizeof(raw.Reader{})), Size: uint64(size)}
		l.control.AttachReader(reader)
		var status Status
		returned := make(chan struct{})
		go func() {
			defer close(returned)
			status = raw.LoadReader(reader, l.params, l.engine, &l.err)
			l.control.Finish()
		}()
		func() {
			defer func() { <-returned }()
			cause = serve(l.control, model)
		}()
		return status
	})
	if errors.Is(err, StatusIO) {
		err = withCause(err, cause)
	}
	return engine, err
}

// serve gives the load what it wants to read, until it has returned. It returns the reader's error.
func serve(control raw.Control, model io.ReaderAt) error {
	return serveParts(control, func(offset uint64, into []byte) error {
		n, err := model.ReadAt(into, int64(offset))
		if n == len(into) {
			return nil
		}
		if n < 0 || n > len(into) { // What it did to the memory is unknown.
			return fmt.Errorf("the reader says that it has read %d bytes of %d", n, len(into))
		}
		if err == nil || err == io.EOF {
			return io.ErrUnexpectedEOF
		}
		return err
	})
}

// serveParts serves a call's reads, or takes what it writes, until it has returned. It returns the last error of part.
func serveParts(control raw.Control, part func(offset uint64, bytes []byte) error) (failure error) {
	served := false
	defer func() {
		if !served { // It panicked: an error ends the call.
			control.Answer(int32(syscall.EIO))
		}
	}()
	for {
		offset, bytes, ok := control.NextRead()
		if !ok {
			served = true
			return failure
		}
		answer := int32(0)
		if err := part(offset, bytes); err != nil {
			failure = err
			answer = int32(syscall.EIO)
			var number syscall.Errno
			if errors.As(err, &number) && number != 0 {
				answer = int32(number)
			}
		}
		control.Answer(answer)
	}
}

// loading is a load under way.
type loading struct {
	control raw.Control
	params  *raw.LoadParams
	engine  **raw.Engine // in memory of its own: C may not be given a Go pointer to memory with Go pointers
	err     raw.Error
}

func load(ctx context.Context, options *LoadOptions, call func(*loading) Status) (*Engine, error) {
	if err := openDefault(); err != nil {
		return nil, err
	}
	if err := ended("load", ctx); err != nil {
		return nil, err
	}
	params, release, err := options.params("load")
	if err != nil {
		return nil, err
	}
	defer release()
	status, l := runLoad(ctx, options, params, call)
	var logger Logger
	if options != nil {
		logger = options.Logger
	}
	if status == StatusOK {
		return newEngine(*l.engine, l.control, logger)
	}
	err = newError("load", status, &l.err)
	if status == StatusCancelled && ctx.Err() != nil {
		err = withCause(err, ctx.Err())
	}
	if logger != nil {
		logAll(logger, l.control.NextMessage)
		logger.Error(err.Error())
	}
	l.control.Free()
	return nil, err
}

// runLoad runs the call, followed. The control of the load that it returns is to be freed.
func runLoad(ctx context.Context, options *LoadOptions, params *raw.LoadParams, call func(*loading) Status) (Status, *loading) {
	l := &loading{control: raw.NewControl(), params: params, engine: new(*raw.Engine)}
	l.control.Attach(params)
	var progress func(done, total uint64)
	if options != nil {
		progress = options.Progress
		if options.Logger != nil {
			l.control.AttachLoadLog(params)
		}
	}
	finished := false
	defer func() {
		if !finished { // A panic goes on from here.
			raw.Free(*l.engine)
			l.control.Free()
		}
	}()
	var status Status
	followed(ctx, l.control, progress, func() { status = call(l) })
	finished = true
	return status, l
}

// followed runs the call while another goroutine looks after the context and the progress. What the progress panics with goes
// on from here.
func followed(ctx context.Context, control raw.Control, progress func(done, total uint64), call func()) {
	stop, stopped := make(chan struct{}), make(chan struct{})
	var panicked any
	go func() {
		defer func() {
			if panicked = recover(); panicked != nil {
				control.Cancel()
			}
			close(stopped)
		}()
		follow(ctx, control, progress, stop)
	}()
	returned := false
	defer func() {
		close(stop)
		<-stopped
		if returned && panicked != nil {
			panic(panicked)
		}
	}()
	call()
	returned = true
}

func follow(ctx context.Context, control raw.Control, progress func(done, total uint64), stop <-chan struct{}) {
	var tick <-chan time.Time
	if progress != nil {
		ticker := time.NewTicker(progressInterval)
		defer ticker.Stop()
		tick = ticker.C
	}
	done := ctx.Done()
	for {
		select {
		case <-stop:
			if progress != nil {
				progress(control.Progress())
			}
			return
		case <-done:
			control.Cancel()
			done = nil
		case <-tick:
			progress(control.Progress())
		}
	}
}

// ended is the error of a context that is nil or has ended.
func ended(op string, ctx context.Context) error {
	if ctx == nil {
		return fail(op, StatusInvalidArgument, "the context is nil")
	}
	if ctx.Err() != nil {
		return cancelled(op, ctx)
	}
	return nil
}

func cancelled(op string, ctx context.Context) error {
	return &Error{Op: op, Status: StatusCancelled, Message: ctx.Err().Error(), cause: ctx.Err()}
}

// MemoryPlan tells what Load would need, from the file's header alone.
func MemoryPlan(path string, options *LoadOptions) (MemoryInfo, error) {
	if err := openDefault(); err != nil {
		return MemoryInfo{}, err
	}
	params, release, err := options.params("memory plan")
	if err != nil {
		return MemoryInfo{}, err
	}
	defer release()
	info := raw.MemoryInfo{StructSize: uint32(unsafe.Sizeof(raw.MemoryInfo{}))}
	err = check("memory plan", func(err *raw.Error) Status {
		return raw.MemoryPlan(bytesOf(path), uintptr(len(path)), params, &info, err)
	})
	return memoryInfoOf(&info), err
}

// Explain says what a model is, from its files' headers alone: family, features, types of its tensors, which devices would
// run it, and how many these are, why others would not, and the memory that contexts of several lengths take.
func Explain(path string, options *LoadOptions) (text string, devices int, err error) {
	return explain(path, options, ExplainText)
}

// ExplainJSON gives the facts of Explain as one JSON object.
func ExplainJSON(path string, options *LoadOptions) (text string, devices int, err error) {
	return explain(path, options, ExplainJson)
}

func explain(path string, options *LoadOptions, form ExplainForm) (text string, devices int, err error) {
	if err := openDefault(); err != nil {
		return "", 0, err
	}
	params, release, err := options.params("explain")
	if err != nil {
		return "", 0, err
	}
	defer release()
	var n int32
	text, err = readText("explain", 1<<14, func(buf *byte, size uintptr, needed *uintptr, err *raw.Error) Status {
		return raw.Explain(bytesOf(path), uintptr(len(path)), params, form, &n, buf, size, needed, err)
	})
	return text, int(n), err
}

// ConvertOptions say how a model is converted. Zero is the default of every field.
type ConvertOptions struct {
	// Threads is how many threads compute, by default all cores. Range: 0 to 1024.
	Threads int
	// Progress is told a few times a second how many bytes of the source are done, and once at the end. It is called on
	// another goroutine, which the conversion waits for.
	Progress func(done, total uint64)
	// Log is given the conversion's warnings at its end, on this goroutine: what of a folder's tokenizer other programs
	// will not read in the file.
	Log func(LogMessage)
}

// Convert writes a model, a GGUF file or a Hugging Face folder, as a GGUF file with matrices of another type. When the
// context ends first, nothing is left, and the error matches StatusCancelled and the context's error.
func Convert(ctx context.Context, source, target string, convertType ConvertType, options *ConvertOptions) error {
	if err := openDefault(); err != nil {
		return err
	}
	if ctx.Err() != nil {
		return cancelled("convert", ctx)
	}
	if options == nil {
		options = &ConvertOptions{}
	}
	n := numbers{op: "convert"}
	params := &raw.ConvertParams{StructSize: uint32(unsafe.Sizeof(raw.ConvertParams{})), Type: convertType}
	params.NThreads = n.int32("Threads", options.Threads)
	if n.err != nil {
		return n.err
	}
	control := raw.NewControl()
	defer control.Free()
	control.AttachConvert(params)
	if options.Log != nil {
		control.AttachLog(params)
	}
	var err error
	followed(ctx, control, options.Progress, func() {
		err = check("convert", func(err *raw.Error) Status {
			return raw.Convert(bytesOf(source), uintptr(len(source)), bytesOf(target), uintptr(len(target)), params, err)
		})
	})
	for number := uint64(1); options.Log != nil; number++ {
		level, text, ok := control.NextMessage()
		if !ok {
			break
		}
		options.Log(LogMessage{Number: number, Level: level, Text: text})
	}
	if errors.Is(err, StatusCancelled) && ctx.Err() != nil {
		return withCause(err, ctx.Err())
	}
	return err
}

// newEngine takes the handle and the control over. Messages go from the control to the logger, if there is one.
func newEngine(handle *raw.Engine, control raw.Control, logger Logger) (*Engine, error) {
	shared := &sharedEngine{handle: handle, queue: newQueue()}
	if logger == nil {
		control.Free() // The library needs it during the load only.
	} else {
		logAll(logger, control.NextMessage)
		shared.gone = control.EndLog
		go func() {
			logAll(logger, control.WaitMessage)
			control.Free()
		}()
	}
	e := &Engine{shared: shared}
	e.shared.users.Store(1)
	runtime.SetFinalizer(e, func(e *Engine) { go e.Close() })
	info := raw.EngineInfo{StructSize: uint32(unsafe.Sizeof(raw.EngineInfo{}))}
	err := check("load", func(err *raw.Error) Status { return raw.EngineGetInfo(handle, &info, err) })
	e.info = engineInfoOf(&info)
	if err != nil {
		e.Close()
		return nil, err
	}
	return e, nil
}
