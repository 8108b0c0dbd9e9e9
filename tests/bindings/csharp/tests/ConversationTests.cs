// Chats: what is run, what stays of an answer, a context that fills, lines that are refused.
using System;
using System.Collections.Generic;
using System.Linq;
using System.Threading;
using System.Threading.Tasks;
using Inlay;

static class ConversationTests
{
    const string Scene = "Mira is a kind innkeeper at an inn in Oakvale.";
    const string Room = "Do you have a room?";
    const string Name = "What is your name?";

    static ChatMessage[] TheScene { get { return new[] { ChatMessage.System(Scene) }; } }

    static Engine Small(int sessions = 2)
    {
        LoadOptions options = Given.Options;
        options.ContextLength = 512;
        options.MaxSessions = sessions;
        return Engine.Load(Given.Model, options);
    }

    static string Said(IEnumerable<ChatMessage> messages) { return ChatMessage.ToJson(messages); }

    static string Answer(Chat chat, string line, out Generated last)
    {
        Generated[] events = chat.Ask(line).ToArray();
        last = events.Last();
        return string.Concat(events.Select(next => next.Text));
    }

    static string Answer(Chat chat, string line)
    {
        Generated last;
        return Answer(chat, line, out last);
    }

    public static void ATurnRunsItsOwnLineAlone()
    {
        using (Engine engine = Small())
        using (Chat chat = engine.CreateChat(null, TheScene))
        {
            var said = new List<ChatMessage>(TheScene);
            int n_before = 0;
            foreach (string line in new[] { Room, "Thank you.", Name })
            {
                Generated last;
                string text = Answer(chat, line, out last);
                said.Add(ChatMessage.User(line));
                int[] prompt = engine.GetChatTokens(said);
                using (Session alone = engine.CreateSession())
                {
                    Expect.Equal(string.Concat(alone.Generate(prompt).Select(next => next.Text)), text, line);
                }
                Expect.True(text.Length > 0, "an answer");
                Expect.Equal(prompt.Length, chat.ReusedTokens + last.PromptTokens, "tokens");
                Expect.True(chat.ReusedTokens >= n_before, chat.ReusedTokens + " tokens reused of " + n_before);
                said.Add(ChatMessage.Assistant(text));
                n_before = prompt.Length + last.GeneratedTokens - 1;
                Expect.Equal(Said(said), Said(chat.Messages), "messages");
            }
            // What is kept as messages goes on in another chat.
            using (Chat other = engine.CreateChat(null, chat.Messages))
            {
                Expect.Equal(Answer(chat, Room), Answer(other, Room), "in another chat");
                Expect.Equal(Said(chat.Messages), Said(other.Messages), "messages of another chat");
                Expect.Equal(0, other.ReusedTokens, "tokens of another chat");
            }
            chat.Clear();
            Expect.Equal(Said(TheScene), Said(chat.Messages), "messages after Clear");
            Answer(chat, Room);
            Expect.Equal(Said(said.Take(3)), Said(chat.Messages), "the same again");
            Expect.True(chat.ReusedTokens > 0, "the system's message is not run again");
        }
    }

    public static void APartOfAnAnswerStays()
    {
        SessionOptions options = Given.Endless;
        options.MaxTokens = 30;
        foreach (string how in new[] { "left", "session", "token" })
        {
            using (Engine engine = Small())
            using (Chat chat = engine.CreateChat(options, TheScene))
            {
                var source = new CancellationTokenSource();
                string part = "";
                int n = 0;
                Action cut = () =>
                {
                    foreach (Generated next in chat.Ask(Room, source.Token))
                    {
                        part += next.Text;
                        if (++n != 6) continue;
                        if (how == "left") break;
                        if (how == "token") source.Cancel();
                        else chat.Session.Cancel();
                    }
                };
                if (how == "token") Expect.Throws<OperationCanceledException>(cut, how);
                else cut();
                Expect.True(n == (how == "session" ? 7 : 6) && part.Length > 0, how + ": " + n + " events");
                ChatMessage[] kept = TheScene.Concat(new[] { ChatMessage.User(Room), ChatMessage.Assistant(part) }).ToArray();
                Expect.Equal(Said(kept), Said(chat.Messages), how);
                using (Chat fresh = engine.CreateChat(options, kept)) Expect.Equal(Answer(fresh, Name), Answer(chat, Name), how);
            }
        }
    }

