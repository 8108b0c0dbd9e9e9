package inlay

import (
	"context"
	"errors"
	"runtime"
	"sync"
	"sync/atomic"
	"unsafe"

	"inlay.dev/inlay/raw"
)

// users counts who needs a C object: its owner, calls under way, and sessions for their engine. The last one frees it.
type users struct{ atomic.Int64 }

// join counts one more user, unless the object is gone.
func (u *users) join() bool {
	for {
		n := u.Load()
		if n == 0 {
			return false
		}
		if u.CompareAndSwap(n, n+1) {
			return true
		}
	}
}

// leave tells if the last user left.
func (u *users) leave() bool { return u.Add(-1) == 0 }

// sharedEngine is the C handle that an Engine and its sessions have in common.
type sharedEngine struct {
	handle *raw.Engine
	users  users
	queue  queue
	gone   func() // called when the handle is freed, if it is not nil
	// closed: the Engine was, though sessions and calls under way may need the handle still.
	closed   atomic.Bool
	requests requests
}

func (s *sharedEngine) leave() {
	if s.users.leave() {
		raw.Free(s.handle)
		if s.gone != nil {
			s.gone()
		}
	}
}

// Engine is one model's weights on one device, with the memory and the statistics of its sessions. All methods may be
// called from any goroutine.
type Engine struct {
	shared *sharedEngine
	info   EngineInfo
	once   sync.Once
}

// Close gives the engine up: its requests end with FinishCancelled. Its memory is freed as soon as no call and no session needs it.
func (e *Engine) Close() error {
	e.once.Do(func() {
		e.shared.closed.Store(true)
		runtime.SetFinalizer(e, nil)
		e.shared.endRequests()
		e.shared.queue.freed.tell()
		e.shared.leave()
	})
	return nil
}

// join makes the engine outlive a call, which must leave it afterwards.
func (e *Engine) join(op string) (*raw.Engine, error) {
	if e == nil {
		return nil, fail(op, StatusInvalidArgument, "the engine is nil")
	}
	if e.shared.closed.Load() || !e.shared.users.join() {
		return nil, closedError(op, "engine")
	}
	return e.shared.handle, nil
}

func (e *Engine) leave() {
	e.shared.leave()
	runtime.KeepAlive(e)
}

// Info are the model's sizes. It may be called after Close.
func (e *Engine) Info() EngineInfo { return e.info }

// Stats are what the engine has done so far.
func (e *Engine) Stats() (Stats, error) {
	handle, err := e.join("stats")
	if err != nil {
		return Stats{}, err
	}
	defer e.leave()
	stats := raw.Stats{StructSize: uint32(unsafe.Sizeof(raw.Stats{}))}
	err = check("stats", func(err *raw.Error) Status { return raw.EngineGetStats(handle, &stats, err) })
	return statsOf(&stats), err
}

// Tokenize turns text into token ids.
func (e *Engine) Tokenize(text string, flags TokenizeFlags) ([]int32, error) {
	handle, err := e.join("tokenize")
	if err != nil {
		return nil, err
	}
	defer e.leave()
	return tokenize(handle, text, flags)
}

func tokenize(handle *raw.Engine, text string, flags TokenizeFlags) ([]int32, error) {
	room := len(text) + 2 // enough for most texts
	return readArray("tokenize", room, func(tokens *int32, room uintptr, n *uintptr, err *raw.Error) Status {
		return raw.Tokenize(handle, bytesOf(text), uintptr(len(text)), flags, tokens, room, n, err)
	})
}

// Detokenize turns token ids into text. If the ids begin or end inside a character, so does the text.
func (e *Engine) Detokenize(tokens []int32, flags DetokenizeFlags) (string, error) {
	handle, err := e.join("detokenize")
	if err != nil {
		return "", err
	}
	defer e.leave()
	return readText("detokenize", 16+8*len(tokens), func(buf *byte, size uintptr, needed *uintptr, err *raw.Error) Status {
		return raw.Detokenize(handle, tokensOf(tokens), uintptr(len(tokens)), flags, buf, size, needed, err)
	})
}

