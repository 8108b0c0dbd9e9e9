// Generations as tasks: on every runtime.
using System;
using System.Collections.Generic;
using System.Linq;
using System.Text;
using System.Threading;
using System.Threading.Tasks;
using Inlay;

static class AsyncTests
{
    const int Limit = 120000; // milliseconds

    internal static T Result<T>(Task<T> task)
    {
        if (Task.WaitAny(new Task[] { task }, Limit) < 0) throw new CheckFailed("the task has not ended");
        return task.GetAwaiter().GetResult();
    }

    static string Prompt(int i) { return "Once upon a time" + new string('.', i % 5); }

    internal static GenerateOptions Options(int i)
    {
        return new GenerateOptions { Sampler = new SamplerOptions { Temperature = 0.9f, Seed = (ulong)i }, MaxTokens = 5 + i % 7 };
    }

    static string Alone(Engine engine, int i)
    {
        var text = new StringBuilder();
        using (Session session = engine.CreateSession())
        {
            foreach (Generated next in session.Generate(Prompt(i), Options(i))) text.Append(next.Text);
        }
        return text.ToString();
    }

    public static void ManyCallersWaitForFewSessions()
    {
        LoadOptions options = Given.Options;
        options.MaxSessions = 3;
        using (Engine engine = Engine.Load(Given.Model, options))
        {
            Task<Completion>[] tasks = Enumerable.Range(0, 24).Select(i => engine.CompleteAsync(Prompt(i), Options(i))).ToArray();
            Completion[] all = Result(Task.WhenAll(tasks));
            for (int i = 0; i < all.Length; i++)
            {
                Expect.Equal(Alone(engine, i), all[i].Text, "text " + i);
                Expect.True(all[i].PromptTokens > 3, "tokens of the prompt");
                if (all[i].FinishReason == FinishReason.MaxTokens) Expect.Equal(5 + i % 7, all[i].Tokens.Count, "tokens");
                else Expect.Equal(FinishReason.EndOfGeneration, all[i].FinishReason, "reason");
            }
            Expect.Equal(0, engine.Stats.Sessions, "sessions afterwards");
        }
    }

    public static void NoMoreThanTheLimitWait()
    {
        LoadOptions options = Given.Options;
        options.MaxSessions = 1;
        options.MaxWaiting = 2;
        using (Engine engine = Engine.Load(Given.Model, options))
        {
            Session only = engine.CreateSession();
            Task<Session> first = engine.CreateSessionAsync(), second = engine.CreateSessionAsync();
            Task<Session> third = engine.CreateSessionAsync();
            Expect.Status(Status.SessionLimit, () => Result(engine.CreateSessionAsync()), "one too many");
            Expect.True(!first.IsCompleted, "no session is free");
            only.Dispose();
            using (Result(first)) Expect.True(!second.IsCompleted, "in their order");
            using (Result(second)) Expect.True(!third.IsCompleted, "in their order");
            Result(third).Dispose();
        }
    }

    public static void WhatACallFreesWakesWhoWaits()
    {
        LoadOptions options = Given.Options;
        options.MaxSessions = 1;
        using (Engine engine = Engine.Load(Given.Model, options))
        {
            Task<Session> waiting = null;
            var score = new ScoreOptions
            {
                // While it is told the text has the only session; Inlay is called by another thread.
                Progress = (n_done, n_total) => { waiting = waiting ?? Result(Task.Run(() => Task.FromResult(engine.CreateSessionAsync()))); }
            };
            engine.Score(new[] { Given.Prompt }, score);
            Result(waiting).Dispose();
        }
    }

    public static void WaitingCanBeCancelled()
    {
        LoadOptions options = Given.Options;
        options.MaxSessions = 1;
        using (Engine engine = Engine.Load(Given.Model, options))
        using (var source = new CancellationTokenSource())
        {
            Session only = engine.CreateSession();
            Task<Completion> first = engine.CompleteAsync("a", null, source.Token), second = engine.CompleteAsync("a", Options(1));
            source.Cancel();
            Expect.Throws<OperationCanceledException>(() => Result(first), "the cancelled one");
            only.Dispose();
            Expect.True(Result(second).Tokens.Count > 0, "the one behind it");
        }
    }

