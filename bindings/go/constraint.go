package inlay

import (
	"runtime"
	"sync"
	"sync/atomic"
	"unsafe"

	"inlay.dev/inlay/raw"
)

// ConstraintOptions say which texts a constraint allows. One of JSONSchema, AnyJSON, GBNF, Regex, Choices and Message is given.
type ConstraintOptions struct {
	// JSONSchema allows JSON of this schema: Draft 2020-12, and what draft-04 to draft-07 spell otherwise. A keyword that is not
	// supported is refused by its name and place.
	JSONSchema string
	// AnyJSON allows any JSON value.
	AnyJSON bool
	// GBNF is a grammar as llama.cpp writes them; its rule is root.
	GBNF string
	// Regex is a regular expression that the whole text matches, as ECMA-262 has them, without look-around and references.
	Regex string
	// Choices allow one of some texts, at most 65536, none of them empty.
	Choices []string
	// Message allows messages with calls of tools as the model's format writes them, or with content by a schema; reasoning before is
	// free, or closed behind N tokens by "reasoning": {"max_tokens": N}. It is JSON: that, and tools, tool_choice, parallel_tool_calls
	// and response_format, all as OpenAI's protocol has them.
	Message string
	// Prompt belongs to Message: the prompt, or its last tokens, which say whether reasoning is open.
	Prompt []int32
	// Format belongs to Message: how reasoning and calls are written, as in MessageOptions. Without it they are as the chat
	// template writes them.
	Format string
	// ChatTemplate belongs to Message: the chat template that wrote the prompt, where it is not the model's own.
	ChatTemplate string
	// Flags say how JSON is written, and change nothing for other constraints.
	Flags ConstraintFlags
}

// ConstraintInfo is what a constraint takes.
type ConstraintInfo struct {
	// MemoryBytes counts the bytes that it has now, without the vocabulary's, which all constraints of an engine share. It grows while
	// the constraint is used, within a bound of some tens of megabytes.
	MemoryBytes uint64 `json:"memory_bytes"`
	// Remarks are what compiling a schema left to say, each with its place: a format that is not known and demands nothing, or
	// what ConstraintFlagLenient dropped.
	Remarks []string `json:"remarks,omitempty"`
}

// Constraint says which texts may be written, compiled for an engine's vocabulary. Any number of sessions, requests and goroutines
// may use one at a time, and share what it computes. Sessions and requests keep what they need of it: it may be closed while they
// go on. It keeps no engine's memory and outlives the engine's Close.
type Constraint struct {
	handle *raw.Constraint
	users  users // its owner, and the calls under way
	once   sync.Once
	closed atomic.Bool
}

// NewConstraint compiles a constraint for the engine's sessions and requests. The first one of an engine reads its vocabulary,
// which takes a moment. Limits of steps and memory end any compilation. What is no such schema, grammar or expression is an error
// that matches StatusFormat; what needs more than is supported, or than the limits, one that matches StatusUnsupported. The message
// names the place.
func (e *Engine) NewConstraint(options ConstraintOptions) (*Constraint, error) {
	const op = "new constraint"
	handle, err := e.join(op)
	if err != nil {
		return nil, err
	}
	defer e.leave()
	var memory memoryInC
	defer memory.release()
	params, err := options.inC(op, &memory)
	if err != nil {
		return nil, err
	}
	var created *raw.Constraint
	err = check(op, func(err *raw.Error) Status { return raw.ConstraintCreate(handle, &params, &created, err) })
	if err != nil {
		return nil, err
	}
	c := &Constraint{handle: created}
	c.users.Store(1)
	runtime.SetFinalizer(c, func(c *Constraint) { c.Close() })
	return c, nil
}