// ChatText writes a conversation as the text that the model was trained on: by template, or by the model's own if that is
// empty. The conversation is JSON: an array of messages, or an object of all the template's variables; MessagesText takes typed
// messages. Tokenize the text with TokenizeNoBOSEOS and TokenizeParseSpecial.
func (e *Engine) ChatText(conversation, template string, flags ChatFlags) (string, error) {
	handle, err := e.join("chat text")
	if err != nil {
		return "", err
	}
	defer e.leave()
	params, release := chatParams(template, flags)
	defer release()
	return readText("chat text", 1<<14, func(buf *byte, size uintptr, needed *uintptr, err *raw.Error) Status {
		return raw.ChatRender(handle, bytesOf(conversation), uintptr(len(conversation)), params, buf, size, needed, err)
	})
}

// ChatTokens gives the conversation that ChatText writes as tokens, in which only the template's own control tokens count:
// those that messages or other values of the conversation have in writing are text.
func (e *Engine) ChatTokens(conversation, template string, flags ChatFlags) ([]int32, error) {
	handle, err := e.join("chat tokens")
	if err != nil {
		return nil, err
	}
	defer e.leave()
	return chatTokens(handle, conversation, template, flags)
}

// chatParams are those of a conversation, with the template in C's memory.
func chatParams(template string, flags ChatFlags) (*raw.ChatParams, func()) {
	params := &raw.ChatParams{StructSize: uint32(unsafe.Sizeof(raw.ChatParams{})), Flags: flags}
	if template == "" {
		return params, func() {}
	}
	text := textsInC([]string{template})
	params.ChatTemplate, params.TemplateLen = text.Data, text.Len
	return params, func() { raw.Release(unsafe.Pointer(text)) }
}

func chatTokens(handle *raw.Engine, conversation, template string, flags ChatFlags) ([]int32, error) {
	params, release := chatParams(template, flags)
	defer release()
	return readArray("chat tokens", 0, func(tokens *int32, room uintptr, n *uintptr, err *raw.Error) Status {
		return raw.ChatTokenize(handle, bytesOf(conversation), uintptr(len(conversation)), params, tokens, room, n, err)
	})
}

// Embed turns texts, given as tokens, into vectors of the model's width: the final hidden states of each, pooled. Each runs
// in a session of its own, several at once where sessions are free. When the context ends, it stops behind the step under
// way, with an error that matches StatusCancelled and the context's error.
func (e *Engine) Embed(ctx context.Context, texts [][]int32, pooling Pooling, flags EmbedFlags) ([][]float32, error) {
	return e.embed(ctx, embedTokensInC(texts), len(texts), pooling, flags)
}

// EmbedTexts is Embed of texts, with the BOS and EOS tokens that the model asks for.
func (e *Engine) EmbedTexts(ctx context.Context, texts []string, pooling Pooling, flags EmbedFlags) ([][]float32, error) {
	return e.embed(ctx, embedTextsInC(texts), len(texts), pooling, flags)
}

// embedTokensInC copies the tokens to C's memory.
func embedTokensInC(texts [][]int32) *raw.EmbedInput {
	at := uintptr(len(texts)) * unsafe.Sizeof(raw.EmbedInput{})
	size := at + 4
	for _, text := range texts {
		size += uintptr(len(text)) * 4
	}
	memory := raw.Calloc(size)
	inputs := unsafe.Slice((*raw.EmbedInput)(memory), len(texts))
	for i, text := range texts {
		tokens := unsafe.Slice((*int32)(unsafe.Add(memory, at)), len(text)+1)
		copy(tokens, text)
		inputs[i].Tokens, inputs[i].NTokens = &tokens[0], uintptr(len(text))
		at += uintptr(len(text)) * 4
	}
	return (*raw.EmbedInput)(memory)
}

// embedTextsInC copies the texts to C's memory.
func embedTextsInC(texts []string) *raw.EmbedInput {
	at := uintptr(len(texts)) * unsafe.Sizeof(raw.EmbedInput{})
	memory := raw.Calloc(at + textsSize(texts) + 1)
	inputs := unsafe.Slice((*raw.EmbedInput)(memory), len(texts))
	copied := unsafe.Slice(putTexts(unsafe.Add(memory, at), texts), len(texts))
	for i, text := range copied {
		inputs[i].Text, inputs[i].TextLen = text.Data, text.Len
	}
	return (*raw.EmbedInput)(memory)
}

