package inlay

import (
	"reflect"
	"time"
	"unsafe"

	"inlay.dev/inlay/raw"
)

// Request is a prompt and what is to become of it. One of Tokens, Text, Messages and Conversation is given; zero is the default
// of every other field.
type Request struct {
	// Tokens is the prompt as token ids, at least 1.
	Tokens []int32
	// Text is the prompt as a text, which becomes tokens as by Tokenize without flags.
	Text string
	// Messages is the prompt as a conversation, which the model's chat template writes.
	Messages []ChatMessage
	// Conversation is the same as JSON, as ChatTokens takes it.
	Conversation string
	// Chat says how the conversation is written, by default by the model's own template with ChatAddGenerationPrompt. Other prompts are refused with it.
	Chat *ChatOptions
	// Kind says what is to become of the prompt: RequestGenerate; RequestPrefill, which computes it and draws nothing; or RequestEmbed,
	// which makes a vector of Tokens or Text, and refuses Messages, Conversation, Session and Continues.
	Kind RequestKind
	// Embed says what the vector of a RequestEmbed is made of, by default what the model's file asks for. Other kinds refuse it.
	Embed *EmbedOptions
	// Session says how tokens are drawn and what ends the request; with Continues from now on, and where it is zero what the session
	// has. SessionReserve and SessionForRequests are refused.
	Session SessionOptions
	// Continues is a session made with SessionForRequests, of the same engine, that the request continues: tokens and text come behind
	// what it has, a text without special tokens in front unless the session is empty. A conversation takes the place of its tokens;
	// what both begin with is not computed again. Requests for one session run one after the other, as they were submitted. The
	// sequence stays in the session, also of a request that is cancelled; closing it cancels them. The queue keeps it from the garbage
	// collector until the request's end was polled.
	Continues *Session
	// Priority says who comes first: who has more, and may put out those that have less where the pool is full. A request that
	// waits rises by one every 250 ms: that says when it begins, and puts out no equal. Range: 0 to 7.
	Priority int
	// Deadline is from now on: among waiting requests of one priority the earliest comes first. It is no promise; 0 is none.
	// Range: 0 or more.
	Deadline time.Duration
	// Timeout is from now on: then the request ends with FinishTimeout, and keeps its text so far; 0 is none. Range: 0 or more.
	Timeout time.Duration
	// User comes back in each event: any number.
	User uint64
	// CacheSalt: the request goes on behind what requests of the same number have computed, and nobody else's, so that nobody can
	// tell by the time of an answer what others have asked. Of KindEmbed it changes nothing. Range: any number.
	CacheSalt uint64
}

// ChatOptions say how a request's conversation is written.
type ChatOptions struct {
	// Template is a chat template, by default the model's own.
	Template string
	// Flags change how it is written.
	Flags ChatFlags
}

// EmbedOptions say what a request's vector is made of, as the arguments of Engine.Embed do.
type EmbedOptions struct {
	// Pooling is how the tokens become one vector, by default as the model's metadata say.
	Pooling Pooling
	// Flags say what the vector is, and what its text.
	Flags EmbedFlags
}

// RequestID is a request's number, at least 1, which the process uses for no other one.
type RequestID uint64

// RequestEvent is what became of a request since its last event.
type RequestEvent struct {
	// Request is whose event it is.
	Request RequestID `json:"request"`
	// Number is 1 for the first event that was polled from the queue, then one more for each.
	Number uint64 `json:"number"`
	// User is the request's.
	User uint64 `json:"user"`
	// Kind is RequestEventTokens, or RequestEventEnd for the last event of the request: each has exactly one.
	Kind RequestEventKind `json:"kind"`
	// Tokens were drawn, those of several steps where nobody has polled meanwhile.
	Tokens []TokenLogprob `json:"tokens,omitempty"`
	// Top has the likeliest tokens in the place of each of Tokens, one after the other, as many as the sampler asks for: see Likeliest.
	Top []TokenLogprob `json:"top,omitempty"`
	// Text is the new text, whole characters. What may begin a stop string is held back until that is clear.
	Text string `json:"text"`
	// Finish is why the request has ended, with its end, else FinishNone.
	Finish FinishReason `json:"finish"`
	// Status and Message say what failed where Finish is FinishError: see Err.
	Status  Status `json:"status"`
	Message string `json:"message,omitempty"`
	// PromptTokens counts the tokens of the prompt, CachedTokens those of them that were not computed for this request, and
	// GeneratedTokens those that were drawn; with the end.
	PromptTokens    int `json:"prompt_tokens"`
	CachedTokens    int `json:"cached_tokens"`
	GeneratedTokens int `json:"generated_tokens"`
	// Values counts those of the vector that Queue.TakeValues gives where Finish is FinishEmbedded; else 0.
	Values int `json:"values"`
	// QueuedTime is from the submission until the request began, PromptTime from there to its first token or, where it drew none, to
	// its end, DecodeTime from there to its end; with the end.
	QueuedTime time.Duration `json:"queued_ns"`
	PromptTime time.Duration `json:"prompt_ns"`
	DecodeTime time.Duration `json:"decode_ns"`
}

