package inlay

import (
	"encoding/json"
	"errors"
	"reflect"
	"strconv"
	"strings"
	"sync"
	"testing"
)

const (
	ownFormat = `{"name": "own", "reasoning": {"begin": "<think>", "end": "</think>"}, "calls": {"written": "tagged", "begin": "<call>",
		"end": "</call>", "arguments_begin": ":", "parameter_begin": "[", "parameter_name_end": "]", "value_end": "[/]"}}`
	ownTools = `[{"name": "add", "parameters": {"properties": {"a": {"type": "number"}, "b": {"type": "string"}}}}]`
	ownText  = "<think>Straße</think>It is <call>add:[a]1.5[/][b]2.5[/]</call>"
)

func ownOptions() MessageOptions { return MessageOptions{Format: ownFormat, Tools: ownTools} }

func parserOf(t testing.TB, engine *Engine, options MessageOptions) *MessageParser {
	t.Helper()
	parser, err := engine.NewMessageParser(options)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { parser.Close() })
	return parser
}

// partsOf are the parts of a text in pieces of n bytes, those of one kind put together.
func partsOf(t testing.TB, engine *Engine, text string, n int) (parts []MessagePart) {
	t.Helper()
	parser := parserOf(t, engine, ownOptions())
	take := func(err error) {
		t.Helper()
		found, failed := parser.Take()
		if err != nil || failed != nil {
			t.Fatal(err, failed)
		}
		for _, part := range found {
			if last := len(parts) - 1; last >= 0 && parts[last].Kind == part.Kind {
				parts[last].Text += part.Text
			} else {
				parts = append(parts, part)
			}
		}
	}
	for ; len(text) > n; text = text[n:] {
		take(parser.AppendText(text[:n]))
	}
	take(parser.AppendText(text))
	take(parser.Finish())
	return parts
}

func TestPartsOfAMessage(t *testing.T) {
	engine := engineWith(t, nil)
	whole := partsOf(t, engine, ownText, len(ownText))
	if len(whole) != 6 || len(whole[3].Text) != 9 {
		t.Fatal(whole)
	}
	id := whole[3].Text
	want := []MessagePart{{ChatDeltaReasoning, 0, "Straße", false}, {ChatDeltaContent, 0, "It is ", false}, {ChatDeltaCallBegin, 0, "add", false},
		{ChatDeltaCallID, 0, id, false}, {ChatDeltaArguments, 0, `{"a": 1.5, "b": "2.5"}`, false}, {ChatDeltaCallEnd, 0, "", true}}
	if !reflect.DeepEqual(whole, want) {
		t.Error(whole)
	}
	for n := 1; n < 5; n++ {
		if parts := partsOf(t, engine, ownText, n); !reflect.DeepEqual(parts, want) {
			t.Errorf("in pieces of %d: %v", n, parts)
		}
	}
}

func TestMessagesAreOfAConversation(t *testing.T) {
	engine := engineWith(t, nil)
	parse := func(text string) ParsedMessage {
		t.Helper()
		tokens, err := engine.Tokenize(text, 0)
		if err != nil {
			t.Fatal(err)
		}
		message, err := engine.ParseMessage(tokens, ownOptions())
		if err != nil {
			t.Fatal(err)
		}
		return message
	}
	message := parse(ownText)
	var found struct {
		Role, Content    string
		ReasoningContent string `json:"reasoning_content"`
		ToolCalls        []struct {
			ID, Type string
			Function struct {
				Name      string
				Arguments map[string]any
			}
		} `json:"tool_calls"`
	}
	if err := json.Unmarshal([]byte(message.JSON), &found); err != nil || len(found.ToolCalls) != 1 || message.Calls != 1 || !message.Complete || message.Malformed {
		t.Fatal(message, err)
	}
	call := found.ToolCalls[0]
	if found.Role != "assistant" || found.Content != "It is " || found.ReasoningContent != "Straße" || call.Type != "function" || call.Function.Name != "add" ||
		!reflect.DeepEqual(call.Function.Arguments, map[string]any{"a": 1.5, "b": "2.5"}) {
		t.Error(message)
	}
	if cut := parse(ownText[:len(ownText)-20]); cut.Complete || cut.Calls != 1 {
		t.Error(cut)
	}
	if wrong := parse("<call>("); !wrong.Malformed || !wrong.Complete {
		t.Error(wrong)
	}
}