// joined are the texts' tokens one after the other, and how many each has.
func joined(texts [][]int32) (tokens, lengths []int32) {
	lengths = make([]int32, len(texts))
	for i, text := range texts {
		tokens = append(tokens, text...)
		lengths[i] = int32(len(text))
	}
	return tokens, lengths
}

// embed releases the inputs.
func (e *Engine) embed(ctx context.Context, inputs *raw.EmbedInput, n int, pooling Pooling, flags EmbedFlags) ([][]float32, error) {
	defer raw.Release(unsafe.Pointer(inputs))
	handle, err := e.join("embed")
	if err != nil {
		return nil, err
	}
	defer e.leave()
	defer e.shared.queue.freed.tell() // The texts have had sessions.
	if ctx.Err() != nil {
		return nil, cancelled("embed", ctx)
	}
	params := &raw.EmbedParams{StructSize: uint32(unsafe.Sizeof(raw.EmbedParams{})), Pooling: pooling, Flags: flags}
	var needed uintptr
	err = check("embed", func(err *raw.Error) Status {
		return raw.Embed(handle, inputs, uintptr(n), unsafe.Sizeof(*inputs), params, nil, 0, &needed, err)
	})
	if err != nil {
		return nil, err
	}
	width := 0
	if n > 0 {
		width = int(needed) / n
	}
	values := make([]float32, needed+1)
	control := raw.NewControl()
	defer control.Free()
	control.AttachEmbed(params)
	followed(ctx, control, nil, func() {
		err = check("embed", func(err *raw.Error) Status {
			return raw.Embed(handle, inputs, uintptr(n), unsafe.Sizeof(*inputs), params, &values[0], uintptr(len(values)), nil, err)
		})
	})
	if errors.Is(err, StatusCancelled) && ctx.Err() != nil {
		err = withCause(err, ctx.Err())
	}
	if err != nil {
		return nil, err
	}
	vectors := make([][]float32, n)
	for i := range vectors {
		vectors[i] = values[i*width : (i+1)*width : (i+1)*width]
	}
	return vectors, nil
}

// TokenInfo is one entry of the vocabulary.
type TokenInfo struct {
	// Kind is what it is.
	Kind TokenKind `json:"kind"`
	// Flags are its properties.
	Flags TokenFlags `json:"flags"`
	// Score is the vocabulary's, 0 where it has none.
	Score float32 `json:"score"`
	// Piece are the first bytes, at most 128, of what the token stands for; they need not be whole characters.
	Piece []byte `json:"piece"`
	// PieceBytes is the length of the whole piece.
	PieceBytes int `json:"piece_bytes"`
}

// TokenInfo describes one token.
func (e *Engine) TokenInfo(token int32) (TokenInfo, error) {
	handle, err := e.join("token info")
	if err != nil {
		return TokenInfo{}, err
	}
	defer e.leave()
	info := raw.TokenInfo{StructSize: uint32(unsafe.Sizeof(raw.TokenInfo{}))}
	err = check("token info", func(err *raw.Error) Status { return raw.TokenGetInfo(handle, token, &info, err) })
	if err != nil {
		return TokenInfo{}, err
	}
	n := int(info.PieceBytes)
	if n > len(info.Piece) {
		n = len(info.Piece)
	}
	return TokenInfo{Kind: info.Kind, Flags: info.Flags, Score: info.Score, Piece: append([]byte(nil), info.Piece[:n]...),
		PieceBytes: int(info.PieceBytes)}, nil
}

