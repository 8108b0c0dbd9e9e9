package inlay

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"
)

const (
	scene  = "Mira is a kind innkeeper at an inn in Oakvale."
	aRoom  = "Do you have a room?"
	aName  = "What is your name?"
	thanks = "Thank you."
)

func chatOf(t testing.TB, engine *Engine, options *SessionOptions, messages ...ChatMessage) *Chat {
	t.Helper()
	chat, err := engine.NewChat(options, messages...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { chat.Close() })
	return chat
}

// answerOf is the whole answer and its last event.
func answerOf(t testing.TB, chat *Chat, line string) (text string, last Event) {
	t.Helper()
	generation, err := chat.Ask(background, line)
	if err != nil {
		t.Fatal(err)
	}
	for event, err := generation.Next(); ; event, err = generation.Next() {
		if err != nil {
			t.Fatal(err)
		}
		text += event.Text
		if event.Finish != FinishNone {
			return text, event
		}
	}
}

func system() ChatMessage               { return ChatMessage{Role: "system", Content: scene} }
func user(text string) ChatMessage      { return ChatMessage{Role: "user", Content: text} }
func assistant(text string) ChatMessage { return ChatMessage{Role: "assistant", Content: text} }

func wantMessages(t testing.TB, chat *Chat, want ...ChatMessage) {
	t.Helper()
	if got := chat.Messages(); fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("%q, expected %q", got, want)
	}
}

// Each answer is that of all messages in a fresh session, and a turn runs its own line alone.
func TestChatRunsOnlyWhatIsNew(t *testing.T) {
	engine := engineWith(t, nil)
	chat := chatOf(t, engine, nil, system())
	said, before := []ChatMessage{system()}, 0
	for _, line := range []string{aRoom, thanks, aName} {
		text, last := answerOf(t, chat, line)
		said = append(said, user(line))
		prompt, err := engine.MessagesTokens(said, "", ChatAddGenerationPrompt)
		if err != nil {
			t.Fatal(err)
		}
		alone, err := sessionOf(t, engine, nil).GenerateTokens(background, prompt, nil)
		if err != nil {
			t.Fatal(err)
		}
		want, err := alone.Text()
		if err != nil || text != want || text == "" {
			t.Errorf("%q, expected %q, %v", text, want, err)
		}
		if chat.ReusedTokens()+last.PromptTokens != len(prompt) || chat.ReusedTokens() < before {
			t.Errorf("%d of %d tokens reused, %d run, %d held before", chat.ReusedTokens(), len(prompt), last.PromptTokens, before)
		}
		said, before = append(said, assistant(text)), len(prompt)+last.GeneratedTokens-1
		wantMessages(t, chat, said...)
	}
	if chat.Messages()[0].Content = "x"; chat.Messages()[0].Content != scene {
		t.Error("the messages are no copy")
	}
	if chat.Clear(); chat.DroppedTurns() != 0 {
		t.Error(chat.DroppedTurns())
	}
	wantMessages(t, chat, system())
	again, _ := answerOf(t, chat, aRoom)
	wantMessages(t, chat, said[:2:2][0], said[1], assistant(again))
	if again != said[2].Content || chat.ReusedTokens() == 0 {
		t.Errorf("%q, expected %q", again, said[2].Content)
	}
}

// A conversation that is kept as messages goes on in another chat.
func TestChatGoesOnFromMessages(t *testing.T) {
	engine := engineWith(t, nil)
	first := chatOf(t, engine, nil, system())
	answerOf(t, first, aRoom)
	second := chatOf(t, engine, nil, first.Messages()...)
	want, _ := answerOf(t, first, aName)
	if text, _ := answerOf(t, second, aName); text != want || second.ReusedTokens() != 0 {
		t.Errorf("%q, expected %q", text, want)
	}
	wantMessages(t, second, first.Messages()...)
}

