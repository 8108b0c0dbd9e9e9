package inlay

import (
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"io/fs"
	"math"
	"os"
	"reflect"
	"regexp"
	"strings"
	"testing"
	"time"
)

// fieldsOfC are the fields of each parameter struct of the C header that a program's options become.
func fieldsOfC(t *testing.T) map[string][]string {
	t.Helper()
	header, err := os.ReadFile("raw/inlay.h")
	if errors.Is(err, fs.ErrNotExist) {
		t.Skip("the sources are not here")
	} else if err != nil {
		t.Fatal(err)
	}
	fields := map[string][]string{}
	for _, found := range regexp.MustCompile(`(?s)typedef struct (inlay_\w+_params) \{\n(.*?)\n\}`).FindAllStringSubmatch(string(header), -1) {
		for _, field := range regexp.MustCompile(`(?m)^  [a-z].* \*?(\w+);$`).FindAllStringSubmatch(found[2], -1) {
			switch field[1] {
			case "struct_size", "reserved", "log_user", "progress_user", "wake_user", "kind", "text", "text_len":
			default:
				fields[found[1]] = append(fields[found[1]], field[1])
			}
		}
	}
	return fields
}

// parametersOf are the names of a method's or a function's parameters.
func parametersOf(t *testing.T, name string) map[string]bool {
	t.Helper()
	packages, err := parser.ParseDir(token.NewFileSet(), ".", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]bool{}
	for _, file := range packages["inlay"].Files {
		for _, declaration := range file.Decls {
			if function, ok := declaration.(*ast.FuncDecl); ok && function.Name.Name == name {
				for _, parameter := range function.Type.Params.List {
					for _, ident := range parameter.Names {
						found[ident.Name] = true
					}
				}
			}
		}
	}
	return found
}

// Each field of each parameter struct has a name in Go, of an option or a parameter that exists.
func TestEveryFieldHasAName(t *testing.T) {
	where := map[string]struct {
		op      string
		options any    // what has the fields
		call    string // or what has the parameters
	}{
		"inlay_load_params":    {"load", LoadOptions{}, ""},
		"inlay_session_params": {"new session", SessionOptions{}, ""},
		"inlay_sampler_params": {"set sampler", Sampler{}, ""},
		"inlay_profile_params": {"profile", ProfileOptions{}, ""},
		"inlay_convert_params": {"convert", ConvertOptions{}, "Convert"},
		"inlay_chat_params":    {"chat tokens", nil, "ChatTokens"},
		"inlay_embed_params":   {"embed", nil, "EmbedTexts"},
		"inlay_score_params":   {"score", ScoreOptions{}, ""},
		"inlay_queue_params":   {"new queue", QueueOptions{}, ""},
		"inlay_run_params":     {"run", RunOptions{}, ""},
		"inlay_thread_params":  {"set thread", ThreadOptions{}, ""},

		"inlay_constraint_params":  {"new constraint", ConstraintOptions{}, ""},
		"inlay_chat_parser_params": {"new message parser", MessageOptions{}, ""},
	}
	n := 0
	for structName, fields := range fieldsOfC(t) {
		in, ok := where[structName]
		if !ok {
			t.Errorf("nothing says where the fields of %s are in Go", structName)
			continue
		}
		for _, field := range fields {
			n++
			name := strings.TrimSuffix(namesOf[in.op].inGo("params."+field+" is 7"), " is 7")
			plain := strings.TrimSuffix(strings.TrimPrefix(name, "len("), ")")
			exists := in.call != "" && parametersOf(t, in.call)[plain]
			if in.options != nil && !exists {
				_, exists = reflect.TypeOf(in.options).FieldByName(plain)
			}
			if !exists {
				t.Errorf("%s of %s is %s in a message, which Go does not have", field, structName, name)
			}
		}
	}
	if n < 60 {
		t.Errorf("%d fields were looked at", n)
	}
}

