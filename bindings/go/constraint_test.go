package inlay

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"regexp"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"
)

const heroSchema = `{"type": "object", "properties": {"name": {"type": "string", "maxLength": 8}, "age": {"type": "integer", "minimum": 0, "maximum": 150},
	"mood": {"enum": ["calm", "angry"]}}, "required": ["name", "age", "mood"], "additionalProperties": false}`

type hero struct {
	Name *string `json:"name"`
	Age  *int    `json:"age"`
	Mood string  `json:"mood"`
}

// isHero tells if a text is JSON of heroSchema.
func isHero(text string) bool {
	var found hero
	decoder := json.NewDecoder(strings.NewReader(text))
	decoder.DisallowUnknownFields()
	return json.Valid([]byte(text)) && decoder.Decode(&found) == nil && found.Name != nil && len([]rune(*found.Name)) <= 8 && found.Age != nil && *found.Age >= 0 &&
		*found.Age <= 150 && (found.Mood == "calm" || found.Mood == "angry")
}

func constraintOf(t testing.TB, engine *Engine, options ConstraintOptions) *Constraint {
	t.Helper()
	constraint, err := engine.NewConstraint(options)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { constraint.Close() })
	return constraint
}

// under are options of a session that draws at random what the constraint allows.
func under(constraint *Constraint, seed uint64) SessionOptions {
	return SessionOptions{MaxTokens: 200, Sampler: Sampler{Temperature: 1, Seed: seed}, Constraint: constraint}
}

// written is what a session writes, and why it ended.
func written(t testing.TB, engine *Engine, options SessionOptions) (string, FinishReason) {
	t.Helper()
	found := sessionsAnswer(t, engine, []int32{1, 2, 3}, options)
	return found.text, found.end.Finish
}

func wantState(t testing.TB, session *Session, want ConstraintState) {
	t.Helper()
	if info, err := session.Info(); err != nil || info.ConstraintState != want {
		t.Errorf("the state is %v, expected %v; %v", info.ConstraintState, want, err)
	}
}

func TestChoicesAreWrittenWhole(t *testing.T) {
	engine := engineWith(t, nil)
	texts := []string{"yes", "no", "perhaps not"}
	constraint := constraintOf(t, engine, ConstraintOptions{Choices: texts})
	seen := map[string]int{}
	for seed := uint64(1); seed <= 30; seed++ {
		text, finish := written(t, engine, under(constraint, seed))
		if finish != FinishEndOfGeneration {
			t.Errorf("%q ends with %v", text, finish)
		}
		seen[text]++
	}
	if n := seen["yes"] + seen["no"] + seen["perhaps not"]; n != 30 || len(seen) < 2 {
		t.Error(seen)
	}
	text, _ := written(t, engine, under(nil, 1))
	if strings.Contains(strings.Join(texts, "|"), text) {
		t.Errorf("the model alone writes %q", text)
	}
}

func TestTextsOfASchemaParse(t *testing.T) {
	engine := engineWith(t, nil)
	constraint := constraintOf(t, engine, ConstraintOptions{JSONSchema: heroSchema})
	texts := map[string]bool{}
	for seed := uint64(1); seed <= 20; seed++ {
		text, finish := written(t, engine, under(constraint, seed))
		if texts[text] = true; !isHero(text) || finish != FinishEndOfGeneration {
			t.Errorf("%q ends with %v", text, finish)
		}
		if text, _ := written(t, engine, under(nil, seed)); isHero(text) {
			t.Errorf("the model alone writes %q", text)
		}
	}
	if len(texts) < 10 {
		t.Errorf("%d different texts", len(texts))
	}
}

