// Generations as asynchronous streams: where the runtime has them.
#if NET8_0_OR_GREATER
using System;
using System.Collections.Generic;
using System.IO;
using System.Linq;
using System.Text;
using System.Threading;
using System.Threading.Tasks;
using Inlay;

static class StreamTests
{
    internal static void Run(Func<Task> body)
    {
        AsyncTests.Result(Task.Run(async () =>
        {
            await body();
            return 0;
        }));
    }

    static async Task<string> Text(IAsyncEnumerable<Generated> stream)
    {
        var text = new StringBuilder();
        await foreach (Generated next in stream) text.Append(next.Text);
        return text.ToString();
    }

    public static void AStreamSaysWhatALoopSays() => Run(async () =>
    {
        using Engine engine = Given.Engine();
        for (int i = 0; i < 4; i++)
        {
            GenerateOptions options = AsyncTests.Options(i);
            using Session session = engine.CreateSession();
            string alone = string.Concat(session.Generate("Once upon a time", options).Select(g => g.Text));
            Expect.Equal(alone, await Text(engine.GenerateAsync("Once upon a time", options)), "of text");
            Expect.Equal(alone, await Text(engine.GenerateAsync(engine.Tokenize("Once upon a time"), options)), "of tokens");
            session.Truncate(0);
            Expect.Equal(alone, await Text(session.GenerateAsync("Once upon a time", options)), "in a session");
        }
        Expect.Equal(0, engine.Stats.Sessions, "sessions afterwards");
    });

    public static void TheLastEventHasReasonAndCounts() => Run(async () =>
    {
        using Engine engine = Given.Engine();
        Generated last = null;
        int n = 0;
        await foreach (Generated next in engine.GenerateAsync("Once upon a time", new GenerateOptions { MaxTokens = 9 }))
        {
            Expect.True(last == null || last.FinishReason == FinishReason.None, "nothing after the last event");
            last = next;
            n++;
        }
        Expect.Equal(FinishReason.MaxTokens, last.FinishReason, "reason");
        Expect.Equal(9, last.GeneratedTokens, "tokens");
        Expect.Equal(engine.Tokenize("Once upon a time").Length, last.PromptTokens, "tokens of the prompt");
    });

    public static void LeavingTheLoopFreesTheSession() => Run(async () =>
    {
        LoadOptions options = Given.Options;
        options.MaxSessions = 1;
        await using Engine engine = Engine.Load(Given.Model, options);
        for (int i = 0; i < 20; i++)
        {
            int n = 0;
            await foreach (Generated next in engine.GenerateAsync("Once upon a time", new GenerateOptions { MaxTokens = 200 }))
            {
                if (n++ == i % 4) break;
            }
            Expect.Equal(0, engine.Stats.Sessions, "sessions afterwards");
        }
        await engine.GenerateAsync("x").GetAsyncEnumerator().DisposeAsync(); // that was never begun
    });

    public static void CancellationIsAnException() => Run(async () =>
    {
        await using Engine engine = Given.Engine();
        foreach (int after in new[] { 0, 3, 30 })
        {
            using var source = new CancellationTokenSource();
            int n = 0;
            try
            {
                await foreach (Generated next in engine.GenerateAsync("Once upon a time", new GenerateOptions { MaxTokens = 200 }).WithCancellation(source.Token))
                {
                    if (n++ == after) source.Cancel();
                }
                if (n < 200) throw new CheckFailed("the stream just ended, after " + n);
            }
            catch (OperationCanceledException cancelled) { Expect.Equal(source.Token, cancelled.CancellationToken, "whose token"); }
            Expect.Equal(0, engine.Stats.Sessions, "sessions afterwards");
        }
    });

    public static void AConversation() => Run(async () =>
    {
        using Engine engine = Given.Engine();
        var messages = new[] { ChatMessage.User("Tell me a tale.") };
        var options = new GenerateOptions { MaxTokens = 8 };
        try { engine.GetChatTokens(messages); }
        catch (InlayException) { throw new Skipped("the model has no chat template"); }
        Expect.Equal(await Text(engine.GenerateAsync(engine.GetChatTokens(messages), options)), await Text(engine.GenerateAsync(messages, options)), "text");
    });

