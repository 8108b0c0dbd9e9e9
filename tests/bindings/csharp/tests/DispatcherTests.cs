// Requests as tasks, as texts that are read, and frame by frame.
using System;
using System.Collections.Generic;
using System.Diagnostics;
using System.Linq;
using System.Reflection;
using System.Text;
using System.Threading;
using System.Threading.Tasks;
using Inlay;

static class DispatcherTests
{
    static string Prompt(int i) { return "Once upon a time" + new string('.', i % 5); }

    static SessionOptions Options(int i)
    {
        return new SessionOptions { Sampler = new SamplerOptions { Temperature = 0.9f, Seed = (ulong)i }, MaxTokens = 5 + i % 7 };
    }

    static Request Ask(int i) { return new Request(Prompt(i)) { Options = Options(i) }; }

    static string Alone(Engine engine, int i) { return Alone(engine, engine.Tokenize(Prompt(i)), Options(i)); }

    static string Alone(Engine engine, int[] prompt, SessionOptions options)
    {
        var text = new StringBuilder();
        using (Session session = engine.CreateSession(options))
        {
            foreach (Generated next in session.Generate(prompt)) text.Append(next.Text);
        }
        return text.ToString();
    }

    static Engine Threaded(int n_sessions)
    {
        Engine engine = Engine.Load(Given.Model, RequestTests.FewSessions(n_sessions));
        engine.SetThread(new ThreadOptions());
        return engine;
    }

    /// <summary>From now on an endless request takes many seconds.</summary>
    static void SlowDown(Engine engine)
    {
        engine.SetThread(new ThreadOptions { Busy = TimeSpan.FromMilliseconds(0.1), Period = TimeSpan.FromMilliseconds(100) });
    }

    public static void TasksAnswerAsSessions()
    {
        using (Engine engine = Threaded(3))
        using (var dispatcher = new RequestDispatcher(engine))
        {
            Task<Completion>[] tasks = Enumerable.Range(0, 24).Select(i => dispatcher.CompleteAsync(Ask(i))).ToArray();
            Completion[] all = AsyncTests.Result(Task.WhenAll(tasks));
            for (int i = 0; i < all.Length; i++)
            {
                Expect.Equal(Alone(engine, i), all[i].Text, "text " + i);
                Expect.Equal(engine.Tokenize(Prompt(i)).Length, all[i].PromptTokens, "tokens of the prompt");
                Expect.True(all[i].CachedTokens >= 0 && all[i].CachedTokens < all[i].PromptTokens, "tokens that were found");
                if (all[i].FinishReason == FinishReason.MaxTokens) Expect.Equal(5 + i % 7, all[i].Tokens.Count, "tokens");
                else Expect.Equal(FinishReason.EndOfGeneration, all[i].FinishReason, "reason");
            }
            Expect.True(all.Select(one => one.Text).Distinct().Count() > 8, "different texts");
        }
    }

    static int[] LongPrompt(int caller) { return Enumerable.Repeat(65 + caller % 4, 100).ToArray(); }

    // The first failure of sessions, one for each caller, that only run the prompts.
    static InlayException FailureOfSessions(Engine engine, int n)
    {
        Session[] sessions = Enumerable.Range(0, n).Select(_ => engine.CreateSession(Given.Endless)).ToArray();
        try
        {
            for (int i = 0; i < n; i++) sessions[i].Prefill(LongPrompt(i));
            return null;
        }
        catch (InlayException failure) { return failure; }
        finally { foreach (Session session in sessions) session.Dispose(); }
    }