func TestOnlyFieldsBecomeNames(t *testing.T) {
	for _, c := range [][3]string{
		{"new session", "params.max_tokens is -1, expected 0 to 5", "MaxTokens is -1, expected 0 to 5"},
		{"new session", "params.stop_tokens[0] is 9", "StopTokens[0] is 9"},
		{"new session", "sampler.n_bias is 9", "len(Bias) is 9"},
		{"load", "params.flags: unknown bits 0x8", "Flags: unknown bits 0x8"},
		{"load", "params.flags has NO_CUBLAS, but params.tuning has cublas=1", "Flags has NO_CUBLAS, but Tuning has cublas=1"},
		{"load", "a/b: x, and the load's pre_tokenizer can name", "a/b: x, and the load's PreTokenizer can name"},
		{"profile", "n_tokens + n_past is 5, expected 1 to 4", "Tokens + Past is 5, expected 1 to 4"},
		{"shift", "first is 9 and n_tokens 3, but the sequence has 4", "first is 9 and n 3, but the sequence has 4"},
		{"decode step", "n_sessions is 9, expected at most 8, the max_sessions of the load",
			"len(sessions) is 9, expected at most 8, the MaxSessions of the load"},
		// Words that are no fields where they stand.
		{"load", "a/params.n_context is no file", "a/params.n_context is no file"},
		{"load", "params.n_context_2 is 3", "params.n_context_2 is 3"},
		{"load", "tokenizer.json has no pre_tokenizer", "tokenizer.json has no pre_tokenizer"},
		{"load", "device memory ran out", "device memory ran out"},
		{"load", "the log has more", "the log has more"},
		{"prefill", "n_tokens is 0", "n_tokens is 0"}, // no call of the package says so
		{"load", "", ""},
		{"submit", "request.priority is 9", "Priority is 9"},
		{"submit", "request.session_params.max_tokens is -1", "Session.MaxTokens is -1"},
		{"submit", "request.session_params.gadget is -1", "request.session_params.gadget is -1"},
		{"new constraint", "the grammar, line 1: the rule flags is used and not defined", "the grammar, line 1: the rule flags is used and not defined"},
	} {
		if got := namesOf[c[0]].inGo(c[1]); got != c[2] {
			t.Errorf("%s: %q becomes %q, expected %q", c[0], c[1], got, c[2])
		}
	}
}