// Likeliest are the likeliest tokens in the place of Tokens[i], the likeliest first: as many as the sampler's Logprobs asks for, fewer where
// fewer have a probability.
func (e *RequestEvent) Likeliest(i int) []TokenLogprob {
	if i < 0 || i >= len(e.Tokens) {
		return nil
	}
	n := len(e.Top) / len(e.Tokens)
	all := e.Top[i*n : (i+1)*n]
	for n = 0; n < len(all) && all[n].Token >= 0; n++ {
	}
	return all[:n:n]
}

// Err is the error that the request has ended with, nil where it has not ended or ended otherwise.
func (e *RequestEvent) Err() error {
	if e.Finish != FinishError {
		return nil
	}
	return &Error{Op: "request", Status: e.Status, Message: e.Message}
}

// inC is the request in C's memory.
func (r *Request) inC(op string, memory *memoryInC) (*raw.Request, error) {
	if given := r.prompts(); given != 1 {
		return nil, fail(op, StatusInvalidArgument, "the request has %d of Tokens, Text, Messages and Conversation, expected one", given)
	}
	n := numbers{op: op}
	priority, deadline := n.int32("Priority", r.Priority), n.microseconds("Deadline", r.Deadline)
	timeout := n.microseconds("Timeout", r.Timeout)
	if n.err != nil {
		return nil, n.err
	}
	session, err := r.Session.inC(op, memory)
	if err != nil {
		return nil, err
	}
	if len(r.Session.StopTokens) > 0 {
		session.StopTokens, session.NStopTokens = tokensInC(r.Session.StopTokens, memory), uintptr(len(r.Session.StopTokens))
	}
	out := (*raw.Request)(memory.calloc(unsafe.Sizeof(raw.Request{})))
	*out = raw.Request{StructSize: uint32(unsafe.Sizeof(*out)), Kind: r.Kind, Priority: priority, DeadlineUs: deadline, TimeoutUs: timeout, User: r.User, CacheSalt: r.CacheSalt}
	if r.Continues != nil {
		out.Continues = r.Continues.handle
	}
	if r.Embed != nil {
		out.Embed = (*raw.EmbedParams)(memory.calloc(unsafe.Sizeof(raw.EmbedParams{})))
		*out.Embed = raw.EmbedParams{StructSize: uint32(unsafe.Sizeof(*out.Embed)), Pooling: r.Embed.Pooling, Flags: r.Embed.Flags}
	}
	if r.Continues == nil && r.Kind != RequestEmbed || !reflect.ValueOf(r.Session).IsZero() {
		out.SessionParams = (*raw.SessionParams)(memory.calloc(unsafe.Sizeof(session)))
		*out.SessionParams = session
	}
	r.putPrompt(out, memory)
	return out, nil
}

// prompts counts those that are given.
func (r *Request) prompts() int {
	n := 0
	for _, given := range [4]bool{r.Tokens != nil, r.Text != "", r.Messages != nil, r.Conversation != ""} {
		if given {
			n++
		}
	}
	return n
}

func (r *Request) putPrompt(out *raw.Request, memory *memoryInC) {
	conversation := r.Conversation
	if r.Messages != nil {
		conversation = MessagesJSON(r.Messages)
	}
	switch {
	case r.Tokens != nil:
		out.Tokens, out.NTokens = tokensInC(r.Tokens, memory), uintptr(len(r.Tokens))
	case conversation != "":
		out.Conversation, out.ConversationLen = textInC(conversation, memory)
	default:
		out.Text, out.TextLen = textInC(r.Text, memory)
	}
	if r.Chat != nil {
		out.Chat = (*raw.ChatParams)(memory.calloc(unsafe.Sizeof(raw.ChatParams{})))
		*out.Chat = raw.ChatParams{StructSize: uint32(unsafe.Sizeof(*out.Chat)), Flags: r.Chat.Flags}
		if r.Chat.Template != "" {
			out.Chat.ChatTemplate, out.Chat.TemplateLen = textInC(r.Chat.Template, memory)
		}
	}
}