// Each kind once, by what it says of a text.
func TestKindsOfConstraints(t *testing.T) {
	engine := engineWith(t, nil)
	for pattern, options := range map[string]ConstraintOptions{
		`^a[0-9]b$`:              {GBNF: `root ::= "a" [0-9] "b"`},
		`^20[0-9]{2}-[01][0-9]$`: {Regex: `20[0-9]{2}-[01][0-9]`},
		`^(red|"?\x00é)$`:        {Choices: []string{"red", "\"?\x00é"}},
		`^"[abc]{3}"$`:           {JSONSchema: `{"type": "string", "pattern": "^[abc]{3}$"}`},
		`^\[true,[1-3]\]$`:       {JSONSchema: `{"prefixItems": [{"const": true}, {"enum": [1, 2, 3]}], "minItems": 2, "maxItems": 2, "type": "array"}`, Flags: ConstraintFlagCompact},
	} {
		constraint := constraintOf(t, engine, options)
		for seed := uint64(1); seed <= 5; seed++ {
			if text, finish := written(t, engine, under(constraint, seed)); !regexp.MustCompile(pattern).MatchString(text) || finish != FinishEndOfGeneration {
				t.Errorf("%q ends with %v, expected %s", text, finish, pattern)
			}
		}
	}
	session := sessionOf(t, engine, nil)
	anything := constraintOf(t, engine, ConstraintOptions{AnyJSON: true})
	for text, want := range map[string]ConstraintState{`{"a": [1, tr`: ConstraintStateIncomplete, `[1]`: ConstraintStateComplete, `"x"`: ConstraintStateComplete} {
		if err := session.SetConstraint(anything, text); err != nil {
			t.Error(err)
		}
		wantState(t, session, want)
	}
	wantStatus(t, session.SetConstraint(anything, "[1,}"), StatusInvalidArgument)
}

// What each flag changes, by what may have been written.
func TestFlagsOfConstraints(t *testing.T) {
	engine := engineWith(t, nil)
	session := sessionOf(t, engine, nil)
	for text, with := range map[string]ConstraintFlags{`"\u00e9`: ConstraintFlagEscapes, `{"a": 1`: 0} {
		for flags := ConstraintFlags(0); flags <= ConstraintFlagCompact|ConstraintFlagEscapes; flags++ {
			allowed := flags&with == with && (with != 0 || flags&ConstraintFlagCompact == 0)
			err := session.SetConstraint(constraintOf(t, engine, ConstraintOptions{AnyJSON: true, Flags: flags}), text)
			if (err == nil) != allowed {
				t.Errorf("%s with flags %d: %v", text, flags, err)
			}
		}
	}
	schema := `{"contains": {}, "unevaluatedItems": false}`
	_, err := engine.NewConstraint(ConstraintOptions{JSONSchema: schema})
	if e := wantStatus(t, err, StatusUnsupported); !strings.Contains(e.Message, "unevaluatedItems") || e.Op != "new constraint" {
		t.Error(e)
	}
	lenient := constraintOf(t, engine, ConstraintOptions{JSONSchema: schema, Flags: ConstraintFlagLenient})
	if info, err := lenient.Info(); err != nil || len(info.Remarks) != 1 || !strings.Contains(info.Remarks[0], "unevaluatedItems") {
		t.Error(info, err)
	}
}

func TestInfoOfAConstraint(t *testing.T) {
	engine := engineWith(t, nil)
	long := strings.Repeat("gadget", 100) // More than the first buffer for a remark holds.
	constraint := constraintOf(t, engine, ConstraintOptions{JSONSchema: fmt.Sprintf(
		`{"properties": {"a": {"type": "string", "format": "gadget"}, "%s": {"type": "string", "format": "widget"}}}`, long)})
	before, err := constraint.Info()
	if err != nil || before.MemoryBytes == 0 || len(before.Remarks) != 2 || !strings.Contains(before.Remarks[0], "gadget") ||
		!strings.Contains(before.Remarks[1], "widget") || len(before.Remarks[1]) < 100 {
		t.Fatal(before, err)
	}
	written(t, engine, under(constraint, 1))
	if after, err := constraint.Info(); err != nil || after.MemoryBytes <= before.MemoryBytes || len(after.Remarks) != 2 {
		t.Errorf("%d bytes before, %d after; %v", before.MemoryBytes, after.MemoryBytes, err)
	}
	if info, err := constraintOf(t, engine, ConstraintOptions{AnyJSON: true}).Info(); err != nil || len(info.Remarks) != 0 {
		t.Error(info, err)
	}
}

