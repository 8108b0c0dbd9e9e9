package inlay

import (
	"runtime"
	"sync"
	"unsafe"

	"inlay.dev/inlay/raw"
)

// MessageOptions say what a message is read by. The zero value reads it by the format that the model's chat template writes.
type MessageOptions struct {
	// Format is a format of reasoning and calls as JSON, at most 1 MiB.
	Format string
	// ChatTemplate is the one that wrote the prompt, where it is not the model's own.
	ChatTemplate string
	// Tools are a JSON array, as OpenAI's protocol has them. What formats write without quotes becomes JSON by their types.
	Tools string
	// Prompt is the prompt, or its last tokens: templates may begin the answer, as those do that open the reasoning.
	Prompt []int32
	// Flags say how it is read.
	Flags ChatParserFlags
}

// MessagePart is a part of a message. Parts of one kind that follow each other are one text.
type MessagePart struct {
	// Kind is what it is.
	Kind ChatDeltaKind `json:"kind"`
	// Call is the call that it is of, 0 for the message's first. 0 with reasoning and content.
	Call int `json:"call"`
	// Text is its text; with ChatDeltaCallBegin the tool's name.
	Text string `json:"text"`
	// Whole: with ChatDeltaCallEnd, the arguments are one JSON value. Else the call was cut.
	Whole bool `json:"whole,omitempty"`
}

// ParsedMessage is a whole message.
type ParsedMessage struct {
	// JSON goes into the conversation as it is: role, content, and reasoning_content and tool_calls where there are any.
	JSON string
	// Calls counts its calls.
	Calls int
	// Complete: neither reasoning nor a call is open. A message that was cut need not be.
	Complete bool
	// Malformed: some text was not as the format says. It is content.
	Malformed bool
}

// MessageParser takes one message apart while a model writes it: tokens or text go in, parts come out, which are never taken back.
// Whatever a model writes is a message: what is not as the format says is content. Calls of several goroutines wait for each other.
// It keeps no engine's memory and outlives the engine's Close.
type MessageParser struct {
	mutex  sync.Mutex
	handle *raw.ChatParser // nil: closed
}

// inC are the options in C's form.
func (o *MessageOptions) inC(memory *memoryInC) raw.ChatParserParams {
	params := raw.ChatParserParams{StructSize: uint32(unsafe.Sizeof(raw.ChatParserParams{})), Flags: o.Flags}
	if o.Format != "" {
		params.Format, params.FormatLen = textInC(o.Format, memory)
	}
	if o.ChatTemplate != "" {
		params.ChatTemplate, params.TemplateLen = textInC(o.ChatTemplate, memory)
	}
	if o.Tools != "" {
		params.Tools, params.ToolsLen = textInC(o.Tools, memory)
	}
	params.Prompt, params.NPrompt = tokensInC(o.Prompt, memory), uintptr(len(o.Prompt))
	return params
}

// NewMessageParser makes a parser of one message. A format or tools that are not as they should be are an error that matches
// StatusFormat and names the place.
func (e *Engine) NewMessageParser(options MessageOptions) (*MessageParser, error) {
	const op = "new message parser"
	handle, err := e.join(op)
	if err != nil {
		return nil, err
	}
	defer e.leave()
	var memory memoryInC
	defer memory.release()
	params := options.inC(&memory)
	p := &MessageParser{}
	err = check(op, func(err *raw.Error) Status { return raw.ChatParserCreate(handle, &params, &p.handle, err) })
	if err != nil {
		return nil, err
	}
	runtime.SetFinalizer(p, func(p *MessageParser) { p.Close() })
	return p, nil
}

// ParseMessage takes a whole message apart: the tokens that a generation drew.
func (e *Engine) ParseMessage(tokens []int32, options MessageOptions) (ParsedMessage, error) {
	p, err := e.NewMessageParser(options)
	if err != nil {
		return ParsedMessage{}, err
	}
	defer p.Close()
	if err = p.Append(tokens); err == nil {
		err = p.Finish()
	}
	if err != nil {
		return ParsedMessage{}, err
	}
	return p.Message()
}

