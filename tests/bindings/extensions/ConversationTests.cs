// Many requests: conversations that go on, requests that share an engine with others, and requests that end before their answer.
using System;
using System.Collections.Generic;
using System.Linq;
using System.Threading;
using System.Threading.Tasks;
using Inlay;
using Inlay.Extensions.AI;
using Inlay.Raw;
using Microsoft.Extensions.AI;
using ChatMessage = Microsoft.Extensions.AI.ChatMessage;

static class ConversationTests
{
    static readonly string SystemText = string.Concat(Enumerable.Repeat("You tell short tales to a child that is tired. ", 3));

    static List<ChatMessage> Conversation(string first)
    {
        return new List<ChatMessage> { new ChatMessage(ChatRole.System, SystemText), Chat.User(first) };
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

    // What is found again is whole blocks.
    static void KnowsThePrompt(Engine engine, ChatResponse before, ChatResponse response, string what)
    {
        long known = response.Usage.CachedInputTokenCount.Value, least = before.Usage.InputTokenCount.Value - engine.Stats.BlockTokens;
        Expect.True(known >= least, what + ": " + known + " tokens of " + before.Usage.InputTokenCount + " were known");
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
            ChatResponse before = response;
            messages.Add(Chat.User("And then?"));
            string alone = Chat.Direct(engine, messages, 12);
            ran = Prefilled(engine, () => response = Ask(client, messages));
            Expect.Equal(alone, response.Text, "text");
            KnowsThePrompt(engine, before, response, "turn " + turn);
            Expect.Equal(response.Usage.InputTokenCount - response.Usage.CachedInputTokenCount, ran, "only the rest is run");
        }
    }

    // The answer is known, too: a template that writes it again as it was finds it.
    public static void TheAnswerIsKnownAsWell()
    {
        using Engine engine = Given.Engine();
        using InlayChatClient client = Chat.Client(engine);
        List<ChatMessage> messages = Conversation("A tale of a cat, please.");
        ChatResponse first = Ask(client, messages, 40);
        messages.Add(Chat.User("And then?"));
        ChatResponse second = Ask(client, messages);
        Expect.True(second.Usage.CachedInputTokenCount > first.Usage.InputTokenCount,
                    first.Usage.TotalTokenCount + " tokens, known " + second.Usage.CachedInputTokenCount);
    }