// Sessions and requests of many goroutines draw under one constraint what each draws alone, also where it was closed meanwhile.
func TestSharedByGoroutines(t *testing.T) {
	engine := engineWith(t, func(o *LoadOptions) { o.MaxSessions = 32 })
	alone := constraintOf(t, engine, ConstraintOptions{JSONSchema: heroSchema, Flags: ConstraintFlagCompact})
	var want []string
	for seed := uint64(0); seed < 12; seed++ {
		text, _ := written(t, engine, under(alone, seed+1))
		want = append(want, text)
	}
	shared := constraintOf(t, engine, ConstraintOptions{JSONSchema: heroSchema, Flags: ConstraintFlagCompact})
	giveThread(t, engine)
	var made, all sync.WaitGroup
	for i := 0; i < 24; i++ {
		made.Add(1)
		all.Add(1)
		go func(i int) {
			defer all.Done()
			read, err := func() (func() (string, error), error) {
				defer made.Done()
				options := under(shared, uint64(i/2+1))
				if i%2 == 0 {
					answer, err := engine.Ask(background, &Request{Tokens: []int32{1, 2, 3}, Session: options})
					if err != nil {
						return nil, err
					}
					return answer.Text, nil
				}
				session, err := engine.WaitForSession(background, &options)
				if err != nil {
					return nil, err
				}
				return func() (string, error) {
					defer session.Close()
					generation, err := session.GenerateTokens(background, []int32{1, 2, 3}, nil)
					if err != nil {
						return "", err
					}
					return generation.Text()
				}, nil
			}()
			if err != nil {
				t.Error(err)
				return
			}
			if text, err := read(); err != nil || text != want[i/2] {
				t.Errorf("%d: %q, expected %q; %v", i, text, want[i/2], err)
			}
		}(i)
	}
	made.Wait()
	shared.Close()
	all.Wait()
}

// Close beside every use of a constraint: a call does its work, or says that it is closed.
func TestConstraintsClosedBesideCalls(t *testing.T) {
	engine := engineWith(t, func(o *LoadOptions) { o.MaxSessions = 16 })
	queue := queueOf(t, engine, nil)
	closed := 0
	for round := 0; round < 30; round++ {
		constraint := constraintOf(t, engine, ConstraintOptions{Choices: []string{"yes", "no"}})
		session := sessionOf(t, engine, nil)
		var calls sync.WaitGroup
		results := make(chan error, 64)
		for _, call := range []func() error{
			func() error { _, err := constraint.Info(); return err },
			func() error { return session.SetConstraint(constraint, "y") },
			func() error {
				own, err := engine.NewSession(&SessionOptions{Constraint: constraint})
				if err == nil {
					own.Close()
				}
				return err
			},
			func() error {
				id, err := queue.Submit(&Request{Text: "x", Session: SessionOptions{Constraint: constraint}})
				queue.Cancel(id)
				return err
			},
		} {
			calls.Add(1)
			go func(call func() error) {
				defer calls.Done()
				for k := 0; k < 8; k++ {
					results <- call()
				}
			}(call)
		}
		for i := 0; i < 2; i++ {
			calls.Add(1)
			go func() {
				defer calls.Done()
				time.Sleep(time.Duration(round) * 5 * time.Microsecond)
				constraint.Close()
			}()
		}
		calls.Wait()
		session.Close()
		close(results)
		for err := range results {
			if err != nil && !errors.Is(err, ErrClosed) {
				t.Error(err)
			}
			if err != nil {
				closed++
			}
		}
		for {
			if events, err := queue.Poll(nil); err != nil || len(events) == 0 {
				break
			}
		}
	}
	if closed == 0 {
		t.Error("no call met a closed constraint")
	}
}

func TestSetConstraintBehindWrittenText(t *testing.T) {
	engine := engineWith(t, nil)
	session := sessionOf(t, engine, &SessionOptions{MaxTokens: 300, Sampler: Sampler{Temperature: 1, Seed: 3}})
	schema := constraintOf(t, engine, ConstraintOptions{JSONSchema: heroSchema})
	prefill(t, session, 1, 2, 3)
	wantState(t, session, ConstraintStateNone)
	begun := `{"name": "Bob", "age": 4`
	if err := session.SetConstraint(schema, begun); err != nil {
		t.Fatal(err)
	}
	wantState(t, session, ConstraintStateIncomplete)
	fork, err := session.Fork()
	if err != nil {
		t.Fatal(err)
	}
	defer fork.Close()
	for _, s := range []*Session{session, fork} {
		text, err := s.Continue(background).Text()
		if err != nil || !isHero(begun+text) || isHero(text) {
			t.Errorf("%q %v", text, err)
		}
		wantState(t, s, ConstraintStateComplete)
	}
	if text, err := session.ForcedText(); err != nil || text != "" {
		t.Error(text, err)
	}
	wantStatus(t, session.SetConstraint(schema, begun+"x"), StatusInvalidArgument)
	wantStatus(t, session.SetConstraint(nil, "x"), StatusInvalidArgument)
	wantState(t, session, ConstraintStateComplete) // It is as before.
	// A later generation begins with the constraint.
	prefill(t, session, 4)
	wantState(t, session, ConstraintStateIncomplete)
	if text, err := session.Continue(background).Text(); err != nil || !isHero(text) {
		t.Errorf("%q %v", text, err)
	}
	if err := session.SetConstraint(nil, ""); err != nil {
		t.Error(err)
	}
	wantState(t, session, ConstraintStateNone)
	prefill(t, session, 4)
	if text, err := session.Continue(background).Text(); err != nil || isHero(text) {
		t.Errorf("%q %v", text, err)
	}
	// One that a prompt brings stays.
	words := constraintOf(t, engine, ConstraintOptions{Choices: []string{"yes", "no"}})
	for _, options := range []*GenerateOptions{{Constraint: words}, nil} {
		generation, err := session.Generate(background, "x", options)
		if err != nil {
			t.Fatal(err)
		}
		if text, err := generation.Text(); err != nil || text != "yes" && text != "no" {
			t.Errorf("%q %v", text, err)
		}
	}
}