    // 50 callers whose keys and values have a quarter of the room that they need. Sessions would see that; requests are put out
    // meanwhile, and all of them end whole. With all the room none is put out.
    public static void FiftyCallersShareASmallPool()
    {
        const int n = 50;
        LoadOptions load = RequestTests.FewSessions(n);
        load.ContextLength = 160;
        load.Flags = LoadFlags.NoPrefixCache;
        ulong bytes = Engine.PlanMemory(Given.Model, load).KvBytes;
        foreach (ulong part in new ulong[] { 4, 1 })
        {
            load.KvBudgetBytes = bytes / part;
            using (Engine engine = Engine.Load(Given.Model, load))
            using (var dispatcher = new RequestDispatcher(engine))
            {
                InlayException failure = FailureOfSessions(engine, n);
                Expect.Equal(part > 1 ? Status.KvFull : Status.Ok, failure == null ? Status.Ok : failure.Status, "sessions");
                string[] want = Enumerable.Range(0, 4).Select(i => Alone(engine, LongPrompt(i), RequestTests.UpTo(60))).ToArray();
                ulong before = engine.Stats.PrefillTokens;
                engine.Run(); // so that waiting callers know of somebody who computes
                Task<Completion>[] tasks = Enumerable.Range(0, n).Select(
                    i => dispatcher.CompleteAsync(new Request(LongPrompt(i)) { Options = RequestTests.UpTo(60) })).ToArray();
                engine.SetThread(new ThreadOptions());
                Completion[] all = AsyncTests.Result(Task.WhenAll(tasks));
                for (int i = 0; i < n; i++)
                {
                    Expect.Equal(FinishReason.MaxTokens, all[i].FinishReason, "reason");
                    Expect.Equal(60, all[i].Tokens.Count, "tokens");
                    // On a GPU prompts have kernels of their own, so that what is computed again agrees within a tolerance.
                    if (Given.Device != DeviceKind.Cuda) Expect.Equal(want[i % 4], all[i].Text, "text " + i);
                }
                ulong run = engine.Stats.PrefillTokens - before;
                Expect.Equal(part > 1, run > n * 100, "1/" + part + " of the pool: some were put out, " + run + " tokens were run for prompts");
            }
        }
    }

    static async Task<string> ReadAll(PendingRequest pending)
    {
        var text = new StringBuilder();
        for (string next = await pending.ReadAsync(); next != null; next = await pending.ReadAsync())
        {
            Expect.True(next.Length > 0, "no empty pieces");
            text.Append(next);
        }
        return text.ToString();
    }

    // With a thread and without; by a loop that waits, by frames, by await, and what is left to the task.
    public static void TextIsReadWhileItIsDrawn()
    {
        foreach (bool has_thread in new[] { true, false })
        {
            using (Engine engine = has_thread ? Threaded(4) : Engine.Load(Given.Model, RequestTests.FewSessions(4)))
            using (var dispatcher = new RequestDispatcher(engine, null, has_thread))
            {
                PendingRequest[] all = Enumerable.Range(0, 4).Select(i => dispatcher.Submit(Ask(i))).ToArray();
                Task<string> awaited = ReadAll(all[2]);
                var pieces = new List<string>(all[0].ReadText());
                Expect.True(pieces.All(piece => piece.Length > 0), "no empty pieces");
                Expect.Equal(Alone(engine, 0), string.Concat(pieces), "a loop that waits");
                if (!has_thread) Expect.True(pieces.Count > 2, "piece by piece: " + pieces.Count);
                var frames = new StringBuilder();
                foreach (string text in all[1].ReadFrames(TimeSpan.FromMilliseconds(2)))
                {
                    frames.Append(text);
                    if (has_thread) Thread.Sleep(1);
                }
                Expect.Equal(Alone(engine, 1), frames.ToString(), "frame by frame");
                while (!has_thread && !all[3].HasEnded) dispatcher.Run();
                Expect.Equal(Alone(engine, 2), AsyncTests.Result(awaited), "awaited");
                Expect.Equal(Alone(engine, 3), AsyncTests.Result(all[3].Completion).Text, "a task");
                Expect.Equal(Alone(engine, 3), all[3].TakeText(), "all at once");
                Expect.Equal("", all[3].TakeText(), "once");
                Expect.Equal(0, all[0].ReadText().Count(), "what was read comes no more");
                Expect.Equal(Alone(engine, 0), AsyncTests.Result(all[0].Completion).Text, "the task has it all the same");
            }
        }
    }

    static async Task<List<RequestPiece>> Pieces(PendingRequest pending)
    {
        var pieces = new List<RequestPiece>();
        for (RequestPiece next = await pending.ReadPieceAsync(); next != null; next = await pending.ReadPieceAsync()) pieces.Add(next);
        return pieces;
    }