// MetaKeys are the keys of the model file's metadata, in its order.
func (e *Engine) MetaKeys() ([]string, error) {
	handle, err := e.join("meta keys")
	if err != nil {
		return nil, err
	}
	defer e.leave()
	var n uintptr
	if err := check("meta keys", func(err *raw.Error) Status { return raw.MetaCount(handle, &n, err) }); err != nil {
		return nil, err
	}
	keys := make([]string, n)
	for i := range keys {
		keys[i], err = readText("meta keys", 128, func(buf *byte, size uintptr, needed *uintptr, err *raw.Error) Status {
			return raw.MetaKey(handle, uintptr(i), buf, size, needed, err)
		})
		if err != nil {
			return nil, err
		}
	}
	return keys, nil
}

// Meta is a metadata value as text. An array is written as [a, b, c]; a long one is cut short and says how many elements
// there are.
func (e *Engine) Meta(key string) (string, error) {
	handle, err := e.join("meta")
	if err != nil {
		return "", err
	}
	defer e.leave()
	return readText("meta", 512, func(buf *byte, size uintptr, needed *uintptr, err *raw.Error) Status {
		return raw.MetaValue(handle, bytesOf(key), uintptr(len(key)), buf, size, needed, err)
	})
}

// PlanText is the list of operations that a step runs, one line an operation.
func (e *Engine) PlanText() (string, error) {
	handle, err := e.join("plan text")
	if err != nil {
		return "", err
	}
	defer e.leave()
	return readText("plan text", 8192, func(buf *byte, size uintptr, needed *uintptr, err *raw.Error) Status {
		return raw.PlanText(handle, buf, size, needed, err)
	})
}

// ProfileOptions say which step is profiled. Zero is the default of every field.
type ProfileOptions struct {
	// Tokens of the step: by default 1, a decode step, which draws. Range: 0 or more.
	Tokens int
	// Past is how many tokens the session has before the step. Range: 0 or more.
	Past int
	// Repetitions is how often the step is run, by default 20; times are medians. Range: 0 to 10000.
	Repetitions int
}

// Profile runs a step of fixed tokens again and again and measures each operation. ProfileText writes the result. A
// context that has ended refuses it; a profile under way runs to its end.
func (e *Engine) Profile(ctx context.Context, options ProfileOptions) error {
	if ctx.Err() != nil {
		return cancelled("profile", ctx)
	}
	handle, err := e.join("profile")
	if err != nil {
		return err
	}
	defer e.leave()
	defer e.shared.queue.freed.tell() // It has had a session.
	n := numbers{op: "profile"}
	params := raw.ProfileParams{StructSize: uint32(unsafe.Sizeof(raw.ProfileParams{})), NTokens: n.int32("Tokens", options.Tokens),
		NPast: n.int32("Past", options.Past), NRepetitions: n.int32("Repetitions", options.Repetitions)}
	if n.err != nil {
		return n.err
	}
	return check("profile", func(err *raw.Error) Status { return raw.ProfileStep(handle, &params, err) })
}

// ProfileText is what Profile measured: time, bytes, bytes a second and the share of the read bandwidth.
func (e *Engine) ProfileText(form ProfileForm) (string, error) {
	handle, err := e.join("profile text")
	if err != nil {
		return "", err
	}
	defer e.leave()
	return readText("profile text", 16384, func(buf *byte, size uintptr, needed *uintptr, err *raw.Error) Status {
		return raw.ProfileText(handle, form, buf, size, needed, err)
	})
}

// Compare runs the same tokens in two engines and writes how far apart each operation's values are. first is the number
// of the first operation whose error is above the limit, -1 if there is none.
func Compare(a, b *Engine, tokens []int32, nmseLimit float64) (text string, first int, err error) {
	handleA, err := a.join("compare")
	if err != nil {
		return "", 0, err
	}
	defer a.leave()
	handleB, err := b.join("compare")
	if err != nil {
		return "", 0, err
	}
	defer b.leave()
	defer a.shared.queue.freed.tell() // They have had a session each.
	defer b.shared.queue.freed.tell()
	var operation int32
	text, err = readText("compare", 1<<16, func(buf *byte, size uintptr, needed *uintptr, err *raw.Error) Status {
		return raw.CompareText(handleA, handleB, tokensOf(tokens), uintptr(len(tokens)), nmseLimit, &operation, buf, size,
			needed, err)
	})
	return text, int(operation), err
}