// A chat's answers are of its session's constraint.
func TestChatUnderAConstraint(t *testing.T) {
	engine := engineWith(t, nil)
	constraint := constraintOf(t, engine, ConstraintOptions{Choices: []string{"yes", "no"}})
	chat := chatOf(t, engine, &SessionOptions{Constraint: constraint}, system())
	for _, line := range []string{aRoom, aName} {
		if text, last := answerOf(t, chat, line); text != "yes" && text != "no" || last.Finish != FinishEndOfGeneration {
			t.Errorf("%q %+v", text, last)
		}
	}
}

func TestConstraintErrorsByName(t *testing.T) {
	engine := engineWith(t, nil)
	for name, c := range map[string]struct {
		options ConstraintOptions
		want    Status
		message string
	}{
		"schema is no JSON":    {ConstraintOptions{JSONSchema: "{"}, StatusFormat, ""},
		"schema has no such":   {ConstraintOptions{JSONSchema: `{"properties": {"a": {"type": "gadget"}}}`}, StatusFormat, "a"},
		"not supported":        {ConstraintOptions{JSONSchema: `{"properties": {"a": {"contains": {}, "unevaluatedItems": false}}}`}, StatusUnsupported, "unevaluatedItems"},
		"grammar":              {ConstraintOptions{GBNF: "root ::= flags"}, StatusFormat, "flags"},
		"grammar without root": {ConstraintOptions{GBNF: `gadget ::= "a"`}, StatusFormat, "root"},
		"expression":           {ConstraintOptions{Regex: "a(b"}, StatusFormat, ""},
		"look-around":          {ConstraintOptions{Regex: "(?=a)b"}, StatusUnsupported, ""},
	} {
		constraint, err := engine.NewConstraint(c.options)
		if e := wantStatus(t, err, c.want); !strings.Contains(e.Message, c.message) || constraint != nil || e.Op != "new constraint" {
			t.Errorf("%s: %v", name, e)
		}
	}
	if _, err := (*Engine)(nil).NewConstraint(ConstraintOptions{AnyJSON: true}); !errors.Is(err, StatusInvalidArgument) {
		t.Error(err)
	}
	if _, err := (*Constraint)(nil).Info(); !errors.Is(err, StatusInvalidArgument) {
		t.Error(err)
	}
}