    public static void CancellationEndsItAndFreesTheSession()
    {
        using (Engine engine = Given.Engine())
        {
            foreach (int after in new[] { 0, 1, 5, 20, 60 })
            {
                using (var source = new CancellationTokenSource())
                {
                    Task<Completion> task = engine.CompleteAsync("Once upon a time", new GenerateOptions { MaxTokens = 200 }, source.Token);
                    if (after == 0) source.Cancel();
                    else source.CancelAfter(after);
                    try { Result(task); }
                    catch (OperationCanceledException cancelled) { Expect.Equal(source.Token, cancelled.CancellationToken, "whose token"); }
                }
                Expect.Equal(0, engine.Stats.Sessions, "sessions afterwards");
            }
        }
    }

    public static void FailuresComeFromTheTask()
    {
        using (Engine engine = Given.Engine())
        {
            Expect.Status(Status.ContextFull, () => Result(engine.CompleteAsync(new int[1000])), "a long prompt");
            Expect.Status(Status.InvalidArgument, () => Result(engine.CompleteAsync("a", new GenerateOptions { MaxTokens = -1 })), "a limit");
            Expect.Status(Status.InvalidArgument, () => Result(engine.CompleteAsync("a", new GenerateOptions { Stop = new[] { "" } })), "a stop");
            Expect.Throws<ArgumentNullException>(() => engine.CompleteAsync((string)null), "no prompt");
            Expect.Equal(0, engine.Stats.Sessions, "sessions afterwards");
        }
    }

    public static void ADisposedEngineEndsThem()
    {
        LoadOptions options = Given.Options;
        options.MaxSessions = 2;
        Engine engine = Engine.Load(Given.Model, options);
        var endless = new GenerateOptions { MaxTokens = 240 };
        Task<Completion>[] tasks = Enumerable.Range(0, 5).Select(i => engine.CompleteAsync("Once upon a time", endless)).ToArray();
        engine.Dispose();
        foreach (Task<Completion> task in tasks)
        {
            try { Result(task); }
            catch (OperationCanceledException) { }
            catch (ObjectDisposedException) { }
        }
        Expect.Throws<ObjectDisposedException>(() => Result(engine.CompleteAsync("a")), "afterwards");
    }

    public static void ASessionGoesOnWithItsConversation()
    {
        using (Engine engine = Given.Engine())
        using (Session session = engine.CreateSession(Given.Endless))
        using (Session other = engine.CreateSession(Given.Endless))
        {
            var options = new GenerateOptions { MaxTokens = 6 };
            Completion first = Result(session.CompleteAsync(Given.Prompt, options)), second = Result(session.CompleteAsync(new[] { 100, 200 }, options));
            Expect.Equal(2, second.PromptTokens, "tokens of the prompt");
            other.Prefill(Given.Prompt.Concat(first.Tokens).Concat(new[] { 100, 200 }).ToArray());
            Expect.Sequence(Given.Draw(other, 6), second.Tokens.ToArray(), "tokens");
            for (int tries = 0; !ASecondIsRefusedAndACancelEndsIt(session); tries++) Expect.True(tries < 20, "they end before they are cancelled");
        }
    }

    // False where the generation had ended when it was cancelled.
    static bool ASecondIsRefusedAndACancelEndsIt(Session session)
    {
        session.Truncate(0);
        var go = new ManualResetEventSlim();
        var held = new GenerateOptions { MaxTokens = 100, Stop = new TellingStop(() => go.Wait()) };
        Task<Completion> running = session.CompleteAsync(Given.Prompt, held);
        try { Expect.Throws<InvalidOperationException>(() => Result(session.CompleteAsync(Given.Prompt)), "two at a time"); }
        finally { go.Set(); }
        session.Cancel();
        try
        {
            FinishReason reason = Result(running).FinishReason;
            if (reason == FinishReason.MaxTokens) return false;
            Expect.Equal(FinishReason.Cancelled, reason, "cancelled");
        }
        catch (OperationCanceledException) { } // it met the prompt
        return true;
    }

