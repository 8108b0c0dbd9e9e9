// Many requests: conversations that stay in sessions, sessions that are few, and requests that end before their answer.
using System;
using System.Collections.Generic;
using System.Linq;
using System.Threading;
using System.Threading.Tasks;
using Inlay;
using Inlay.Extensions.AI;
using Microsoft.Extensions.AI;
using ChatMessage = Microsoft.Extensions.AI.ChatMessage;

static class ConversationTests
{
    static readonly string SystemText = string.Concat(Enumerable.Repeat("You tell short tales to a child that is tired. ", 3));

    static List<ChatMessage> Conversation(string first)
    {
        return [new ChatMessage(ChatRole.System, SystemText), Chat.User(first)];
    }

    // Asks, and adds the answer to the conversation.
    static ChatResponse Ask(IChatClient client, List<ChatMessage> messages, int most = 12)
    {
        ChatResponse response = Chat.Result(client.GetResponseAsync(messages, Chat.Most(most)));
        messages.AddMessages(response);
        return response;
    }

    // How many tokens of prompts the engine runs meanwhile.
    static long Prefilled(Engine engine, Action action)
    {
        ulong before = engine.Stats.PrefillTokens;
        action();
        return (long)(engine.Stats.PrefillTokens - before);
    }

    public static void TheNextTurnComputesOnlyWhatIsNew()
    {
        using Engine engine = Given.Engine();
        using InlayChatClient client = Chat.Client(engine);
        List<ChatMessage> messages = Conversation("A tale of a dog, please.");
        ChatResponse response = null;
        long ran = Prefilled(engine, () => response = Ask(client, messages));
        Expect.Equal(0L, response.Usage.CachedInputTokenCount, "nothing is known yet");
        Expect.Equal(response.Usage.InputTokenCount, ran, "all is run");
        for (int turn = 0; turn < 3; turn++)
        {
            long known = response.Usage.InputTokenCount.Value;
            messages.Add(Chat.User("And then?"));
            string alone = Chat.Direct(engine, messages, 12);
            ran = Prefilled(engine, () => response = Ask(client, messages));
            Expect.Equal(alone, response.Text, "text");
            Expect.True(response.Usage.CachedInputTokenCount >= known - 1, "the turn before is known");
            Expect.Equal(response.Usage.InputTokenCount - response.Usage.CachedInputTokenCount, ran, "only the rest is run");
            Expect.True(ran < 30, "few tokens are new: " + ran);
        }
        Expect.Equal(1, engine.Stats.Sessions, "one session");
    }

    // The answer is in the session, too: a template that writes it again as it was finds it there.
    public static void TheAnswerIsKnownAsWell()
    {
        using Engine engine = Given.Engine();
        using InlayChatClient client = Chat.Client(engine);
        List<ChatMessage> messages = Conversation("A tale of a cat, please.");
        ChatResponse first = Ask(client, messages, 30);
        messages.Add(Chat.User("And then?"));
        ChatResponse second = Ask(client, messages);
        Expect.True(second.Usage.CachedInputTokenCount > first.Usage.InputTokenCount + 20,
                    first.Usage.TotalTokenCount + " tokens, known " + second.Usage.CachedInputTokenCount);
    }

    public static void AskingAgainRunsTwoTokens()
    {
        using Engine engine = Given.Engine();
        using InlayChatClient client = Chat.Client(engine);
        ChatResponse first = Ask(client, Conversation("A tale of a dog, please.")), again = null;
        Expect.Equal(2L, Prefilled(engine, () => again = Ask(client, Conversation("A tale of a dog, please."))), "tokens run");
        Expect.Equal(first.Text, again.Text, "text");
        Expect.Equal(1, engine.Stats.Sessions, "one session");
    }