// A constraint of another engine, or beside a flag that denies that texts end, is refused wherever it is given.
func TestConstraintsThatAreRefused(t *testing.T) {
	engine, other := engineWith(t, nil), engineWith(t, nil)
	own := constraintOf(t, engine, ConstraintOptions{Choices: []string{"yes"}})
	foreign := constraintOf(t, other, ConstraintOptions{Choices: []string{"yes"}})
	closed := constraintOf(t, engine, ConstraintOptions{Choices: []string{"yes"}})
	closed.Close()
	session, endless, queue := sessionOf(t, engine, nil), sessionOf(t, engine, &SessionOptions{Flags: SessionIgnoreEndOfGeneration}), queueOf(t, engine, nil)
	const flag = SessionIgnoreEndOfGeneration
	newSession := func(c *Constraint, flags SessionFlags) error {
		made, err := engine.NewSession(&SessionOptions{Constraint: c, Flags: flags})
		if err == nil {
			made.Close()
		}
		return err
	}
	request := func(c *Constraint, flags SessionFlags) error {
		_, err := queue.Submit(&Request{Text: "x", Session: SessionOptions{Constraint: c, Flags: flags}})
		return err
	}
	generate := func(s *Session, c *Constraint) error {
		_, err := s.Generate(background, "x", &GenerateOptions{Constraint: c})
		return err
	}
	for name, calls := range map[string][4]func(c *Constraint) error{ // with a constraint, and with one and the flag
		"session":  {func(c *Constraint) error { return newSession(c, 0) }, func(c *Constraint) error { return newSession(c, flag) }},
		"request":  {func(c *Constraint) error { return request(c, 0) }, func(c *Constraint) error { return request(c, flag) }},
		"set":      {func(c *Constraint) error { return session.SetConstraint(c, "") }, func(c *Constraint) error { return endless.SetConstraint(c, "") }},
		"generate": {func(c *Constraint) error { return generate(session, c) }, func(c *Constraint) error { return generate(endless, c) }},
	} {
		if err := calls[0](own); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if e := wantStatus(t, calls[0](foreign), StatusInvalidArgument); !strings.Contains(e.Message, "another engine") {
			t.Errorf("%s: %v", name, e)
		}
		if e := wantStatus(t, calls[1](own), StatusInvalidArgument); !strings.Contains(e.Message, "IGNORE_END_OF_GENERATION") {
			t.Errorf("%s: %v", name, e)
		}
		for _, gone := range []*Constraint{closed, {}} {
			if e := wantStatus(t, calls[0](gone), StatusInvalidState); !errors.Is(e, ErrClosed) || !strings.Contains(e.Message, "constraint") {
				t.Errorf("%s: %v", name, e)
			}
		}
	}
	if err := session.begin("test"); err != nil {
		t.Fatal(err)
	}
	wantStatus(t, session.SetConstraint(own, ""), StatusBusy)
	session.end()
	session.Close()
	wantClosed(t, session.SetConstraint(own, ""))
	if users := own.users.Load(); users != 1 {
		t.Errorf("%d users are left", users)
	}
}

// A constraint needs no engine, and a session needs no constraint that it was given.
func TestConstraintsOutlive(t *testing.T) {
	engine := engineWith(t, nil)
	constraint := constraintOf(t, engine, ConstraintOptions{Choices: []string{"yes", "no"}})
	session := sessionOf(t, engine, &SessionOptions{Constraint: constraint})
	engine.Close()
	_, err := engine.NewConstraint(ConstraintOptions{AnyJSON: true})
	wantClosed(t, err)
	if err := session.SetConstraint(constraint, ""); err != nil {
		t.Error(err)
	}
	if err := constraint.join("test"); err != nil { // as a call under way
		t.Fatal(err)
	}
	for i := 0; i < 2; i++ {
		if err := constraint.Close(); err != nil {
			t.Error(err)
		}
	}
	_, err = constraint.Info()
	wantClosed(t, err)
	constraint.leave()
	if users := constraint.users.Load(); users != 0 {
		t.Errorf("%d users are left", users)
	}
	for i := 0; i < 2; i++ {
		generation, err := session.Generate(background, "x", nil)
		if err != nil {
			t.Fatal(err)
		}
		if text, err := generation.Text(); err != nil || text != "yes" && text != "no" {
			t.Errorf("%q %v", text, err)
		}
	}
	var last *Constraint
	func() {
		options := testOptions()
		engine, err := Load(background, testModel, &options)
		if err != nil {
			t.Fatal(err)
		}
		defer engine.Close()
		last, err = engine.NewConstraint(ConstraintOptions{AnyJSON: true})
		if err != nil {
			t.Fatal(err)
		}
	}()
	if info, err := last.Info(); err != nil || info.MemoryBytes == 0 {
		t.Error(info, err)
	}
	last.Close()
}