// However an answer is cut, its part stays, and the next one answers what is among the messages.
func TestChatKeepsAPartOfAnAnswer(t *testing.T) {
	engine := engineWith(t, nil)
	options := &SessionOptions{MaxTokens: 30, Flags: SessionIgnoreEndOfGeneration}
	for name, cut := range map[string]func(cancel func(), generation *Generation) error{
		"context": func(cancel func(), generation *Generation) error { cancel(); _, err := generation.Next(); return err },
		"cancel": func(_ func(), generation *Generation) error {
			generation.Cancel()
			_, err := generation.Text()
			return err
		},
		"left": func(func(), *Generation) error { return StatusCancelled },
	} {
		chat := chatOf(t, engine, options, system())
		ctx, cancel := context.WithCancel(background)
		defer cancel()
		generation, err := chat.Ask(ctx, aRoom)
		if err != nil {
			t.Fatal(err)
		}
		part := ""
		for i := 0; i < 6; i++ {
			event, err := generation.Next()
			if err != nil {
				t.Fatal(err)
			}
			part += event.Text
		}
		if err := cut(cancel, generation); !errors.Is(err, StatusCancelled) {
			t.Errorf("%s: %v", name, err)
		}
		kept := chat.Messages()
		if len(kept) != 3 || !strings.HasPrefix(kept[2].Content, part) || part == "" || kept[1] != user(aRoom) {
			t.Errorf("%s: %q, expected %q", name, kept, part)
		}
		want, _ := answerOf(t, chatOf(t, engine, options, kept...), aName)
		text, _ := answerOf(t, chat, aName)
		if text != want {
			t.Errorf("%s: %q, expected %q", name, text, want)
		}
		if _, err := generation.Next(); err == nil {
			t.Errorf("%s: the generation before goes on", name)
		}
		wantMessages(t, chat, append(kept, user(aName), assistant(text))...)
	}
}

// A line that got no answer is as if it had not been said.
func TestChatTakesALineBack(t *testing.T) {
	chat := chatOf(t, engineWith(t, nil), nil, system())
	text, _ := answerOf(t, chat, aRoom)
	ended, cancel := context.WithCancel(background)
	cancel()
	_, err := chat.Ask(ended, aName)
	wantStatus(t, err, StatusCancelled)
	wantMessages(t, chat, system(), user(aRoom), assistant(text))
	ctx, cancel := context.WithCancel(background)
	generation, err := chat.Ask(ctx, aName)
	if err != nil {
		t.Fatal(err)
	}
	cancel()
	if _, err := generation.Next(); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	wantMessages(t, chat, system(), user(aRoom), assistant(text))
	second, last := answerOf(t, chat, thanks)
	if last.PromptTokens > 20 {
		t.Errorf("%d tokens were run", last.PromptTokens)
	}
	wantMessages(t, chat, system(), user(aRoom), assistant(text), user(thanks), assistant(second))
	// What is cleared is not heard any more.
	if generation, err = chat.Ask(background, aName); err != nil {
		t.Fatal(err)
	}
	if _, err := generation.Next(); err != nil {
		t.Fatal(err)
	}
	chat.Clear()
	if _, err := generation.Text(); err != nil {
		t.Fatal(err)
	}
	wantMessages(t, chat, system())
}

func TestChatDropsTheOldestTurns(t *testing.T) {
	engine := engineWith(t, nil)
	const most = 64
	chat := chatOf(t, engine, &SessionOptions{MaxTokens: most}, system(), user("Hello."), assistant("Hello."), ChatMessage{Role: "tool", Content: "1"})
	room := engine.Info().NContext - most
	shrunk, dropped, said := 0, 0, chat.Messages()
	for i := 0; i < 30; i++ {
		line := []string{aRoom, aName}[i%2]
		text, last := answerOf(t, chat, line)
		said = append(said, user(line), assistant(text))
		n := chat.ReusedTokens() + last.PromptTokens
		if n > room {
			t.Errorf("%d tokens have no room", n)
		}
		switch now := chat.DroppedTurns(); {
		case now > dropped:
			if dropped == 0 {
				said = append(said[:1:1], said[4:]...) // the first turn has three messages
				dropped++
			}
			said = append(said[:1:1], said[1+2*(now-dropped):]...)
			shrunk, dropped = shrunk+1, now
			if n > room/2 {
				t.Errorf("%d tokens of %d are left", n, room)
			}
		case last.PromptTokens > 20 && i > 0:
			t.Errorf("turn %d ran %d tokens", i, last.PromptTokens)
		}
		wantMessages(t, chat, said...)
	}
	if shrunk < 1 || shrunk > 5 {
		t.Errorf("turns were dropped %d times", shrunk)
	}
}

func TestChatRefusesALineThatIsTooLong(t *testing.T) {
	engine := engineWith(t, nil)
	chat := chatOf(t, engine, &SessionOptions{MaxTokens: 1000}, system()) // more than half of the context is half of it
	text, _ := answerOf(t, chat, aRoom)
	for i := 0; i < 2; i++ {
		_, err := chat.Ask(background, strings.Repeat(aRoom+" ", 100))
		e := wantStatus(t, err, StatusContextFull)
		if e.Available != uint64(engine.Info().NContext/2) || e.Required <= e.Available || !strings.Contains(e.Message, "too long") {
			t.Errorf("%+v", e)
		}
	}
	wantMessages(t, chat, system(), user(aRoom), assistant(text))
	if _, last := answerOf(t, chat, aName); last.PromptTokens > 20 || chat.DroppedTurns() != 0 {
		t.Errorf("%d tokens were run, %d turns dropped", last.PromptTokens, chat.DroppedTurns())
	}
}