    public static void AMessageIsWrittenAsJson()
    {
        var messages = new[] { ChatMessage.System("be \"brief\"\n\\ \u0001"), ChatMessage.User("é😀") };
        Expect.Equal("[{\"role\":\"system\",\"content\":\"be \\\"brief\\\"\\u000a\\\\ \\u0001\"},{\"role\":\"user\",\"content\":\"é😀\"}]",
                     ChatMessage.ToJson(messages), "JSON");
        using (Engine engine = Given.Engine())
        {
            const string template = "{% for m in messages %}{{ m.role }}: {{ m.content }}{% endfor %}";
            Expect.Equal("system: be \"brief\"\n\\ \u0001user: é😀", engine.GetChatText(ChatMessage.ToJson(messages), template), "text");
            Expect.Sequence(engine.GetChatTokens(ChatMessage.ToJson(messages), template), engine.GetChatTokens(messages, template), "tokens");
        }
    }

    public static void ALimitOfTokensHolds()
    {
        using (Engine engine = Given.Engine())
        using (Session session = engine.CreateSession(Given.Endless))
        {
            foreach (int most in new[] { 1, 7, 3 })
            {
                Generated last = null;
                int n = 0;
                foreach (Generated next in session.Generate(Given.Prompt, new GenerateOptions { MaxTokens = most }))
                {
                    last = next;
                    Expect.Equal(++n, next.GeneratedTokens, "tokens so far");
                }
                Expect.Equal(most, n, "tokens");
                Expect.Equal(FinishReason.MaxTokens, last.FinishReason, "reason");
                Expect.Equal(Given.Prompt.Length, last.PromptTokens, "tokens of the prompt");
            }
        }
    }

    // They wait for the model on threads of their own, so that the program's tasks go on; and they share steps.
    public static void ManyTakeNoThreadOfThePool()
    {
        const int n = 64, most = 40;
        LoadOptions load = Given.Options;
        load.MaxSessions = n;
        using (Engine engine = Engine.Load(Given.Model, load))
        {
            int n_told = 0, n_ofPool = 0;
            var stop = new TellingStop(() =>
            {
                Interlocked.Increment(ref n_told);
                if (Thread.CurrentThread.IsThreadPoolThread) Interlocked.Increment(ref n_ofPool);
            });
            var options = new GenerateOptions { MaxTokens = most, Stop = stop };
            Session[] sessions = Enumerable.Range(0, n).Select(i => engine.CreateSession(Given.Endless)).ToArray();
            Task<Completion>[] tasks = sessions.Select(session => session.CompleteAsync("Once upon a time", options)).ToArray();
            foreach (Completion whole in Result(Task.WhenAll(tasks))) Expect.Equal(most, whole.Tokens.Count, "tokens");
            foreach (Session session in sessions) session.Dispose();
            Expect.Equal(n, n_told, "generations");
            Expect.Equal(0, n_ofPool, "of them on threads of the pool");
            EngineStats stats = engine.Stats;
            Expect.True(stats.DecodeSteps * 3 <= stats.DecodeTokens * 2, stats.DecodeSteps + " steps for " + stats.DecodeTokens + " tokens");
        }
    }

    // New work after a pause finds new threads.
    public static void ItGoesOnAfterAPause()
    {
        using (Engine engine = Given.Engine())
        {
            string before = Result(engine.CompleteAsync("Once upon a time", Options(3))).Text;
            Thread.Sleep(2500);
            Expect.Equal(before, Result(engine.CompleteAsync("Once upon a time", Options(3))).Text, "text");
        }
    }

    static WeakReference Forgotten()
    {
        Engine engine = Given.Engine();
        Result(engine.CompleteAsync("Once upon a time", Options(3)));
        return new WeakReference(engine);
    }

    public static void AForgottenEngineIsCollected()
    {
        WeakReference engine = null;
        var thread = new Thread(() => engine = Forgotten()); // whose stack is gone afterwards
        thread.Start();
        thread.Join();
        for (int i = 0; i < 100 && engine.IsAlive; i++)
        {
            Thread.Sleep(100);
            Given.CollectGarbage();
        }
        if (Type.GetType("Mono.Runtime") == null) Expect.True(!engine.IsAlive, "it lives on");
    }
}