// What a program can get wrong is called by Go's names: no message has a name of C's.
func TestMessagesNameGo(t *testing.T) {
	engine := engineWith(t, func(o *LoadOptions) { o.MaxSessions = 4 })
	session := sessionOf(t, engine, nil)
	prefill(t, session, 1, 2, 3)
	ofLoad := func(change func(*LoadOptions)) func() error { return func() error { return loadError(change) } }
	ofPlan := func(options LoadOptions) func() error {
		return func() error { _, err := MemoryPlan(testModel, &options); return err }
	}
	ofSampler := func(sampler Sampler) func() error { return func() error { return session.SetSampler(sampler) } }
	ofSession := func(options SessionOptions) func() error {
		return func() error { _, err := engine.NewSession(&options); return err }
	}
	ofScore := func(options ScoreOptions, texts ...[]int32) func() error {
		return func() error { _, err := engine.Score(background, texts, &options); return err }
	}
	ofProfile := func(options ProfileOptions) func() error {
		return func() error { return engine.Profile(background, options) }
	}
	queue := queueOf(t, engine, nil)
	ofRequest := func(change func(*Request)) func() error {
		return func() error {
			request := Request{Tokens: []int32{1}}
			change(&request)
			_, err := queue.Submit(&request)
			return err
		}
	}
	ofConstraint := func(options ConstraintOptions) func() error {
		return func() error { _, err := engine.NewConstraint(options); return err }
	}
	nan := float32(math.NaN())
	many := make([]string, 65)
	for i := range many {
		many[i] = "x"
	}
	for want, call := range map[string]func() error{
		"Device is ":                     ofLoad(func(o *LoadOptions) { o.Device = 77 }),
		"DeviceIndex is -1":              ofLoad(func(o *LoadOptions) { o.DeviceIndex = -1 }),
		"Context is -1":                  ofPlan(LoadOptions{Context: -1}),
		"Context is 1073741824":          ofPlan(LoadOptions{Context: 1 << 30}),
		"MaxSessions is 1025":            ofPlan(LoadOptions{MaxSessions: 1025}),
		"Threads is -3":                  func() error { _, _, err := Explain(testModel, &LoadOptions{Threads: -3}); return err },
		"KVBudget is 1":                  ofPlan(LoadOptions{KVBudget: 1}),
		"PrefixCacheHost is 1":           ofPlan(LoadOptions{PrefixCacheHost: 1}),
		"KVDtype is 77":                  ofPlan(LoadOptions{KVDtype: 77}),
		"WeightDtype is 77":              ofPlan(LoadOptions{WeightDtype: 77}),
		"PrefillChunk is 4097":           ofPlan(LoadOptions{PrefillChunk: 4097}),
		"LogLevel is 77":                 ofPlan(LoadOptions{LogLevel: 77}),
		"Flags: unknown bits 0x40000000": ofPlan(LoadOptions{Flags: 1 << 30}),
		"Tuning has ":                    ofPlan(LoadOptions{Tuning: "gadget"}),
		"PreTokenizer is ":               ofLoad(func(o *LoadOptions) { o.PreTokenizer = "gadget" }),
		"Threads is -1": func() error {
			return Convert(background, testModel, "never.gguf", ConvertF16, &ConvertOptions{Threads: -1})
		},
		"convertType is 77":                func() error { return Convert(background, testModel, "never.gguf", 77, nil) },
		"Temperature is -1":                ofSampler(Sampler{Temperature: -1}),
		"TopK is -1":                       ofSampler(Sampler{TopK: -1}),
		"TopP is 2":                        ofSampler(Sampler{TopP: 2}),
		"MinP is 2":                        ofSampler(Sampler{MinP: 2}),
		"RepetitionPenalty is -1":          ofSampler(Sampler{RepetitionPenalty: -1}),
		"FrequencyPenalty is ":             ofSampler(Sampler{FrequencyPenalty: nan}),
		"PresencePenalty is ":              ofSampler(Sampler{PresencePenalty: nan}),
		"PenaltyWindow is -2":              ofSampler(Sampler{PenaltyWindow: -2}),
		"Logprobs is 21":                   ofSampler(Sampler{Logprobs: 21}),
		"Bias of token 5 is ":              ofSampler(Sampler{Bias: []LogitBias{{5, nan}}}),
		"Bias names token 5 twice":         ofSampler(Sampler{Bias: []LogitBias{{5, 1}, {5, 1}}}),
		"len(Bias) is 1025":                ofSampler(Sampler{Bias: make([]LogitBias, 1025)}),
		"TypicalP is 2":                    ofSampler(Sampler{TypicalP: 2}),
		"TopNSigma is -1":                  ofSampler(Sampler{TopNSigma: -1}),
		"DynatempRange is -1":              ofSampler(Sampler{DynatempRange: -1}),
		"DynatempExponent is -1":           ofSampler(Sampler{DynatempExponent: -1}),
		"XTCProbability is 2":              ofSampler(Sampler{XTCProbability: 2}),
		"XTCThreshold is 2":                ofSampler(Sampler{XTCThreshold: 2}),
		"MirostatTau is -1":                ofSampler(Sampler{MirostatTau: -1}),
		"MirostatEta is -1":                ofSampler(Sampler{MirostatEta: -1}),
		"AdaptiveTarget is 2":              ofSampler(Sampler{AdaptiveTarget: 2}),
		"AdaptiveDecay is 1":               ofSampler(Sampler{AdaptiveDecay: 1}),
		"DryMultiplier is -1":              ofSampler(Sampler{DryMultiplier: -1}),
		"DryBase is 0.5":                   ofSampler(Sampler{DryBase: 0.5}),
		"DryAllowedLength is -1":           ofSampler(Sampler{DryAllowedLength: -1}),
		"DryWindow is -2":                  ofSampler(Sampler{DryWindow: -2}),
		"len(DryBreakers) is 65":           ofSampler(Sampler{DryBreakers: many}),
		"DryBreakers has no bytes in":      ofSampler(Sampler{DryBreakers: []string{""}}),
		"Flags turn breakers off, but len": ofSampler(Sampler{DryBreakers: []string{"x"}, Flags: SamplerNoDryBreakers}),
		"DryBreakers has 129 bytes":        ofSampler(Sampler{DryBreakers: []string{string(make([]byte, 129))}}),
		"Flags: unknown bits 0x80000000":   ofSampler(Sampler{Flags: 1 << 31}),
		"Temperature is -2":                ofSession(SessionOptions{Sampler: Sampler{Temperature: -2}}),
		"MaxTokens is -1":                  ofSession(SessionOptions{MaxTokens: -1}),
		"len(Stop) is 65":                  ofSession(SessionOptions{Stop: many}),
		"Flags: unknown bits 0x40":         ofSession(SessionOptions{Flags: 64}),
		"len(texts) is 65":                 func() error { return session.SetStop(many...) },
		"len(tokens) is 1025":              func() error { return session.SetStopTokens(make([]int32, 1025)...) },
		"n is -1":                          func() error { return session.SetMaxTokens(-1) },
		"n is 99":                          func() error { return session.Truncate(99) },
		"first is 99 and n 1":              func() error { return session.Shift(99, 1) },
		"maxUnits is -1":                   func() error { _, _, err := DecodeSlice([]*Session{session}, -1, nil); return err },
		"Past is -1":                       ofProfile(ProfileOptions{Past: -1}),
		"Repetitions is 10001":             ofProfile(ProfileOptions{Repetitions: 10001}),
		"Tokens + Past is ":                ofProfile(ProfileOptions{Tokens: 100, Past: 500}),
		"nmseLimit is -1":                  func() error { _, _, err := Compare(engine, engine, []int32{1}, -1); return err },
		"flags: unknown bits 0x100":        func() error { _, err := engine.ChatTokens("[]", "x", 0x100); return err },
		"pooling is 77":                    func() error { _, err := engine.EmbedTexts(background, []string{"x"}, 77, 0); return err },
		"texts[1] has no tokens":           ofScore(ScoreOptions{}, []int32{1}, nil),
		"MaxRequests is -1":                func() error { _, err := engine.NewQueue(&QueueOptions{MaxRequests: -1}); return err },
		"MaxRequests is 1048577":           func() error { _, err := engine.NewQueue(&QueueOptions{MaxRequests: 1<<20 + 1}); return err },
		"MaxUnreadTokens is -1":            func() error { _, err := engine.NewQueue(&QueueOptions{MaxUnreadTokens: -1}); return err },
		"the request has 0 of Tokens, Text, Messages and Conversation": ofRequest(func(r *Request) { r.Tokens = nil }),
		"the request has 2 of Tokens, Text, Messages and Conversation": ofRequest(func(r *Request) { r.Text = "x" }),
		"the prompt has no tokens":                                     ofRequest(func(r *Request) { r.Tokens = []int32{} }),
		"Priority is 8, expected 0 to 7":                               ofRequest(func(r *Request) { r.Priority = 8 }),
		"Deadline is -1ns":                                             ofRequest(func(r *Request) { r.Deadline = -1 }),
		"Timeout is -1s":                                               ofRequest(func(r *Request) { r.Timeout = -time.Second }),
		"Temperature is -3":                                            ofRequest(func(r *Request) { r.Session.Sampler.Temperature = -3 }),
		"Session.MaxTokens is -2":                                      ofRequest(func(r *Request) { r.Session.MaxTokens = -2 }),
		"len(Session.Stop) is 65, ":                                    ofRequest(func(r *Request) { r.Session.Stop = many }),
		"len(Session.StopTokens) is 1025":                              ofRequest(func(r *Request) { r.Session.StopTokens = make([]int32, 1025) }),
		"stop token 0 is -5":                                           ofRequest(func(r *Request) { r.Session.StopTokens = []int32{-5} }),
		"Chat.Flags: unknown bits 0x200": ofRequest(func(r *Request) {
			r.Tokens, r.Conversation, r.Chat = nil, "[]", &ChatOptions{Template: "x", Flags: 0x200}
		}),
		"Budget is -1µs":              func() error { _, err := engine.Run(background, RunOptions{Budget: -time.Microsecond}); return err },
		"HostBudget is -1ns":          func() error { _, err := engine.Run(background, RunOptions{HostBudget: -1}); return err },
		"MaxStep is -1ns":             func() error { _, err := engine.Run(background, RunOptions{MaxStep: -1}); return err },
		"Flags: unknown bits 0x4":     func() error { _, err := engine.Run(background, RunOptions{Flags: 4}); return err },
		"of Busy and Period one is 0": func() error { return engine.SetThread(&ThreadOptions{Busy: 1}) },
		"Busy is more than Period":    func() error { return engine.SetThread(&ThreadOptions{Busy: time.Second, Period: 1}) },
		"Given is -1":                 ofScore(ScoreOptions{Given: -1}, []int32{1}),
		"Flags: unknown bits 0x8":     ofConstraint(ConstraintOptions{AnyJSON: true, Flags: 8}),
		"len(Choices) is 0":           ofConstraint(ConstraintOptions{Choices: []string{}}),
		"len(Choices) is 65537":       ofConstraint(ConstraintOptions{Choices: make([]string, 65537)}),
		"choice 1 is empty":           ofConstraint(ConstraintOptions{Choices: []string{"x", ""}}),
		"the constraint has 0 of JSONSchema, AnyJSON, GBNF, Regex, Choices and Message": ofConstraint(ConstraintOptions{}),
		"the constraint has 3 of JSONSchema, AnyJSON, GBNF, Regex, Choices and Message": ofConstraint(
			ConstraintOptions{GBNF: "root ::= \"x\"", Regex: "x", Choices: []string{"x"}}),
	} {
		e := wantStatus(t, call(), StatusInvalidArgument)
		if !strings.HasPrefix(e.Message, want) || regexp.MustCompile(`params\.|sampler\.|\b[a-z]+_[a-z_]+\b`).MatchString(strings.Split(e.Message, "tuning knows")[0]) {
			t.Errorf("%q does not begin with %q, or has a name of C's", e.Message, want)
		}
	}
}

// miscounting writes, but tells another number of bytes.
type miscounting int

func (m miscounting) Write(p []byte) (int, error) { return len(p) + int(m), nil }

func TestWritersThatMiscountAreErrors(t *testing.T) {
	engine := engineWith(t, nil)
	for more, want := range map[int]string{0: "", 1: "has written", 1 << 20: "has written", -1: io.ErrShortWrite.Error(), -1 << 20: "has written"} {
		session := sessionOf(t, engine, &SessionOptions{MaxTokens: 5, Flags: SessionIgnoreEndOfGeneration})
		generation, err := session.Generate(background, "Once upon a time", nil)
		if err != nil {
			t.Fatal(err)
		}
		n, err := generation.WriteTo(miscounting(more))
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) || n < 0 {
			t.Errorf("%d bytes more: %d, %v", more, n, err)
		}
		session.Close()
	}
}