    public static void ALineWithoutAnAnswerIsTakenBack()
    {
        using (Engine engine = Small())
        using (Chat chat = engine.CreateChat(null, TheScene))
        {
            Answer(chat, Room);
            string said = Said(chat.Messages);
            var source = new CancellationTokenSource();
            source.Cancel();
            Expect.Throws<OperationCanceledException>(() => chat.Ask(Name, source.Token).ToArray(), "cancelled before");
            using (IEnumerator<Generated> events = chat.Ask(Name).GetEnumerator())
            {
                Expect.Equal(said, Said(chat.Messages), "nothing was asked yet");
            }
            Expect.Equal(said, Said(chat.Messages), "messages");
            Generated last;
            string text = Answer(chat, "Thank you.", out last);
            Expect.True(last.PromptTokens <= 20, last.PromptTokens + " tokens were run");
            Expect.Equal("Thank you." + text, string.Concat(chat.Messages.Skip(3).Select(message => message.Content)), "the next line");
        }
    }

    public static void AFullContextDropsTheOldestTurns()
    {
        const int room = 512 - 64;
        using (Engine engine = Small())
        {
            var said = new List<ChatMessage>(TheScene);
            foreach (string role in new[] { "user", "assistant", "tool" }) said.Add(new ChatMessage(role, "Hello.")); // one turn
            using (Chat chat = engine.CreateChat(new SessionOptions { MaxTokens = 64 }, said))
            {
                int n_shrunk = 0, n_dropped = 0;
                for (int i = 0; i < 30; i++)
                {
                    string line = i % 2 == 0 ? Room : Name;
                    Generated last;
                    string text = Answer(chat, line, out last);
                    said.Add(ChatMessage.User(line));
                    said.Add(ChatMessage.Assistant(text));
                    int n_tokens = chat.ReusedTokens + last.PromptTokens;
                    Expect.True(n_tokens <= room, n_tokens + " tokens have no room");
                    if (chat.DroppedTurns > n_dropped)
                    {
                        said.RemoveRange(1, 2 * (chat.DroppedTurns - n_dropped) + (n_dropped == 0 ? 1 : 0));
                        n_dropped = chat.DroppedTurns;
                        n_shrunk++;
                        Expect.True(n_tokens <= room / 2, n_tokens + " tokens are left");
                    }
                    else if (i > 0) Expect.True(last.PromptTokens <= 20, "turn " + i + " ran " + last.PromptTokens + " tokens");
                    Expect.Equal(Said(said), Said(chat.Messages), "turn " + i);
                }
                Expect.True(n_shrunk >= 1 && n_shrunk <= 5, n_shrunk + " times");
                chat.Clear();
                Expect.Equal(0, chat.DroppedTurns, "after Clear");
            }
        }
    }

    public static void ALineThatIsTooLongChangesNothing()
    {
        using (Engine engine = Small())
        using (Chat chat = engine.CreateChat(new SessionOptions { MaxTokens = 1000 }, TheScene)) // more than half of the context is half of it
        {
            Answer(chat, Room);
            string said = Said(chat.Messages), too_long = string.Concat(Enumerable.Repeat(Room + " ", 100));
            for (int i = 0; i < 2; i++)
            {
                InlayException problem = Expect.Status(Status.ContextFull, () => chat.Ask(too_long).ToArray(), "too long");
                Expect.Contains("too long", problem.Message);
                Expect.True(problem.Available == 256 && problem.Required > 256, problem.Required + " of " + problem.Available);
                Expect.Equal(said, Said(chat.Messages), "messages");
                Expect.Equal(0, chat.DroppedTurns, "dropped");
            }
            Generated last;
            Answer(chat, Name, out last);
            Expect.True(last.PromptTokens <= 20, last.PromptTokens + " tokens were run");
        }
    }

    public static void ErrorsOfAChat()
    {
        using (Engine engine = Small(1))
        {
            Expect.Throws<ArgumentException>(() => engine.CreateChat(null, new ChatMessage[] { null }), "a message that is null");
            Expect.Status(Status.InvalidArgument, () => engine.CreateChat(new SessionOptions { MaxTokens = -1 }), "MaxTokens");
            Chat chat = engine.CreateChat();
            Expect.Status(Status.SessionLimit, () => engine.CreateChat(), "no session is free");
            Expect.Throws<ArgumentNullException>(() => chat.Ask(null), "no line");
            using (IEnumerator<Generated> events = chat.Ask(Room).GetEnumerator())
            {
                Expect.True(events.MoveNext(), "it answers");
                Expect.Throws<InvalidOperationException>(() => chat.Ask(Name).ToArray(), "two answers at a time");
                Expect.Throws<InvalidOperationException>(chat.Clear, "Clear under way");
                Expect.True(events.MoveNext(), "it goes on");
                chat.Dispose();
                Expect.Throws<ObjectDisposedException>(() => events.MoveNext(), "disposed under way");
            }
            Expect.Equal(2, chat.Messages.Count, "what was said stays");
            Expect.Throws<ObjectDisposedException>(() => chat.Ask(Name).ToArray(), "disposed");
            chat.Dispose();
            chat.Clear();
            Expect.Equal(0, engine.Stats.Sessions, "sessions afterwards");
            chat = engine.CreateChat();
            engine.Dispose();
            Expect.Throws<ObjectDisposedException>(() => chat.Ask(Name).ToArray(), "the engine is disposed");
            chat.Dispose();
        }
    }