// ChatFormat says in which format the model writes reasoning and calls, as JSON: name, reasoning and calls, whether it has any,
// arguments, how the template takes those of earlier calls, and remark, what was not recognized.
func (e *Engine) ChatFormat(options MessageOptions) (string, error) {
	const op = "chat format"
	handle, err := e.join(op)
	if err != nil {
		return "", err
	}
	defer e.leave()
	var memory memoryInC
	defer memory.release()
	params := options.inC(&memory)
	return readText(op, 256, func(buf *byte, size uintptr, needed *uintptr, err *raw.Error) Status {
		return raw.ChatGetFormat(handle, &params, buf, size, needed, err)
	})
}

// with makes a call while the parser is not closed.
func (p *MessageParser) with(op string, call func(handle *raw.ChatParser) error) error {
	if p == nil {
		return fail(op, StatusInvalidArgument, "the parser is nil")
	}
	p.mutex.Lock()
	defer p.mutex.Unlock()
	if p.handle == nil {
		return closedError(op, "parser")
	}
	return call(p.handle)
}

// Append reads tokens that the model drew. A token that is a marker of the format counts as one, the same letters in other tokens
// do not; other control tokens are nothing.
func (p *MessageParser) Append(tokens []int32) error {
	const op = "append"
	return p.with(op, func(handle *raw.ChatParser) error {
		return check(op, func(err *raw.Error) Status {
			return raw.ChatParserAppend(handle, tokensOf(tokens), uintptr(len(tokens)), err)
		})
	})
}

// AppendText reads text, which may be cut anywhere. Letters of markers count where the vocabulary has no such token, and with
// ChatParserWrittenMarkers.
func (p *MessageParser) AppendText(text string) error {
	const op = "append text"
	return p.with(op, func(handle *raw.ChatParser) error {
		return check(op, func(err *raw.Error) Status {
			return raw.ChatParserAppendText(handle, bytesOf(text), uintptr(len(text)), err)
		})
	})
}

// Finish says that the message ended, or was cut: what was held back is given.
func (p *MessageParser) Finish() error {
	const op = "finish"
	return p.with(op, func(handle *raw.ChatParser) error {
		return check(op, func(err *raw.Error) Status { return raw.ChatParserFinish(handle, err) })
	})
}

// Take gives the parts that are ready, in the order of the text.
func (p *MessageParser) Take() (parts []MessagePart, err error) {
	const op = "take"
	err = p.with(op, func(handle *raw.ChatParser) error {
		var deltas [64]raw.ChatDelta
		text := make([]byte, 4096)
		for {
			var n uintptr
			err := check(op, func(err *raw.Error) Status {
				return raw.ChatParserTake(handle, &deltas[0], uintptr(len(deltas)), unsafe.Sizeof(deltas[0]), &text[0], uintptr(len(text)), &n, err)
			})
			if err != nil || n == 0 {
				return err
			}
			for _, d := range deltas[:n] {
				parts = append(parts, MessagePart{Kind: d.Kind, Call: int(d.Call), Text: string(text[d.FirstByte : d.FirstByte+d.TextBytes]), Whole: d.Flags&ChatDeltaFlagWhole != 0})
			}
		}
	})
	return parts, err
}

// Message gives the whole message, whether its parts were taken or not. Before Finish the error matches StatusInvalidState.
func (p *MessageParser) Message() (message ParsedMessage, err error) {
	const op = "message"
	err = p.with(op, func(handle *raw.ChatParser) (err error) {
		message.JSON, err = readText(op, 1024, func(buf *byte, size uintptr, needed *uintptr, err *raw.Error) Status {
			return raw.ChatParserGetMessage(handle, buf, size, needed, err)
		})
		if err != nil {
			return err
		}
		info := raw.ChatParserInfo{StructSize: uint32(unsafe.Sizeof(raw.ChatParserInfo{}))}
		err = check(op, func(err *raw.Error) Status { return raw.ChatParserGetInfo(handle, &info, err) })
		message.Calls = int(info.NCalls)
		message.Complete, message.Malformed = info.Flags&ChatParserInfoComplete != 0, info.Flags&ChatParserInfoMalformed != 0
		return err
	})
	return message, err
}

// Close frees the parser.
func (p *MessageParser) Close() error {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	runtime.SetFinalizer(p, nil)
	raw.ChatParserFree(p.handle)
	p.handle = nil
	return nil
}