// inC are the options in C's form.
func (o *ConstraintOptions) inC(op string, memory *memoryInC) (params raw.ConstraintParams, err error) {
	params = raw.ConstraintParams{StructSize: uint32(unsafe.Sizeof(raw.ConstraintParams{})), Flags: o.Flags}
	given := 0
	for _, text := range [4]struct {
		kind ConstraintKind
		text string
	}{{ConstraintJsonSchema, o.JSONSchema}, {ConstraintGbnf, o.GBNF}, {ConstraintRegex, o.Regex}, {ConstraintMessage, o.Message}} {
		if text.text != "" {
			params.Kind = text.kind
			params.Text, params.TextLen = textInC(text.text, memory)
			given++
		}
	}
	if o.AnyJSON {
		params.Kind = ConstraintAnyJson
		given++
	}
	if o.Choices != nil {
		params.Kind, params.Choices, params.NChoices = ConstraintChoices, textsInC(o.Choices), uintptr(len(o.Choices))
		memory.keep(unsafe.Pointer(params.Choices))
		given++
	}
	if len(o.Prompt) > 0 {
		params.Prompt, params.NPrompt = tokensInC(o.Prompt, memory), uintptr(len(o.Prompt))
	}
	if o.Format != "" {
		params.Format, params.FormatLen = textInC(o.Format, memory)
	}
	if o.ChatTemplate != "" {
		params.ChatTemplate, params.TemplateLen = textInC(o.ChatTemplate, memory)
	}
	if given != 1 {
		err = fail(op, StatusInvalidArgument, "the constraint has %d of JSONSchema, AnyJSON, GBNF, Regex, Choices and Message, expected one", given)
	}
	return params, err
}

// Close frees the constraint. Sessions and requests that have it go on.
func (c *Constraint) Close() error {
	c.once.Do(func() {
		c.closed.Store(true)
		runtime.SetFinalizer(c, nil)
		c.leave()
	})
	return nil
}

// join makes the constraint outlive a call, which must leave it afterwards.
func (c *Constraint) join(op string) error {
	if c == nil {
		return fail(op, StatusInvalidArgument, "the constraint is nil")
	}
	if c.closed.Load() || !c.users.join() {
		return closedError(op, "constraint")
	}
	return nil
}

func (c *Constraint) leave() {
	if c.users.leave() {
		raw.ConstraintFree(c.handle)
	}
	runtime.KeepAlive(c)
}

// Info tells what the constraint takes.
func (c *Constraint) Info() (ConstraintInfo, error) {
	const op = "constraint info"
	if err := c.join(op); err != nil {
		return ConstraintInfo{}, err
	}
	defer c.leave()
	info := raw.ConstraintInfo{StructSize: uint32(unsafe.Sizeof(raw.ConstraintInfo{}))}
	err := check(op, func(err *raw.Error) Status { return raw.ConstraintGetInfo(c.handle, &info, err) })
	if err != nil {
		return ConstraintInfo{}, err
	}
	out := ConstraintInfo{MemoryBytes: info.MemoryBytes}
	for i := int32(0); i < info.NRemarks; i++ {
		remark, err := readText(op, 256, func(buf *byte, size uintptr, needed *uintptr, err *raw.Error) Status {
			return raw.ConstraintGetRemark(c.handle, uintptr(i), buf, size, needed, err)
		})
		if err != nil {
			return ConstraintInfo{}, err
		}
		out.Remarks = append(out.Remarks, remark)
	}
	return out, nil
}

// ForcedText is the text that must follow under the session's constraint, up to where there is a choice or the text may end, at most
// 4096 bytes. It is empty without a constraint. It is drawn all the same; a program may show it at once, or append its tokens with
// Accept.
func (s *Session) ForcedText() (string, error) {
	const op = "forced text"
	if err := s.begin(op); err != nil {
		return "", err
	}
	defer s.end()
	return readText(op, 256, func(buf *byte, size uintptr, needed *uintptr, err *raw.Error) Status {
		return raw.SessionGetForcedText(s.handle, buf, size, needed, err)
	})
}

// SetConstraint says what the session may write from now on, and in every later generation; nil lets it write anything. written is
// what was written already of the text that the constraint is about: "" where that begins now. The session is as before where
// the constraint does not allow that, is another engine's, or is given beside SessionIgnoreEndOfGeneration: the error matches
// StatusInvalidArgument. A truncation inside of what was written under a constraint goes back in it, a fork takes it along.
func (s *Session) SetConstraint(constraint *Constraint, written string) error {
	if err := s.begin("set constraint"); err != nil {
		return err
	}
	defer s.end()
	return s.setConstraint(constraint, written)
}

func (s *Session) setConstraint(constraint *Constraint, written string) error {
	const op = "set constraint"
	var handle *raw.Constraint
	if constraint != nil {
		if err := constraint.join(op); err != nil {
			return err
		}
		defer constraint.leave()
		handle = constraint.handle
	}
	return check(op, func(err *raw.Error) Status {
		return raw.SessionSetConstraint(s.handle, handle, bytesOf(written), uintptr(len(written)), err)
	})
}