    static string Talk(Engine engine, int i, Func<Chat, string, string> answer)
    {
        using (Chat chat = engine.CreateChat(null, TheScene))
        {
            foreach (string line in new[] { "Hello, I am number " + i + ".", Room, Name }) answer(chat, line);
            return Said(chat.Messages);
        }
    }

    static void ManyAtATime(Func<Chat, string, string> answer, double share)
    {
        const int chats = 8;
        using (Engine engine = Small(chats))
        {
            string[] alone = Enumerable.Range(0, chats).Select(i => Talk(engine, i, Answer)).ToArray();
            EngineStats before = engine.Stats;
            Task<string>[] tasks = Enumerable.Range(0, chats)
                .Select(i => Task.Factory.StartNew(() => Talk(engine, i, answer), TaskCreationOptions.LongRunning)).ToArray();
            string[] together = AsyncTests.Result(Task.WhenAll(tasks));
            for (int i = 0; i < chats; i++) Expect.Equal(alone[i], together[i], "chat " + i);
            double steps = engine.Stats.DecodeSteps - before.DecodeSteps, tokens = engine.Stats.DecodeTokens - before.DecodeTokens;
            Expect.True(steps <= tokens / share, steps + " steps for " + tokens + " tokens");
            Expect.Equal(0, engine.Stats.Sessions, "sessions afterwards");
        }
    }

    public static void ChatsOfManyThreadsAnswerAsAlone() { ManyAtATime(Answer, 1); }

#if NET8_0_OR_GREATER
    static async Task<string> AnswerOf(Chat chat, string line, CancellationToken cancellation = default)
    {
        string text = "";
        await foreach (Generated next in chat.AskAsync(line, cancellation)) text += next.Text;
        return text;
    }

    public static void ChatsOfManyTasksShareSteps() { ManyAtATime((chat, line) => AsyncTests.Result(AnswerOf(chat, line)), 1.5); }

    public static void APartOfAnAsynchronousAnswerStays() => StreamTests.Run(async () =>
    {
        SessionOptions options = Given.Endless;
        options.MaxTokens = 60;
        using Engine engine = Small();
        using Chat chat = engine.CreateChat(options, TheScene);
        var said = new List<ChatMessage>(TheScene);
        foreach (bool leaves in new[] { false, true, false, true })
        {
            using var source = new CancellationTokenSource();
            string part = "";
            int n = 0;
            try
            {
                await foreach (Generated next in chat.AskAsync(Room, source.Token))
                {
                    part += next.Text;
                    if (++n < 6) continue;
                    if (leaves) break;
                    source.Cancel();
                }
                Expect.True(leaves, "cancelling is an exception");
            }
            catch (OperationCanceledException) { Expect.True(!leaves, "leaving is none"); }
            Expect.Equal(6, n, "events");
            said.Add(ChatMessage.User(Room));
            said.Add(ChatMessage.Assistant(part));
            Expect.Equal(Said(said), Said(chat.Messages), "messages");
        }
        using Chat fresh = engine.CreateChat(options, said);
        Expect.Equal(await AnswerOf(fresh, Name), await AnswerOf(chat, Name), "the next answer");
        said = new List<ChatMessage>(chat.Messages);
        await using (IAsyncEnumerator<Generated> events = chat.AskAsync(Name).GetAsyncEnumerator())
        {
            Expect.True(await events.MoveNextAsync(), "it answers");
            Expect.Throws<InvalidOperationException>(() => chat.Ask(Name).ToArray(), "two answers at a time");
            engine.Dispose();
            try { while (await events.MoveNextAsync()) { } }
            catch (OperationCanceledException) { } // unless it had ended
        }
        Expect.True(chat.Messages.Count == said.Count + 2 || chat.Messages.Count == said.Count, "a line with its answer, or neither");
        try { await AnswerOf(chat, Name); }
        catch (ObjectDisposedException) { return; }
        throw new CheckFailed("the engine is disposed");
    });
#endif
}