    public static void ConversationsWithOneBeginningAreAllKept()
    {
        using Engine engine = Given.Engine();
        using InlayChatClient client = Chat.Client(engine, 3);
        List<ChatMessage>[] all = new[] { "A dog.", "Some cats and a mouse.", "The moon tonight." }.Select(Conversation).ToArray();
        ChatResponse[] last = all.Select(messages => Ask(client, messages)).ToArray();
        Expect.True(last[2].Usage.CachedInputTokenCount > 20, "the system message is shared");
        for (int turn = 0; turn < 2; turn++)
        {
            for (int i = 0; i < all.Length; i++)
            {
                all[i].Add(Chat.User("And then?"));
                string alone = Chat.Direct(engine, all[i], 12);
                ChatResponse response = Ask(client, all[i]);
                Expect.Equal(alone, response.Text, "text of " + i);
                Expect.True(response.Usage.CachedInputTokenCount >= last[i].Usage.InputTokenCount - 1, "conversation " + i + " was kept");
                last[i] = response;
            }
        }
        Expect.Equal(3, engine.Stats.Sessions, "sessions");
    }

    public static void NoMoreAreKeptThanMay()
    {
        using Engine engine = Given.Engine();
        foreach (int kept in new[] { 0, 1, 2 })
        {
            using InlayChatClient client = Chat.Client(engine, kept);
            for (int i = 0; i < 5; i++)
            {
                Ask(client, Conversation("Tale " + i), 3);
                Expect.Equal(Math.Min(kept, i + 1), engine.Stats.Sessions, "sessions");
            }
        }
        Expect.Equal(0, engine.Stats.Sessions, "sessions afterwards");
        using InlayChatClient usual = Chat.Client(engine);
        for (int i = 0; i < 12; i++) Chat.Text(usual, i + " dogs and a cat", Chat.Most(2));
        Expect.Equal(engine.Info.MaxSessions - 1, engine.Stats.Sessions, "one is left to others");
    }

    public static void KeptOnesMakeRoomForOthers()
    {
        using Engine engine = Chat.Engine(1);
        using InlayChatClient client = Chat.Client(engine);
        string[] texts = ["A dog.", "b", "Some cats.", "A dog."];
        var said = new List<string>();
        foreach (string text in texts)
        {
            said.Add(Chat.Text(client, text, Chat.Most(8)));
            Expect.Equal(1, engine.Stats.Sessions, "the one session");
        }
        client.Dispose();
        for (int i = 0; i < said.Count; i++) Expect.Equal(Chat.Direct(engine, [Chat.User(texts[i])], 8), said[i], texts[i]);
    }

    public static void KeptOnesMakeRoomInTheKvPool()
    {
        LoadOptions options = Given.Options;
        options.MaxSessions = 6;
        ulong block;
        using (Engine roomy = Engine.Load(Given.Model, options)) block = roomy.Info.KvBytes / (ulong)roomy.Stats.KvBlocks;
        using (Engine roomy = Engine.Load(Given.Model, options)) options.KvBudgetBytes = block * (ulong)(256 / roomy.Stats.BlockTokens + 1);
        using Engine engine = Engine.Load(Given.Model, options);
        Expect.True(engine.Stats.KvBlocks * engine.Stats.BlockTokens < 2 * 160, "room for one long sequence: " + engine.Stats.KvBlocks);
        using InlayChatClient client = Chat.Client(engine);
        string words = string.Concat(Enumerable.Repeat("dog cat ", 40));
        for (int i = 0; i < 4; i++)
        {
            ChatResponse response = Chat.Result(client.GetResponseAsync([Chat.User(i + words)], Chat.Most(60)));
            Expect.True(response.Usage.InputTokenCount > 80, "a long prompt: " + response.Usage.InputTokenCount);
            Expect.True(response.Text.Length > 0, "text " + i);
        }
    }

