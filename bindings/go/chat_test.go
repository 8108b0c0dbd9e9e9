package inlay

import (
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"testing"
)

const rolesAndTexts = "{% for m in messages %}{{ m.role }}: {{ m.content }}|{% endfor %}"

func TestMessagesJSON(t *testing.T) {
	for want, messages := range map[string][]ChatMessage{
		"[]": nil,
		`[{"role":"user","content":"<a> & \"b\" \\ \n\u0001 é😀"},{"role":"","content":"<|end|>"}]`: {
			{Role: "user", Content: "<a> & \"b\" \\ \n\x01 é😀"}, {Content: "<|end|>"}},
		`[{"role":"user","content":"\ufffd"}]`: {{Role: "user", Content: "\xff"}},
	} {
		text := MessagesJSON(messages)
		if text != want {
			t.Errorf("%s, expected %s", text, want)
		}
		var back []ChatMessage
		if err := json.Unmarshal([]byte(text), &back); err != nil || len(back) != len(messages) {
			t.Errorf("%s: %v", text, err)
		}
	}
	if text := MessagesJSON([]ChatMessage{}); text != "[]" {
		t.Error(text)
	}
}

// Typed messages are what their JSON is, and what they say arrives as it was.
func TestMessagesAreTheirJSON(t *testing.T) {
	engine := engineWith(t, nil)
	messages := []ChatMessage{{Role: "system", Content: "be \"brief\"\n\\ \x01\t\u2028"}, {Role: "user", Content: "<b> & é😀 <|end|>"}}
	text, err := engine.MessagesText(messages, rolesAndTexts, 0)
	if want := "system: be \"brief\"\n\\ \x01\t\u2028|user: <b> & é😀 <|end|>|"; err != nil || text != want {
		t.Errorf("%q, expected %q, %v", text, want, err)
	}
	for _, template := range []string{"", rolesAndTexts} {
		for _, flags := range []ChatFlags{0, ChatAddGenerationPrompt} {
			written, err := json.Marshal(messages)
			if err != nil || !strings.Contains(string(written), `\u003cb\u003e \u0026`) {
				t.Fatal(string(written), err)
			}
			wantText, err := engine.ChatText(string(written), template, flags)
			text, textErr := engine.MessagesText(messages, template, flags)
			if err != nil || textErr != nil || text != wantText {
				t.Errorf("%q, expected %q, %v %v", text, wantText, err, textErr)
			}
			want, err := engine.ChatTokens(string(written), template, flags)
			tokens, tokensErr := engine.MessagesTokens(messages, template, flags)
			if err != nil || tokensErr != nil || len(tokens) == 0 || !reflect.DeepEqual(tokens, want) {
				t.Errorf("%v, expected %v, %v %v", tokens, want, err, tokensErr)
			}
		}
	}
	begun := []ChatMessage{{Role: "user", Content: "Hi"}, {Role: "assistant", Content: "Yes, "}}
	if text, err := engine.MessagesText(begun, rolesAndTexts, ChatContinueFinalMessage); text != "user: Hi|assistant: Yes, " || err != nil {
		t.Errorf("%q %v", text, err)
	}
	if _, err := engine.MessagesText(begun, rolesAndTexts, ChatContinueFinalMessage|ChatAddGenerationPrompt); !errors.Is(err, StatusInvalidArgument) {
		t.Error(err)
	}
	if text, err := engine.MessagesText(nil, rolesAndTexts, 0); text != "" || err != nil {
		t.Errorf("%q %v", text, err)
	}
	if _, err := engine.MessagesTokens(messages, "{% for", 0); !errors.Is(err, StatusFormat) {
		t.Error(err)
	}
	engine.Close()
	if _, err := engine.MessagesTokens(messages, "", 0); !errors.Is(err, ErrClosed) {
		t.Error(err)
	}
}