func TestChatErrors(t *testing.T) {
	engine := engineWith(t, func(o *LoadOptions) { o.MaxSessions = 1 })
	_, err := engine.NewChat(&SessionOptions{MaxTokens: -1})
	wantStatus(t, err, StatusInvalidArgument)
	chat := chatOf(t, engine, nil)
	_, err = engine.NewChat(nil)
	wantStatus(t, err, StatusSessionLimit)
	chat.Close()
	_, err = chat.Ask(background, aRoom)
	wantClosed(t, err)
	wantMessages(t, chat)
	chat = chatOf(t, engine, nil, system())
	generation, err := chat.Ask(background, aRoom)
	if err != nil {
		t.Fatal(err)
	}
	event, err := generation.Next()
	if err != nil {
		t.Fatal(err)
	}
	engine.Close() // The session goes on.
	rest, err := generation.Text()
	wantMessages(t, chat, system(), user(aRoom), assistant(event.Text+rest))
	if err != nil || rest == "" {
		t.Error(rest, err)
	}
	if text, _ := answerOf(t, chat, aName); text == "" {
		t.Error("no answer")
	}
	_, err = engine.NewChat(nil)
	wantClosed(t, err)
	chat.Close()
	if _, err = generation.Next(); err == nil {
		t.Error("a closed chat goes on")
	}
}

// An Ask that fails ends the generation before, too: it would go on from a session that was cut.
func TestChatHasOneAnswerAtATime(t *testing.T) {
	chat := chatOf(t, engineWith(t, nil), nil, system())
	ended, cancel := context.WithCancel(background)
	cancel()
	for _, ctx := range []context.Context{background, ended} {
		before, err := chat.Ask(background, aRoom)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := before.Next(); err != nil {
			t.Fatal(err)
		}
		kept := chat.Messages()
		if _, err = chat.Ask(ctx, aName); (err == nil) != (ctx == background) {
			t.Error(err)
		}
		_, err = before.Next()
		wantStatus(t, err, StatusInvalidState)
		wantMessages(t, chat, kept...)
	}
}

// Close may come at any time.
func TestChatClosedUnderWay(t *testing.T) {
	engine := engineWith(t, nil)
	for i := 0; i < 20; i++ {
		chat := chatOf(t, engine, nil, system())
		closed := make(chan struct{})
		go func() {
			defer close(closed)
			time.Sleep(time.Duration(i) * time.Millisecond)
			chat.Close()
		}()
		for err := error(nil); err == nil; {
			var generation *Generation
			if generation, err = chat.Ask(background, aRoom); err == nil {
				_, err = generation.Text()
			}
			if err != nil && !errors.Is(err, ErrClosed) && !errors.Is(err, StatusCancelled) {
				t.Error(err)
			}
		}
		<-closed
	}
	if stats, err := engine.Stats(); err != nil || stats.NSessions != 0 {
		t.Errorf("%d sessions are left, %v", stats.NSessions, err)
	}
}

// Chats of many goroutines share steps, and each answers as it does alone.
func TestChatsOfManyGoroutines(t *testing.T) {
	const chats = 8
	engine := engineWith(t, func(o *LoadOptions) { o.MaxSessions = chats + 1 })
	lines := func(i int) []string {
		return []string{fmt.Sprintf("Hello, I am number %d.", i), aRoom, aName}
	}
	var alone [chats]string
	for i := range alone {
		chat := chatOf(t, engine, nil, system())
		for _, line := range lines(i) {
			answerOf(t, chat, line)
		}
		alone[i] = fmt.Sprint(chat.Messages())
		chat.Close()
	}
	before, err := engine.Stats()
	if err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	for i := range alone {
		all.Add(1)
		go func(i int) {
			defer all.Done()
			chat, err := engine.NewChat(nil, system())
			if err != nil {
				t.Error(err)
				return
			}
			defer chat.Close()
			for _, line := range lines(i) {
				generation, err := chat.Ask(background, line)
				if err == nil {
					_, err = generation.Text()
				}
				if err != nil {
					t.Error(err)
				}
			}
			if together := fmt.Sprint(chat.Messages()); together != alone[i] {
				t.Errorf("%s, expected %s", together, alone[i])
			}
		}(i)
	}
	all.Wait()
	after, err := engine.Stats()
	if err != nil {
		t.Fatal(err)
	}
	tokens, steps := after.NDecodeTokens-before.NDecodeTokens, after.NDecodeSteps-before.NDecodeSteps
	t.Logf("%d tokens in %d steps", tokens, steps)
	if float64(steps) > float64(tokens)/1.5 {
		t.Errorf("%d steps for %d tokens", steps, tokens)
	}
}