// Where no token may follow a generation ends without one: with the text whole, or not.
func TestEndsUnderAConstraint(t *testing.T) {
	engine := engineWith(t, nil)
	constraint := constraintOf(t, engine, ConstraintOptions{Choices: []string{"yes"}})
	never := float32(math.Inf(-1))
	options := SessionOptions{Constraint: constraint, Sampler: Sampler{Bias: []LogitBias{{engine.Info().EOS, never}}}}
	giveThread(t, engine)
	for name, ask := range map[string]func(SessionOptions) (string, FinishReason, error){
		"session": func(o SessionOptions) (string, FinishReason, error) {
			session := sessionOf(t, engine, &o)
			generation, err := session.GenerateTokens(background, []int32{1, 2}, nil)
			if err != nil {
				t.Fatal(err)
			}
			text, err := generation.Text()
			return text, generation.Finish(), err
		},
		"request": func(o SessionOptions) (string, FinishReason, error) {
			answer, err := engine.Ask(background, &Request{Tokens: []int32{1, 2}, Session: o})
			if err != nil {
				t.Fatal(err)
			}
			text, err := answer.Text()
			return text, answer.Finish(), err
		},
	} {
		if text, finish, err := ask(SessionOptions{Constraint: constraint}); text != "yes" || finish != FinishEndOfGeneration || err != nil {
			t.Errorf("%s: %q %v %v", name, text, finish, err)
		}
		if text, finish, err := ask(options); text != "yes" || finish != FinishConstraintEnd || err != nil {
			t.Errorf("%s: %q %v %v", name, text, finish, err)
		}
		banned := SessionOptions{Constraint: constraint}
		banned.Sampler.Bias = everyToken(t, engine, func(piece string) bool { return piece != "" && strings.HasPrefix("yes", piece) })
		text, finish, err := ask(banned)
		if e := wantStatus(t, err, StatusInvalidState); text != "" || finish != FinishDeadEnd || !strings.Contains(e.Message, "constraint") {
			t.Errorf("%s: %q %v %v", name, text, finish, err)
		}
	}
	session := sessionOf(t, engine, &SessionOptions{Constraint: constraint})
	prefill(t, session, 1, 2)
	wrong, err := engine.Tokenize("no", TokenizeNoBOSEOS)
	if err != nil {
		t.Fatal(err)
	}
	if n, err := session.Accept(wrong); err != nil || n != len(wrong) {
		t.Error(n, err)
	}
	wantState(t, session, ConstraintStateDead)
	if event, err := session.Step(); err != nil || event.Finish != FinishDeadEnd || event.Token != -1 {
		t.Errorf("%+v %v", event, err)
	}
	if FinishConstraintEnd.String() != "CONSTRAINT_END" || FinishDeadEnd.String() != "DEAD_END" {
		t.Error(FinishConstraintEnd.String(), FinishDeadEnd.String())
	}
}

// everyToken bans the tokens whose pieces are such.
func everyToken(t testing.TB, engine *Engine, isSuch func(piece string) bool) (bans []LogitBias) {
	t.Helper()
	for token := int32(0); int(token) < engine.Info().NVocab; token++ {
		info, err := engine.TokenInfo(token)
		if err != nil {
			t.Fatal(err)
		}
		if isSuch(string(info.Piece)) {
			bans = append(bans, LogitBias{token, float32(math.Inf(-1))})
		}
	}
	return bans
}

// Constraints that are dropped are freed by the garbage collector, and closed ones at once.
func TestDroppedConstraints(t *testing.T) {
	engine := engineWith(t, nil)
	choices := make([]string, 2000)
	for i := range choices {
		choices[i] = fmt.Sprintf("%x", uint64(i+1)*0x9e3779b97f4a7c15)
	}
	atFirst := 0
	for i := 0; i < 200; i++ {
		constraint, err := engine.NewConstraint(ConstraintOptions{Choices: choices})
		if err != nil {
			t.Fatal(err)
		}
		if i%2 == 0 {
			constraint.Close()
		}
		if i%2 == 1 {
			runtime.GC()
		}
		if i == 50 {
			atFirst = residentBytes(t)
			info, err := constraintOf(t, engine, ConstraintOptions{Choices: choices}).Info()
			if err != nil || info.MemoryBytes < 2<<20 {
				t.Errorf("%d bytes are too few to be missed; %v", info.MemoryBytes, err)
			}
		}
	}
	if grown := residentBytes(t) - atFirst; grown > 48<<20 {
		t.Errorf("%d bytes more are resident after 150 constraints", grown)
	}
}

// The README's example is the one that is compiled and run, but for what it does with errors.
func TestTheReadmeShowsTheExample(t *testing.T) {
	readme, err := os.ReadFile("README.md")
	if errors.Is(err, fs.ErrNotExist) {
		t.Skip("the sources are not here")
	}
	example, err := os.ReadFile("example_test.go")
	if err != nil {
		t.Fatal(err)
	}
	shown := regexp.MustCompile("(?s)```go\n(constraint, err := .*?)```").FindSubmatch(readme)
	if shown == nil {
		t.Fatal("the README has no such example")
	}
	lines := func(text string) string { return strings.Join(strings.Fields(text), " ") }
	run := strings.ReplaceAll(lines(string(example)), "log.Fatal(err)", "return err")
	if want := lines(string(shown[1])); !strings.Contains(run, want) || strings.Contains(run, want+" gadget") {
		t.Errorf("example_test.go does not have %s", want)
	}
}