    public static void ConversationsWithOneBeginningShareIt()
    {
        using Engine engine = Given.Engine();
        using InlayChatClient client = Chat.Client(engine);
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
                KnowsThePrompt(engine, last[i], response, "conversation " + i);
                last[i] = response;
            }
        }
    }

    // Sessions of the program, and embeddings, have all that they would have without the client.
    public static void AnIdleClientHoldsNothing()
    {
        using Engine engine = Chat.Engine(3);
        using InlayChatClient client = Chat.Client(engine);
        using var generator = new InlayEmbeddingGenerator(engine, new InlayEmbeddingGeneratorOptions { Pooling = Pooling.Mean });
        for (int i = 0; i < 5; i++) Ask(client, Conversation("Tale " + i), 3);
        Expect.Equal(0, engine.Stats.Sessions, "sessions");
        for (int i = 0; i < 50; i++)
        {
            string[] texts = Enumerable.Range(0, 3).Select(n => i + " dogs, " + n + " cats").ToArray();
            Expect.Equal(3, Chat.Result(generator.GenerateAsync(texts)).Count, "vectors");
        }
        Session[] own = Enumerable.Range(0, 3).Select(_ => engine.CreateSession()).ToArray();
        string words = string.Concat(Enumerable.Repeat("dog cat ", 60));
        for (int i = 0; i < own.Length; i++) own[i].Prefill(i + words);
        foreach (Session session in own) session.Dispose();
    }

    public static void LongOnesMakeRoomForOneAnother()
    {
        LoadOptions options = Given.Options;
        options.MaxSessions = 6;
        using (Engine roomy = Engine.Load(Given.Model, options))
        {
            ulong block = roomy.Info.KvBytes / (ulong)roomy.Stats.KvBlocks;
            options.KvBudgetBytes = block * (ulong)(256 / roomy.Stats.BlockTokens + 1);
        }
        using Engine engine = Engine.Load(Given.Model, options);
        Expect.True(engine.Stats.KvBlocks * engine.Stats.BlockTokens < 2 * 160, "room for one long sequence: " + engine.Stats.KvBlocks);
        using InlayChatClient client = Chat.Client(engine);
        string words = string.Concat(Enumerable.Repeat("dog cat ", 40));
        Task<ChatResponse>[] all = Enumerable.Range(0, 4).Select(i => client.GetResponseAsync(new[] { Chat.User(i + words) }, Chat.Most(60))).ToArray();
        foreach (ChatResponse response in Chat.Result(Task.WhenAll(all)))
        {
            Expect.True(response.Usage.InputTokenCount > 80, "a long prompt: " + response.Usage.InputTokenCount);
            Expect.True(response.Text.Length > 0, "text");
        }
    }

    public static void ManyCallersAtATimeSayWhatEachSaysAlone()
    {
        using Engine engine = Chat.Engine(3);
        using InlayChatClient client = Chat.Client(engine);
        ChatOptions Options(int i) { return new ChatOptions { MaxOutputTokens = 6 + i % 9, Temperature = 1, Seed = i }; }
        List<ChatMessage> Asked(int i) { return Conversation("Tell me tale " + i % 5 + new string('.', i % 3)); }
        Task<ChatResponse>[] whole = Enumerable.Range(0, 8).Select(i => client.GetResponseAsync(Asked(i), Options(i))).ToArray();
        Task<List<ChatResponseUpdate>>[] streamed =
            Enumerable.Range(8, 8).Select(i => Task.Run(() => Chat.Updates(client, Asked(i), Options(i)))).ToArray();
        Chat.Done(Task.WhenAll(whole.Concat<Task>(streamed)));
        for (int i = 0; i < 16; i++)
        {
            string text = i < 8 ? whole[i].Result.Text : streamed[i - 8].Result.ToChatResponse().Text;
            Expect.Equal(Chat.Result(client.GetResponseAsync(Asked(i), Options(i))).Text, text, "text " + i);
        }
    }

    public static void CancellationEndsARequest()
    {
        using Engine engine = Chat.Engine(2);
        using InlayChatClient client = Chat.Client(engine);
        List<ChatMessage> messages = Conversation("A long tale of a dog, a cat, and of the moon.");
        string alone = Chat.Direct(engine, messages, 100);
        int n_cancelled = 0;
        foreach (int after in new[] { 0, 1, 3, 10, 30, 60, 1, 3 })
        {
            foreach (bool streaming in new[] { false, true })
            {
                using var source = new CancellationTokenSource();
                Task task = streaming ? (Task)Chat.Updates(client, messages, Chat.Most(100), source.Token)
                                      : client.GetResponseAsync(messages, Chat.Most(100), source.Token);
                if (after == 0) source.Cancel();
                else source.CancelAfter(after);
                try { Chat.Done(task); }
                catch (OperationCanceledException cancelled)
                {
                    n_cancelled++;
                    Expect.Equal(source.Token, cancelled.CancellationToken, "whose token");
                }
                if (after % 2 == 1) Expect.Equal(alone, Chat.Result(client.GetResponseAsync(messages, Chat.Most(100))).Text, "text afterwards");
            }
        }
        Expect.True(n_cancelled >= 2, "they were cancelled: " + n_cancelled);
        using var cancelledBefore = new CancellationTokenSource();
        cancelledBefore.Cancel();
        OperationCanceledException at_once = Expect.Throws<OperationCanceledException>(
            () => Chat.Result(client.GetResponseAsync(messages, null, cancelledBefore.Token)), "cancelled before");
        Expect.Equal(cancelledBefore.Token, at_once.CancellationToken, "whose token");
    }

    static async Task Leave(InlayChatClient client, List<ChatMessage> messages, int after, int most = 100)
    {
        await foreach (ChatResponseUpdate update in client.GetStreamingResponseAsync(messages, Chat.Most(most)))
        {
            if (--after == 0) break;
        }
    }

    public static void LeavingEarlyEndsARequest()
    {
        using Engine engine = Chat.Engine(2, 512);
        using InlayChatClient client = Chat.Client(engine);
        List<ChatMessage> messages = Conversation("A tale of a mouse.");
        string alone = Chat.Direct(engine, messages, 30);
        ChatResponse before = Chat.Result(client.GetResponseAsync(messages, Chat.Most(1)));
        foreach (int after in new[] { 1, 2, 7 })
        {
            Chat.Done(Leave(client, messages, after, 400));
            ChatResponse response = Chat.Result(client.GetResponseAsync(messages, Chat.Most(30)));
            Expect.Equal(alone, response.Text, "text after leaving at " + after);
            KnowsThePrompt(engine, before, response, "after leaving at " + after);
            ulong drawn = engine.Stats.DecodeTokens;
            Thread.Sleep(20);
            Expect.Equal(drawn, engine.Stats.DecodeTokens, "nobody draws any more");
        }
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
        using InlayChatClient client = Chat.Client(engine);
        Chat.Done(Task.WhenAll(Enumerable.Range(0, 10).Select(worker => Task.Run(() => ComeAndGo(client, asked, want, worker)))));
        for (int i = 0; i < asked.Length; i++) Expect.Equal(want[i], Chat.Result(client.GetResponseAsync(asked[i], Chat.Most(15))).Text, "text " + i);
    }

    public static void DisposeEndsAll()
    {
        using Engine engine = Chat.Engine(2);
        InlayChatClient client = Chat.Client(engine);
        IAsyncEnumerator<ChatResponseUpdate> forgotten = client.GetStreamingResponseAsync(Conversation("b"), Chat.Most(150)).GetAsyncEnumerator();
        Expect.True(Chat.Result(forgotten.MoveNextAsync().AsTask()), "a first update of a stream that nobody reads on or disposes");
        Chat.SlowDown(engine);
        Task<ChatResponse>[] whole =
            Enumerable.Range(0, 40).Select(i => client.GetResponseAsync(Conversation("Tale " + i), Chat.Most(150))).ToArray();
        client.Dispose();
        client.Dispose();
        int n_ended = 0;
        foreach (Task task in whole)
        {
            try { Chat.Done(task); }
            catch (OperationCanceledException) { n_ended++; }
        }
        Expect.Equal(40, n_ended, "they are ended");
        Expect.Throws<ObjectDisposedException>(() => Chat.Text(client, "a", null), "afterwards");
        Expect.Throws<ObjectDisposedException>(() => Chat.Result(Chat.Updates(client, new[] { Chat.User("a") }, null)), "streaming afterwards");
        Expect.True(engine.Tokenize("a").Length > 0, "the engine is not the client's");

        var owner = new InlayChatClient(engine, new InlayChatClientOptions { OwnsEngine = true, ChatTemplate = Chat.Template });
        Expect.True(Chat.Text(owner, "a", Chat.Most(3)).Length > 0, "another client");
        owner.Dispose();
        Expect.Throws<ObjectDisposedException>(() => engine.Tokenize("a"), "an engine that is the client's");
    }

    public static void ADisposedEngineEndsAll()
    {
        Engine engine = Chat.Engine(2);
        using InlayChatClient client = Chat.Client(engine);
        Chat.SlowDown(engine);
        Task<ChatResponse>[] whole =
            Enumerable.Range(0, 40).Select(i => client.GetResponseAsync(Conversation("Tale " + i), Chat.Most(150))).ToArray();
        engine.Dispose();
        int n_ended = 0;
        foreach (Task task in whole)
        {
            try { Chat.Done(task); }
            catch (OperationCanceledException) { n_ended++; }
            catch (ObjectDisposedException) { n_ended++; } // it had not begun
        }
        Expect.Equal(40, n_ended, "they are ended");
        Expect.Throws<ObjectDisposedException>(() => Chat.Text(client, "a", Chat.Most(1)), "afterwards");
    }

    public static void NoMoreAreUnderWayThanMay()
    {
        using Engine engine = Chat.Engine(1);
        var options = new InlayChatClientOptions { ChatTemplate = Chat.Template, MaxWaiting = 2, HostComputes = true };
        using var client = new InlayChatClient(engine, options);
        Chat.SlowDown(engine);
        Task<ChatResponse>[] all = Enumerable.Range(0, 4).Select(i => client.GetResponseAsync(new[] { Chat.User("Tale " + i) }, Chat.Most(60))).ToArray();
        Chat.Soon(() => all.Count(task => task.IsFaulted) == 2, "two too many");
        engine.SetThread(new ThreadOptions());
        foreach (Task<ChatResponse> task in all)
        {
            if (task.IsFaulted) Expect.Throws<InvalidOperationException>(() => Chat.Result(task), "one too many");
            else Expect.True(Chat.Result(task).Text.Length > 0, "the others");
        }
        Expect.Throws<ArgumentOutOfRangeException>(() => new InlayChatClient(engine, new InlayChatClientOptions { MaxWaiting = 0 }), "none at all");
    }

    // Sessions of the program have their place for as long as they are there. A request waits for one, and can be cancelled meanwhile.
    public static void RequestsWaitForSessionsOfTheProgram()
    {
        using Engine engine = Chat.Engine(1);
        using InlayChatClient client = Chat.Client(engine);
        string alone = Chat.Text(client, "a", Chat.Most(8));
        Session own = engine.CreateSession(Given.Endless);
        own.Prefill(Given.Prompt);
        using var source = new CancellationTokenSource();
        Task<ChatResponse> first = client.GetResponseAsync(new[] { Chat.User("a") }, Chat.Most(8), source.Token);
        Task<ChatResponse> second = client.GetResponseAsync(new[] { Chat.User("a") }, Chat.Most(8));
        Given.Draw(own, 30);
        Expect.True(!first.IsCompleted && !second.IsCompleted, "they wait");
        source.Cancel();
        Expect.Throws<OperationCanceledException>(() => Chat.Result(first), "cancelled while it waits");
        own.Dispose();
        Expect.Equal(alone, Chat.Result(second).Text, "its turn");
    }

    // With a loop of the program's own, which may begin later.
    public static void TheHostMayCompute()
    {
        using Engine engine = Chat.Engine(2);
        using var client = new InlayChatClient(engine, new InlayChatClientOptions { ChatTemplate = Chat.Template, HostComputes = true });
        Task<ChatResponse> task = client.GetResponseAsync(new[] { Chat.User("a") }, Chat.Most(8));
        Expect.True(!task.Wait(100), "it waits");
        for (int i = 0; i < 60000 && !task.IsCompleted; i++)
        {
            engine.Run(TimeSpan.FromMilliseconds(1));
            Thread.Sleep(1);
        }
        Expect.Equal(Chat.Direct(engine, new[] { Chat.User("a") }, 8), Chat.Result(task).Text, "text");
        task = client.GetResponseAsync(new[] { Chat.User("a") }, Chat.Most(8));
        Chat.Soon(() => engine.Run(TimeSpan.Zero).Requests > 0, "it is there");
        client.Dispose();
        Expect.Throws<OperationCanceledException>(() => Chat.Result(task), "the client was disposed");
        Expect.Equal(0, engine.Run().Requests, "requests that are left");
    }

    static unsafe Status LosesTheDevice(IntPtr engine, inlay_thread_params* options, inlay_error* error)
    {
        *error = default;
        error->status = Status.DeviceLost;
        return Status.DeviceLost;
    }

    public static void ABrokenEngineIsDisposedAllTheSame()
    {
        Engine engine = Chat.Engine(1);
        var client = new InlayChatClient(engine, new InlayChatClientOptions { ChatTemplate = Chat.Template, OwnsEngine = true });
        using (new Replaced("inlay_engine_set_thread", typeof(ConversationTests), nameof(LosesTheDevice))) client.Dispose();
        Expect.True(engine.Handle.IsClosed, "the engine is disposed");
    }

    public static void ClientsOfOneEngineShareItsThread()
    {
        using Engine engine = Chat.Engine(2);
        InlayChatClient first = Chat.Client(engine), second = Chat.Client(engine);
        string text = Chat.Text(first, "a", Chat.Most(8));
        first.Dispose();
        first.Dispose();
        Expect.Equal(text, Chat.Text(second, "a", Chat.Most(8)), "the other one goes on");
        Expect.Status(Status.InvalidState, () => engine.Run(), "the engine has a thread");
        second.Dispose();
        engine.Run();
    }
}