    public static void ManyCallersShareFewSessions()
    {
        using Engine engine = Chat.Engine(3);
        using InlayChatClient client = Chat.Client(engine);
        ChatOptions Options(int i) { return new ChatOptions { MaxOutputTokens = 6 + i % 9, Temperature = 1, Seed = i }; }
        List<ChatMessage> Asked(int i) { return Conversation("Tell me tale " + i % 5 + new string('.', i % 3)); }
        int most = 0;
        Task<ChatResponse>[] whole = Enumerable.Range(0, 8).Select(i => client.GetResponseAsync(Asked(i), Options(i))).ToArray();
        Task<List<ChatResponseUpdate>>[] streamed =
            Enumerable.Range(8, 8).Select(i => Task.Run(() => Chat.Updates(client, Asked(i), Options(i)))).ToArray();
        Task all = Task.WhenAll([.. whole, .. streamed]);
        while (!all.Wait(1)) most = Math.Max(most, engine.Stats.Sessions);
        Chat.Done(all);
        Expect.True(most <= 3, "sessions: " + most);
        Expect.True(engine.Stats.Sessions <= 2, "kept sessions");
        client.Dispose();
        Expect.Equal(0, engine.Stats.Sessions, "sessions afterwards");
        using InlayChatClient alone = Chat.Client(engine, 0);
        for (int i = 0; i < 16; i++)
        {
            string text = i < 8 ? whole[i].Result.Text : streamed[i - 8].Result.ToChatResponse().Text;
            Expect.Equal(Chat.Result(alone.GetResponseAsync(Asked(i), Options(i))).Text, text, "text " + i);
        }
    }

    public static void CancellationLeavesASessionThatIsKnown()
    {
        using Engine engine = Chat.Engine(2);
        using InlayChatClient client = Chat.Client(engine, 1);
        List<ChatMessage> messages = Conversation("A long tale of a dog, a cat, and of the moon.");
        string alone = Chat.Direct(engine, messages, 100);
        foreach (int after in new[] { 0, 1, 3, 10, 30, 60, 1, 3 })
        {
            foreach (bool streaming in new[] { false, true })
            {
                using var source = new CancellationTokenSource();
                Task task = streaming ? Chat.Updates(client, messages, Chat.Most(100), source.Token)
                                      : client.GetResponseAsync(messages, Chat.Most(100), source.Token);
                if (after == 0) source.Cancel();
                else source.CancelAfter(after);
                try { Chat.Done(task); }
                catch (OperationCanceledException cancelled) { Expect.Equal(source.Token, cancelled.CancellationToken, "whose token"); }
                Expect.True(engine.Stats.Sessions <= 1, "sessions");
                if (after % 2 == 1) Expect.Equal(alone, Chat.Result(client.GetResponseAsync(messages, Chat.Most(100))).Text, "text afterwards");
            }
        }
        using var cancelledBefore = new CancellationTokenSource();
        cancelledBefore.Cancel();
        OperationCanceledException at_once = Expect.Throws<OperationCanceledException>(
            () => Chat.Result(client.GetResponseAsync(messages, null, cancelledBefore.Token)), "cancelled before");
        Expect.Equal(cancelledBefore.Token, at_once.CancellationToken, "whose token");
        client.Dispose();
        Expect.Equal(0, engine.Stats.Sessions, "sessions afterwards");
    }

    public static void CancellationInAPromptKeepsItsBeginning()
    {
        LoadOptions few = Given.Options;
        few.ContextLength = 512;
        few.PrefillChunk = 4;
        using Engine engine = Engine.Load(Given.Model, few);
        using InlayChatClient client = Chat.Client(engine, 1);
        bool in_part = false;
        for (int i = 0; i < 20 && !in_part; i++)
        {
            List<ChatMessage> messages = [Chat.User(i + string.Concat(Enumerable.Repeat(" dog and cat", 110)))];
            string alone = Chat.Direct(engine, messages, 5);
            using var source = new CancellationTokenSource();
            ulong before = engine.Stats.PrefillTokens;
            Task<ChatResponse> task = client.GetResponseAsync(messages, Chat.Most(5), source.Token);
            while (engine.Stats.PrefillTokens < before + 8 && !task.IsCompleted) Thread.Yield();
            source.Cancel();
            try { Chat.Done(task); }
            catch (OperationCanceledException) { }
            ChatResponse response = Chat.Result(client.GetResponseAsync(messages, Chat.Most(5)));
            Expect.Equal(alone, response.Text, "text afterwards");
            long known = response.Usage.CachedInputTokenCount.Value;
            in_part = known > 8 && known < response.Usage.InputTokenCount - 8;
        }
        Expect.True(in_part, "no prompt was cancelled in its middle");
    }