    public static void PiecesHaveTokensAndTheirProbabilities()
    {
        using (Engine engine = Threaded(2))
        using (var dispatcher = new RequestDispatcher(engine))
        {
            foreach (int n_top in new[] { 0, 3 })
            {
                Request request = Ask(3);
                request.Options.Sampler.Logprobs = n_top;
                PendingRequest pending = dispatcher.Submit(request);
                List<RequestPiece> pieces = AsyncTests.Result(Pieces(pending));
                Completion whole = AsyncTests.Result(pending.Completion);
                Expect.Equal(whole.Text, string.Concat(pieces.Select(piece => piece.Text)), "text");
                TokenLogprob[] drawn = pieces.SelectMany(piece => piece.Tokens).ToArray();
                Expect.Sequence(whole.Tokens.ToArray(), drawn.Select(token => token.Token).ToArray(), "tokens");
                Expect.True(drawn.All(token => token.Logprob <= 0), "probabilities");
                IReadOnlyList<TokenLogprob>[] top = pieces.SelectMany(piece => piece.Top).ToArray();
                Expect.Equal(drawn.Length, top.Length, "places");
                Expect.True(top.All(likeliest => likeliest.Count == n_top), "the likeliest of each place");
                if (n_top > 0) Expect.True(drawn.Zip(top, (token, likeliest) => token.Logprob <= likeliest[0].Logprob).All(holds => holds), "in their order");
            }
            PendingRequest cancelled = dispatcher.Submit(RequestTests.Endless());
            cancelled.Cancel();
            Expect.Equal(AsyncTests.Result(cancelled.Completion).Tokens.Count, AsyncTests.Result(Pieces(cancelled)).Sum(piece => piece.Tokens.Count),
                         "what was drawn before");
        }
    }

    // A frame takes one step of the iterator, and the budget bounds what is computed in it.
    public static void FramesAreBounded()
    {
        using (Engine engine = Engine.Load(Given.Model, RequestTests.FewSessions(2)))
        using (var dispatcher = new RequestDispatcher(engine, null, false))
        {
            PendingRequest pending = dispatcher.Submit(RequestTests.Endless());
            int n_frames = 0, n_empty = 0;
            foreach (string text in pending.ReadFrames(TimeSpan.Zero))
            {
                n_frames++;
                if (text.Length == 0) n_empty++;
            }
            Expect.True(n_frames > 240 && n_empty > 0, n_frames + " frames, " + n_empty + " without text");
            Expect.Sequence(Given.Reply(engine, 240), AsyncTests.Result(pending.Completion).Tokens.ToArray(), "tokens");
        }
    }

    // Each has texts of its own, though all read on their own threads and compute for one another.
    public static void ManyThreadsReadWithoutADispatchersThread()
    {
        using (Engine engine = Engine.Load(Given.Model, RequestTests.FewSessions(3)))
        using (var dispatcher = new RequestDispatcher(engine, null, false))
        {
            var found = new string[12];
            Thread[] threads = Enumerable.Range(0, found.Length).Select(i =>
            {
                var thread = new Thread(() =>
                {
                    try { found[i] = string.Concat(dispatcher.Submit(Ask(i)).ReadText()); }
                    catch (Exception problem) { found[i] = problem.ToString(); }
                }) { IsBackground = true };
                thread.Start();
                return thread;
            }).ToArray();
            foreach (Thread thread in threads) Expect.True(thread.Join(RequestTests.Limit), "it ends");
            for (int i = 0; i < found.Length; i++) Expect.Equal(Alone(engine, i), found[i], "text " + i);
        }
    }

    public static void CancelAndTokensEndThem()
    {
        using (Engine engine = Threaded(4))
        using (var dispatcher = new RequestDispatcher(engine))
        using (var source = new CancellationTokenSource())
        {
            SlowDown(engine);
            PendingRequest asked = dispatcher.Submit(RequestTests.Endless()), told = dispatcher.Submit(RequestTests.Endless(), source.Token);
            asked.Cancel();
            Completion completion = AsyncTests.Result(asked.Completion);
            Expect.Equal(FinishReason.Cancelled, completion.FinishReason, "reason");
            Expect.Equal(completion.Text, string.Concat(asked.ReadText()), "its text so far, without an exception");
            source.Cancel();
            var problem = Expect.Throws<OperationCanceledException>(() => AsyncTests.Result(told.Completion), "a token");
            Expect.Equal(source.Token, problem.CancellationToken, "whose token");
            problem = Expect.Throws<OperationCanceledException>(() => told.ReadText().Count(), "its text");
            Expect.Equal(source.Token, problem.CancellationToken, "whose token");
            Expect.Throws<OperationCanceledException>(() => dispatcher.Submit(Ask(0), source.Token), "a token that was cancelled before");
            engine.SetThread(new ThreadOptions());
            Expect.True(AsyncTests.Result(dispatcher.CompleteAsync(Ask(0))).Tokens.Count > 0, "the others go on");
            asked.Cancel();
        }
    }