    // Threads of the library; none where the system does not tell in this way. Files are not counted: the runtime opens some of its own.
    static int Threads()
    {
        int n = 0;
        foreach (string task in Directory.Exists("/proc/self/task") ? Directory.GetDirectories("/proc/self/task") : new string[0])
        {
            try { if (File.ReadAllText(task + "/comm").StartsWith("inlay-", StringComparison.Ordinal)) n++; }
            catch (IOException) { } // it has ended
        }
        return n;
    }

    // What has ended is in the system's list for a moment longer.
    static async Task ExpectThreads(int before)
    {
        for (int i = 0; i < 1000 && Threads() != before; i++) await Task.Delay(10);
        Expect.Equal(before, Threads(), "threads");
    }

    // 64 callers who cancel, leave and dispose at random, while garbage is collected: nothing is left, every text that ended is right.
    public static void Stress() => Run(async () =>
    {
        int n_all = int.Parse(Environment.GetEnvironmentVariable("INLAY_TEST_GENERATIONS") ?? "500");
        Given.CollectGarbage();
        await Task.Delay(200); // until the threads of other tests' engines have ended
        int before = Threads();
        Engine engine = Engine.Load(Given.Model, Given.Options);
        if (Directory.Exists("/proc/self/task")) await ExpectThreads(before + 1); // it has its name once it runs
        const int kinds = 16;
        var right = new string[kinds];
        for (int k = 0; k < kinds; k++)
        {
            using Session session = engine.CreateSession();
            right[k] = string.Concat(session.Generate("Once upon a time", AsyncTests.Options(k)).Select(g => g.Text));
        }
        int begun = 0, whole = 0, cancelled = 0, left = 0, wrong = 0;
        async Task Caller(int seed)
        {
            var random = new Random(seed);
            while (Interlocked.Increment(ref begun) <= n_all)
            {
                int k = random.Next(kinds), way = random.Next(8), leave = way == 0 ? random.Next(1, 5) : int.MaxValue, n = 0;
                using var source = new CancellationTokenSource();
                if (way == 1) source.CancelAfter(TimeSpan.FromMilliseconds(random.Next(40)));
                if (random.Next(200) == 0) GC.Collect();
                var text = new StringBuilder();
                try
                {
                    if (way == 2)
                    {
                        text.Append((await engine.CompleteAsync("Once upon a time", AsyncTests.Options(k), source.Token)).Text);
                    }
                    else if (way == 3) // a session of the program's own, which is disposed in the middle
                    {
                        Session session = await engine.CreateSessionAsync(null, source.Token);
                        await foreach (Generated next in session.GenerateAsync("Once upon a time", AsyncTests.Options(k), source.Token))
                        {
                            if (n++ == 2) session.Dispose();
                            text.Append(next.Text);
                        }
                        session.Dispose();
                    }
                    else
                    {
                        await foreach (Generated next in engine.GenerateAsync("Once upon a time", AsyncTests.Options(k), source.Token))
                        {
                            text.Append(next.Text);
                            if (++n == leave) break;
                        }
                    }
                    bool ended = n < leave && (way != 3 || text.ToString() == right[k]);
                    if (ended && text.ToString() != right[k]) Interlocked.Increment(ref wrong);
                    if (!right[k].StartsWith(text.ToString(), StringComparison.Ordinal)) Interlocked.Increment(ref wrong);
                    Interlocked.Increment(ref ended ? ref whole : ref left);
                }
                catch (OperationCanceledException) when (source.IsCancellationRequested) { Interlocked.Increment(ref cancelled); }
                catch (ObjectDisposedException) when (way == 3) { Interlocked.Increment(ref left); }
            }
        }
        await Task.WhenAll(Enumerable.Range(0, 64).Select(i => Task.Run(() => Caller(i))));
        Expect.Equal(0, wrong, "wrong texts");
        Expect.Equal(n_all, whole + cancelled + left, "generations");
        Expect.True(whole > n_all / 2 && cancelled > 0 && left > 0, whole + " whole, " + cancelled + " cancelled, " + left + " left");
        Given.CollectGarbage();
        Expect.Equal(0, engine.Stats.Sessions, "sessions afterwards");
        Expect.Equal(0, engine.Stats.KvBlocksUsed, "KV blocks afterwards");
        await engine.DisposeAsync();
        await ExpectThreads(before);
    });
}
#endif