    static async Task Leave(InlayChatClient client, List<ChatMessage> messages, int after)
    {
        await foreach (ChatResponseUpdate update in client.GetStreamingResponseAsync(messages, Chat.Most(100)))
        {
            if (--after == 0) break;
        }
    }

    public static void LeavingEarlyLeavesASessionThatIsKnown()
    {
        using Engine engine = Chat.Engine(2);
        using InlayChatClient client = Chat.Client(engine, 1);
        List<ChatMessage> messages = Conversation("A tale of a mouse.");
        string alone = Chat.Direct(engine, messages, 100);
        foreach (int after in new[] { 1, 2, 7, 20 })
        {
            Chat.Done(Leave(client, messages, after));
            Expect.Equal(1, engine.Stats.Sessions, "the kept session");
            ChatResponse response = Chat.Result(client.GetResponseAsync(messages, Chat.Most(100)));
            Expect.Equal(alone, response.Text, "text after leaving at " + after);
            Expect.Equal(response.Usage.InputTokenCount - 2, response.Usage.CachedInputTokenCount, "the prompt was kept");
        }
        using InlayChatClient forgetful = Chat.Client(engine, 0);
        client.Dispose();
        Chat.Done(Leave(forgetful, messages, 3));
        Expect.Equal(0, engine.Stats.Sessions, "sessions afterwards");
    }

    static async Task ComeAndGo(InlayChatClient client, List<ChatMessage>[] asked, string[] want, int worker)
    {
        for (int n = 0; n < 12; n++)
        {
            int which = (worker * 5 + n * 3) % asked.Length;
            using var source = new CancellationTokenSource();
            switch ((worker + n) % 4)
            {
                case 0:
                    Expect.Equal(want[which], (await client.GetResponseAsync(asked[which], Chat.Most(15))).Text, "whole text " + which);
                    break;
                case 1:
                    List<ChatResponseUpdate> updates = await Chat.Updates(client, asked[which], Chat.Most(15));
                    Expect.Equal(want[which], updates.ToChatResponse().Text, "streamed text " + which);
                    break;
                case 2:
                    await Leave(client, asked[which], 1 + n);
                    break;
                default:
                    source.CancelAfter(worker * n % 25);
                    try { await client.GetResponseAsync(asked[which], Chat.Most(15), source.Token); }
                    catch (OperationCanceledException) { }
                    break;
            }
        }
    }

    public static void ManyComeAndGo()
    {
        using Engine engine = Chat.Engine(3);
        List<ChatMessage>[] asked = Enumerable.Range(0, 7).Select(i => Conversation(string.Concat(Enumerable.Repeat("A tale. ", i)))).ToArray();
        string[] want = asked.Select(messages => Chat.Direct(engine, messages, 15)).ToArray();
        foreach (int? kept in new int?[] { null, 0, 3 })
        {
            using InlayChatClient client = Chat.Client(engine, kept);
            Chat.Done(Task.WhenAll(Enumerable.Range(0, 10).Select(worker => Task.Run(() => ComeAndGo(client, asked, want, worker)))));
            Expect.True(engine.Stats.Sessions <= (kept ?? 2), "kept sessions: " + engine.Stats.Sessions);
            for (int i = 0; i < asked.Length; i++) Expect.Equal(want[i], Chat.Result(client.GetResponseAsync(asked[i], Chat.Most(15))).Text, "text " + i);
            client.Dispose();
            Expect.Equal(0, engine.Stats.Sessions, "sessions afterwards");
        }
    }