    public static void CancellationMeetsAllStates()
    {
        using (Engine engine = Threaded(2))
        using (var dispatcher = new RequestDispatcher(engine))
        {
            for (int round = 0; round < 60; round++)
            {
                using (var source = new CancellationTokenSource())
                {
                    var tasks = new List<Task<Completion>>();
                    for (int i = 0; i < 3; i++) tasks.Add(dispatcher.CompleteAsync(Ask(i), source.Token));
                    if (round % 6 > 0) Thread.Sleep(round % 6);
                    source.Cancel();
                    foreach (Task<Completion> task in tasks)
                    {
                        try { AsyncTests.Result(task); }
                        catch (OperationCanceledException cancelled) { Expect.Equal(source.Token, cancelled.CancellationToken, "whose token"); }
                    }
                }
            }
        }
    }

    public static void TimeoutsAndFailures()
    {
        using (Engine engine = Threaded(2))
        using (var dispatcher = new RequestDispatcher(engine, new RequestQueueOptions { MaxRequests = 1 }))
        {
            SlowDown(engine);
            Request late = RequestTests.Endless();
            late.Timeout = TimeSpan.Zero;
            Expect.Equal(FinishReason.Timeout, AsyncTests.Result(dispatcher.CompleteAsync(late)).FinishReason, "reason");
            Expect.Status(Status.ContextFull, () => dispatcher.Submit(new Request(new int[1000])), "a long prompt");
            Expect.Throws<ArgumentNullException>(() => dispatcher.Submit(null), "none");
            PendingRequest only = dispatcher.Submit(RequestTests.Endless());
            Expect.Status(Status.QueueFull, () => dispatcher.Submit(Ask(1)), "one too many");
            only.Cancel();
            AsyncTests.Result(only.Completion);
            engine.SetThread(new ThreadOptions());
            Expect.True(AsyncTests.Result(dispatcher.CompleteAsync(Ask(1))).Tokens.Count > 0, "room again");
        }
    }

    // Instead of waiting for ever.
    public static void NobodyComputesIsAFailure()
    {
        using (Engine engine = Given.Engine())
        using (var dispatcher = new RequestDispatcher(engine))
        {
            PendingRequest pending = dispatcher.Submit(RequestTests.Endless());
            Expect.Contains("nobody computes", Expect.Status(Status.InvalidState, () => AsyncTests.Result(pending.Completion), "the task").Message);
            Expect.Status(Status.InvalidState, () => pending.ReadText().Count(), "the text");
            Expect.Status(Status.InvalidState, () => AsyncTests.Result(pending.ReadAsync()), "the next text");
            Expect.Equal(0, engine.Run().Requests, "requests that are left");
        }
    }

    // Their ends are in the queue, which has room for no more of them.
    public static void RequestsThatFailedLeaveTheirPlaces()
    {
        using (Engine engine = Given.Engine())
        using (var dispatcher = new RequestDispatcher(engine, new RequestQueueOptions { MaxRequests = 1 }))
        {
            for (int i = 0; i < 3; i++)
            {
                PendingRequest pending = dispatcher.Submit(RequestTests.Endless());
                Expect.Status(Status.InvalidState, () => AsyncTests.Result(pending.Completion), "nobody computes");
            }
            engine.SetThread(new ThreadOptions());
            Expect.Equal(Alone(engine, 1), AsyncTests.Result(dispatcher.CompleteAsync(Ask(1))).Text, "afterwards");
        }
    }

    public static void RequestsWaitForAHostThatWillCompute()
    {
        using (Engine engine = Given.Engine())
        {
            using (var dispatcher = new RequestDispatcher(engine) { HostComputes = true })
            {
                PendingRequest pending = dispatcher.Submit(Ask(1)), cancelled = dispatcher.Submit(Ask(2));
                Expect.True(!pending.Completion.Wait(100), "it waits");
                cancelled.Cancel();
                Expect.Equal(FinishReason.Cancelled, AsyncTests.Result(cancelled.Completion).FinishReason, "its end");
                Expect.True(!pending.HasEnded, "the other one waits");
                while (engine.Run().Requests > 0) { }
                Expect.Equal(Alone(engine, 1), AsyncTests.Result(pending.Completion).Text, "text");
            }
        }
        using (Engine engine = Given.Engine())
        {
            var dispatcher = new RequestDispatcher(engine) { HostComputes = true };
            PendingRequest pending = dispatcher.Submit(Ask(1));
            dispatcher.Dispose();
            Expect.Throws<OperationCanceledException>(() => AsyncTests.Result(pending.Completion), "the dispatcher was disposed");
        }
    }