func TestParsersOutliveTheirEngine(t *testing.T) {
	engine := engineWith(t, nil)
	prompt, err := engine.Tokenize("<think>", 0)
	if err != nil {
		t.Fatal(err)
	}
	options := ownOptions()
	options.Prompt = prompt
	parser := parserOf(t, engine, options)
	engine.Close()
	var group sync.WaitGroup
	for i := 0; i < 8; i++ {
		group.Add(1)
		go func() {
			defer group.Done()
			if err := parser.AppendText("why "); err != nil {
				t.Error(err)
			}
		}()
	}
	group.Wait()
	parts, err := parser.Take()
	if err != nil || len(parts) != 1 || parts[0].Kind != ChatDeltaReasoning || parts[0].Text != strings.Repeat("why ", 8) {
		t.Error(parts, err)
	}
	parser.Close()
	parser.Close()
	if err := parser.AppendText("a"); !errors.Is(err, ErrClosed) {
		t.Error(err)
	}
}

func TestWrongMessageOptionsAreNamed(t *testing.T) {
	engine := engineWith(t, nil)
	for words, options := range map[string]MessageOptions{
		"name":               {Format: "{}"},
		"tools":              {Tools: "[{}]"},
		"Prompt[0] is -1":    {Prompt: []int32{-1}},
		"Flags: unknown bit": {Flags: 2},
	} {
		if _, err := engine.NewMessageParser(options); err == nil || !strings.Contains(err.Error(), words) {
			t.Errorf("%v, expected %s", err, words)
		}
	}
	parser := parserOf(t, engine, MessageOptions{})
	wantStatus(t, parser.Append([]int32{1 << 30}), StatusInvalidArgument)
	_, err := parser.Message()
	wantStatus(t, err, StatusInvalidState)
	if err := parser.Finish(); err != nil {
		t.Error(err)
	}
	wantStatus(t, parser.AppendText("a"), StatusInvalidState)
	wantStatus(t, (*MessageParser)(nil).Finish(), StatusInvalidArgument)
}

func TestChatFormatsAreNamed(t *testing.T) {
	engine := engineWith(t, nil)
	for want, options := range map[string]MessageOptions{
		`"name": "own", "reasoning": true, "calls": true`: ownOptions(),
		`"name": "hermes", "reasoning": false`:            {ChatTemplate: "{{ '<tool_call>' }}"},
		`"name": "content"`:                               {Flags: ChatParserWrittenMarkers},
	} {
		if format, err := engine.ChatFormat(options); err != nil || !strings.Contains(format, want) {
			t.Error(format, err)
		}
	}
}

func TestMessagesUnderAConstraint(t *testing.T) {
	engine := engineWith(t, nil)
	schema := `{"response_format": {"type": "json_schema", "json_schema": {"name": "n", "schema": {"type": "integer", "minimum": 10, "maximum": 99}}}}`
	constraint := constraintOf(t, engine, ConstraintOptions{Message: schema, Prompt: []int32{1, 2, 3}})
	for seed := uint64(1); seed <= 5; seed++ {
		text, _ := written(t, engine, under(constraint, seed))
		if n, err := strconv.Atoi(text); err != nil || n < 10 || n > 99 {
			t.Errorf("%q", text)
		}
	}
	tools := `{"tools": [{"name": "a"}], "tool_choice": "required"}`
	_, err := engine.NewConstraint(ConstraintOptions{Message: tools})
	wantStatus(t, err, StatusUnsupported)
	own := `{"name": "own", "calls": {"written": "json", "begin": "<call>", "end": "</call>", "name_key": "name", "arguments_key": "arguments"}}`
	constraintOf(t, engine, ConstraintOptions{Message: tools, Format: own})
	constraintOf(t, engine, ConstraintOptions{Message: tools, ChatTemplate: "{{ '<tool_call>' }}"})
	_, err = engine.NewConstraint(ConstraintOptions{Message: tools, Format: "{}"})
	wantStatus(t, err, StatusFormat)
	_, err = engine.NewConstraint(ConstraintOptions{AnyJSON: true, Format: own})
	if wantStatus(t, err, StatusInvalidArgument); !strings.Contains(err.Error(), "Format") {
		t.Error(err)
	}
	_, err = engine.NewConstraint(ConstraintOptions{Message: `{"reasoning": {"max_tokens": 5}}`})
	if wantStatus(t, err, StatusUnsupported); !strings.Contains(err.Error(), "has no reasoning") {
		t.Error(err)
	}
	_, err = engine.NewConstraint(ConstraintOptions{AnyJSON: true, Prompt: []int32{1}})
	if wantStatus(t, err, StatusInvalidArgument); !strings.Contains(err.Error(), "Prompt") {
		t.Error(err)
	}
}