    public static void DisposeEndsAll()
    {
        using Engine engine = Chat.Engine(2);
        InlayChatClient client = Chat.Client(engine);
        IAsyncEnumerator<ChatResponseUpdate> forgotten = client.GetStreamingResponseAsync(Conversation("b"), Chat.Most(150)).GetAsyncEnumerator();
        Expect.True(Chat.Result(forgotten.MoveNextAsync().AsTask()), "a first update of a stream that nobody reads on or disposes");
        Task<ChatResponse>[] whole =
            Enumerable.Range(0, 6).Select(i => client.GetResponseAsync(Conversation("Tale " + i), Chat.Most(150))).ToArray();
        Chat.Soon(() => engine.Stats.Sessions == 2, "another one has begun");
        client.Dispose();
        client.Dispose();
        int n_ended = 0;
        foreach (Task task in whole)
        {
            try { Chat.Done(task); }
            catch (OperationCanceledException) { n_ended++; }
        }
        Expect.True(n_ended >= 4, "they are ended: " + n_ended);
        Chat.Soon(() => engine.Stats.Sessions == 0, "no session is left");
        Expect.Throws<ObjectDisposedException>(() => Chat.Text(client, "a", null), "afterwards");
        Expect.Throws<ObjectDisposedException>(() => Chat.Result(Chat.Updates(client, [Chat.User("a")], null)), "streaming afterwards");
        Expect.True(engine.Tokenize("a").Length > 0, "the engine is not the client's");

        var owner = new InlayChatClient(engine, new InlayChatClientOptions { OwnsEngine = true, ChatTemplate = Chat.Template });
        Expect.True(Chat.Text(owner, "a", Chat.Most(3)).Length > 0, "another client");
        owner.Dispose();
        Expect.Throws<ObjectDisposedException>(() => engine.Tokenize("a"), "an engine that is the client's");
    }

    // A program's own sessions count, too: a request waits for them, and for no longer than it is cancelled.
    public static void RequestsWaitForSessionsOfTheProgram()
    {
        using Engine engine = Chat.Engine(1);
        using var client = new InlayChatClient(engine, new InlayChatClientOptions { ChatTemplate = Chat.Template, MaxWaiting = 2 });
        Session own = engine.CreateSession();
        using var source = new CancellationTokenSource();
        Task<ChatResponse> first = client.GetResponseAsync([Chat.User("a")], Chat.Most(3), source.Token);
        Task<ChatResponse> second = client.GetResponseAsync([Chat.User("b")], Chat.Most(3));
        Task<ChatResponse> third = client.GetResponseAsync([Chat.User("c")], Chat.Most(3));
        // The first one tries, two wait behind it, and one more is too many, whichever of them it is.
        Task<ChatResponse> fourth = client.GetResponseAsync([Chat.User("d")], Chat.Most(3));
        Task<ChatResponse>[] all = [first, second, third, fourth];
        Chat.Soon(() => all.Any(task => task.IsFaulted), "one too many");
        Expect.Equal(1, all.Count(task => task.IsCompleted), "the others wait");
        Task<ChatResponse> refused = all.First(task => task.IsFaulted);
        Expect.Throws<InvalidOperationException>(() => Chat.Result(refused), "one too many");
        source.Cancel();
        if (first != refused) Expect.Throws<OperationCanceledException>(() => Chat.Result(first), "cancelled while it waits");
        own.Dispose();
        foreach (Task<ChatResponse> task in all)
        {
            if (task != first && task != refused) Expect.True(Chat.Result(task).Text.Length > 0, "its turn");
        }
        Expect.Equal(1, engine.Stats.Sessions, "one session");
    }
}