    static void EndsWhileTheyGoOn(Action<Engine, RequestDispatcher> end)
    {
        Engine engine = Threaded(2);
        SlowDown(engine);
        var dispatcher = new RequestDispatcher(engine);
        PendingRequest[] all = Enumerable.Range(0, 5).Select(i => dispatcher.Submit(RequestTests.Endless())).ToArray();
        Exception problem = null;
        var reader = new Thread(() =>
        {
            try { problem = new CheckFailed("the text ended: " + string.Concat(all[4].ReadText()).Length); }
            catch (Exception thrown) { problem = thrown; }
        }) { IsBackground = true };
        reader.Start();
        end(engine, dispatcher);
        foreach (PendingRequest pending in all) Expect.Throws<OperationCanceledException>(() => AsyncTests.Result(pending.Completion), "a task");
        Expect.True(reader.Join(RequestTests.Limit), "the reader ends");
        Expect.True(problem is OperationCanceledException, "the reader: " + problem);
        dispatcher.Dispose();
        engine.Dispose();
        Expect.Throws<ObjectDisposedException>(() => dispatcher.Submit(Ask(0)), "a request afterwards");
    }

    public static void ADisposedEngineEndsThem() { EndsWhileTheyGoOn((engine, dispatcher) => engine.Dispose()); }

    public static void ADisposedDispatcherEndsThem() { EndsWhileTheyGoOn((engine, dispatcher) => dispatcher.Dispose()); }

    public static void AReaderThatComputesIsTold()
    {
        foreach (bool of_engine in new[] { true, false })
        {
            Engine engine = Engine.Load(Given.Model, RequestTests.FewSessions(2));
            var dispatcher = new RequestDispatcher(engine, null, false);
            PendingRequest pending = dispatcher.Submit(RequestTests.Endless());
            int n = 0;
            Expect.Throws<OperationCanceledException>(() =>
            {
                foreach (string text in pending.ReadText())
                {
                    if (++n != 3) continue;
                    if (of_engine) engine.Dispose();
                    else dispatcher.Dispose();
                }
            }, "the text");
            Expect.True(n >= 3, "pieces: " + n);
            dispatcher.Dispose();
            engine.Dispose();
        }
    }

    static WeakReference Dropped(Engine engine)
    {
        WeakReference dropped = null;
        var thread = new Thread(() =>
        {
            var dispatcher = new RequestDispatcher(engine);
            AsyncTests.Result(dispatcher.CompleteAsync(Ask(1)));
            dropped = new WeakReference(dispatcher);
        });
        thread.Start();
        thread.Join();
        return dropped;
    }

    // Its thread ends when it has had nothing to do for a while, and holds nothing afterwards.
    public static void ADroppedDispatcherIsCollected()
    {
        using (Engine engine = Threaded(2))
        {
            Given.IsCollected(() => Dropped(engine), "it is collected", 20);
        }
    }

    // It waits for requests meanwhile, for a second at most; another process may keep the CPU from it for as long.
    public static void TheThreadOfADisposedDispatcherEndsAtOnce()
    {
        FieldInfo field = typeof(RequestDispatcher).GetField("_thread", BindingFlags.Instance | BindingFlags.NonPublic);
        long least = long.MaxValue;
        using (Engine engine = Threaded(2))
        {
            for (int i = 0; i < 20 && least > 100; i++)
            {
                var dispatcher = new RequestDispatcher(engine);
                AsyncTests.Result(dispatcher.CompleteAsync(Ask(1)));
                Thread.Sleep(20);
                var thread = (Thread)field.GetValue(dispatcher);
                var watch = Stopwatch.StartNew();
                dispatcher.Dispose();
                Expect.True(thread.Join(RequestTests.Limit), "it ends");
                least = Math.Min(least, watch.ElapsedMilliseconds);
            }
        }
        Expect.True(least <= 100, "it took " + least + " ms");
    }

    public static void AThreadComesBackAfterAPause()
    {
        using (Engine engine = Threaded(2))
        using (var dispatcher = new RequestDispatcher(engine))
        {
            for (int i = 0; i < 2; i++)
            {
                Expect.Equal(Alone(engine, i), AsyncTests.Result(dispatcher.CompleteAsync(Ask(i))).Text, "text");
                Thread.Sleep(1200);
            }
        }
    }
}
