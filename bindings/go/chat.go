package inlay

import (
	"encoding/json"
	"strings"
)

// ChatMessage is one message of a conversation. A conversation with more than roles and texts (tools, images, a template's
// own variables) is written as JSON: see Engine.ChatText.
type ChatMessage struct {
	// Role is who says it: "system", "user", "assistant", or what else the model's template knows.
	Role string `json:"role"`
	// Content is what is said. Control tokens in it are text.
	Content string `json:"content"`
}

// MessagesJSON is the conversation as the JSON array that Engine.ChatText and Engine.ChatTokens take. Bytes that are no UTF-8
// become U+FFFD; the text is otherwise as it was, < and & too.
func MessagesJSON(messages []ChatMessage) string {
	if len(messages) == 0 {
		return "[]"
	}
	var text strings.Builder
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(messages); err != nil {
		panic(err) // Structs of two strings have no errors.
	}
	return strings.TrimSuffix(text.String(), "\n")
}

// MessagesText is ChatText with typed messages.
func (e *Engine) MessagesText(messages []ChatMessage, template string, flags ChatFlags) (string, error) {
	return e.ChatText(MessagesJSON(messages), template, flags)
}

// MessagesTokens is ChatTokens with typed messages.
func (e *Engine) MessagesTokens(messages []ChatMessage, template string, flags ChatFlags) ([]int32, error) {
	return e.ChatTokens(MessagesJSON(messages), template, flags)
}
