// Requests: what they answer, how they end, and who computes them.
using System;
using System.Collections.Generic;
using System.Diagnostics;
using System.Linq;
using System.Reflection;
using System.Runtime.InteropServices;
using System.Text;
using System.Threading;
using Inlay;

static class RequestTests
{
    internal const int Limit = 120000; // milliseconds

    /// <summary>What a request has come to.</summary>
    internal sealed class Answer
    {
        internal readonly List<int> Tokens = new List<int>();
        internal readonly StringBuilder Text = new StringBuilder();
        internal FinishReason Reason;
        internal InlayException Failure;
        internal int Ends, ValueCount, PromptTokens, CachedTokens, GeneratedTokens;
        internal ulong User;
    }

    internal sealed class Answers : Dictionary<ulong, Answer>
    {
        internal int Ended { get { return Values.Count(answer => answer.Ends > 0); } }
    }

    /// <summary>One poll; how many events there were.</summary>
    internal static int Poll(RequestQueue queue, RequestEvents events, Answers into)
    {
        int n = queue.Poll(events);
        foreach (RequestEvent next in events)
        {
            Answer own;
            if (!into.TryGetValue(next.Request, out own)) into.Add(next.Request, own = new Answer());
            Expect.Equal(0, own.Ends, "nothing comes behind the end");
            own.User = next.User;
            own.Text.Append(next.Text);
            for (int i = 0; i < next.TokenCount; i++) own.Tokens.Add(next.GetToken(i).Token);
            if (!next.IsEnd) continue;
            own.Ends++;
            own.Reason = next.FinishReason;
            own.Failure = next.Failure;
            own.ValueCount = next.ValueCount;
            own.PromptTokens = next.PromptTokens;
            own.CachedTokens = next.CachedTokens;
            own.GeneratedTokens = next.GeneratedTokens;
        }
        return n;
    }

    /// <summary>Everything computed on this thread and collected.</summary>
    internal static Answers All(RequestQueue queue, RequestEvents events = null)
    {
        events = events ?? new RequestEvents();
        var answers = new Answers();
        int left;
        do
        {
            left = queue.Engine.Run().Requests;
            while (Poll(queue, events, answers) > 0) { }
        }
        while (left > 0);
        return answers;
    }

    /// <summary>Waits and polls until so many have ended.</summary>
    internal static void Collect(RequestQueue queue, Answers into, int n)
    {
        var events = new RequestEvents();
        while (into.Ended < n)
        {
            Expect.True(queue.Wait(TimeSpan.FromMilliseconds(Limit)), "there is something to poll");
            Poll(queue, events, into);
        }
    }

    internal static SessionOptions UpTo(int n)
    {
        SessionOptions options = Given.Endless;
        options.MaxTokens = n;
        return options;
    }

    internal static Request Endless() { return new Request(Given.Prompt) { Options = UpTo(240) }; }

    internal static LoadOptions FewSessions(int n)
    {
        LoadOptions options = Given.Options;
        options.MaxSessions = n;
        options.Threads = 1;
        return options;
    }

    static void AnswerOf(Engine engine, int[] prompt, SessionOptions options, out int[] tokens, out string text)
    {
        var drawn = new List<int>();
        var said = new StringBuilder();
        using (Session session = engine.CreateSession(options))
        {
            foreach (Generated next in session.Generate(prompt))
            {
                if (next.Token >= 0) drawn.Add(next.Token);
                said.Append(next.Text);
            }
        }
        tokens = drawn.ToArray();
        text = said.ToString();
    }

    // Greedy and seeded, with a stop and without; texts, tokens and conversations, all in one queue.
    static void AnswersAreThoseOfSessions(RequestEvents events)
    {
        var talk = new[] { ChatMessage.System("Mira is a kind innkeeper."), ChatMessage.User("Do you have a \"room\"?") };
        using (Engine engine = Given.Engine())
        using (RequestQueue queue = engine.CreateQueue())
        {
            var all = new[] { UpTo(30), Given.Hot(3, 5), new SessionOptions { MaxTokens = 60, Stop = new[] { "the", "fox" } }, null };
            all[1].MaxTokens = 40;
            var prompts = new Dictionary<ulong, int[]>();
            var options = new Dictionary<ulong, SessionOptions>();
            foreach (SessionOptions own in all)
            {
                ulong text = queue.Submit(new Request("Once upon a time, Straße") { Options = own });
                ulong tokens = queue.Submit(new Request(Given.Prompt) { Options = own });
                ulong messages = queue.Submit(new Request(talk) { Options = own });
                ulong json = queue.Submit(Request.OfConversation(ChatMessage.ToJson(talk.Take(1))));
                prompts.Add(text, engine.Tokenize("Once upon a time, Straße"));
                prompts.Add(tokens, Given.Prompt);
                prompts.Add(messages, engine.GetChatTokens(talk));
                prompts.Add(json, engine.GetChatTokens(talk.Take(1)));
                foreach (ulong id in new[] { text, tokens, messages }) options.Add(id, own);
                options.Add(json, null);
            }
            Answers answers = All(queue, events);
            Expect.Equal(16, answers.Count, "answers");
            var different = new HashSet<string>();
            foreach (ulong id in prompts.Keys)
            {
                int[] tokens;
                string text;
                AnswerOf(engine, prompts[id], options[id], out tokens, out text);
                Expect.Sequence(tokens, answers[id].Tokens.ToArray(), "tokens of request " + id);
                Expect.Equal(text, answers[id].Text.ToString(), "text of request " + id);
                Expect.Equal(1, answers[id].Ends, "ends");
                Expect.Equal(prompts[id].Length, answers[id].PromptTokens, "tokens of the prompt");
                Expect.Equal(tokens.Length, answers[id].GeneratedTokens, "tokens that were drawn");
                different.Add(text);
            }
            Expect.True(different.Count > 8, "different texts: " + different.Count);
        }
    }

    public static void AnswersAreThoseOfSessions() { AnswersAreThoseOfSessions(new RequestEvents()); }

    public static void TheLeastRoomIsEnough() { AnswersAreThoseOfSessions(new RequestEvents(1, 1, 4)); }

    public static void TheLikeliestTokensComeAlong()
    {
        using (Engine engine = Given.Engine())
        foreach (int room in new[] { 1, 64 })
        using (RequestQueue queue = engine.CreateQueue())
        {
            SessionOptions options = UpTo(9);
            options.Sampler = new SamplerOptions { Logprobs = 3 };
            queue.Submit(new Request(Given.Prompt) { Options = options });
            var events = new RequestEvents(2, room, 64);
            int n = 0;
            while (engine.Run().Requests > 0 || queue.Poll(events) > 0)
            {
                foreach (RequestEvent next in events)
                {
                    for (int i = 0; i < next.TokenCount; i++, n++)
                    {
                        Expect.Equal(3, next.GetLikeliestCount(i), "as many as were asked for");
                        Expect.Equal(next.GetToken(i).Token, next.GetLikeliest(i, 0).Token, "the likeliest is drawn");
                        Expect.True(next.GetLikeliest(i, 1).Logprob >= next.GetLikeliest(i, 2).Logprob, "the likeliest first");
                    }
                }
            }
            Expect.Equal(9, n, "tokens");
        }
    }

    public static void EventsSayWhatTheyAre()
    {
        using (Engine engine = Given.Engine())
        using (RequestQueue queue = engine.CreateQueue())
        {
            ulong id = queue.Submit(new Request(Given.Prompt) { Options = UpTo(5), User = ulong.MaxValue });
            var events = new RequestEvents();
            Expect.Equal(0, queue.Poll(events), "nothing is computed yet");
            ulong sequence = 0;
            int n_tokens = 0, n_ends = 0;
            do
            {
                engine.Run(null, null, RunFlags.OneStep);
                queue.Poll(events);
                foreach (RequestEvent next in events)
                {
                    Expect.Equal(++sequence, next.Number, "sequence");
                    Expect.Equal(id, next.Request, "request");
                    Expect.Equal(ulong.MaxValue, next.User, "user");
                    Expect.Equal(next.IsEnd ? RequestEventKind.End : RequestEventKind.Tokens, next.Kind, "kind");
                    Expect.Equal(next.IsEnd ? FinishReason.MaxTokens : FinishReason.None, next.FinishReason, "reason");
                    Expect.True(next.Failure == null, "no failure");
                    n_tokens += next.TokenCount;
                    for (int i = 0; i < next.TokenCount; i++) Expect.True(next.GetToken(i).Logprob <= 0, "a probability");
                    Expect.Throws<ArgumentOutOfRangeException>(() => next.GetToken(next.TokenCount), "one token more");
                    if (!next.IsEnd) continue;
                    n_ends++;
                    Expect.Equal(5, next.GeneratedTokens, "tokens");
                    Expect.True(next.PromptTime > TimeSpan.Zero && next.DecodeTime > TimeSpan.Zero && next.QueuedTime >= TimeSpan.Zero, "times");
                    Expect.True(next.PromptTime + next.DecodeTime < TimeSpan.FromMilliseconds(Limit), "times");
                }
            }
            while (n_ends == 0);
            Expect.Equal(5, n_tokens, "tokens");
            Expect.Throws<ArgumentOutOfRangeException>(() => events[events.Count].ToString(), "one event more");
        }
    }

    // Tokens and text of an event are written over by the next poll: what would read others' says so.
    public static void AnEventOfThePollBeforeIsRefused()
    {
        using (Engine engine = Given.Engine())
        using (RequestQueue queue = engine.CreateQueue())
        {
            queue.Submit(new Request(Given.Prompt) { Options = UpTo(5) });
            engine.Run();
            var events = new RequestEvents(1);
            Expect.Equal(1, queue.Poll(events), "events");
            RequestEvent first = events[0];
            Expect.True(first.TokenCount == 5 && first.GetToken(0).Token >= 0 && first.Text.Length > 0, "tokens and text");
            queue.Poll(events);
            Expect.Throws<InvalidOperationException>(() => first.GetToken(0), "its tokens");
            Expect.Throws<InvalidOperationException>(() => first.Text.ToString(), "its text");
            Expect.Equal(5, first.TokenCount, "the rest stays");
            Expect.True(events[0].IsEnd, "the end");
        }
    }

    public static void WhatIsWrongIsRefusedAtOnce()
    {
        using (Engine engine = Given.Engine())
        using (RequestQueue queue = engine.CreateQueue())
        {
            Expect.Throws<ArgumentNullException>(() => queue.Submit(null), "no request");
            Expect.Throws<ArgumentNullException>(() => new Request((string)null), "no text");
            Expect.Throws<ArgumentNullException>(() => new Request((int[])null), "no tokens");
            Expect.Throws<ArgumentNullException>(() => new Request((ChatMessage[])null), "no messages");
            Expect.Throws<ArgumentNullException>(() => Request.OfConversation(null), "no conversation");
            Expect.Throws<ArgumentNullException>(() => queue.Poll(null), "no events");
            Expect.Throws<ArgumentException>(() => queue.Submit(new Request("\ud800")), "half a surrogate pair");
            Expect.Throws<ArgumentException>(() => queue.Submit(new Request("x") { Options = new SessionOptions { Stop = new[] { "\udc00" } } }), "a stop");
            Expect.Throws<ArgumentOutOfRangeException>(() => queue.Submit(new Request("x") { Timeout = TimeSpan.FromTicks(-1) }), "a time");
            Expect.Throws<ArgumentOutOfRangeException>(() => queue.Submit(new Request("x") { Deadline = TimeSpan.MinValue }), "a time");
            Expect.Throws<ArgumentOutOfRangeException>(() => engine.Run(TimeSpan.FromTicks(-1)), "a budget");
            Expect.Throws<ArgumentOutOfRangeException>(() => engine.Run(hostBudget: TimeSpan.FromTicks(-1)), "the host's");
            Expect.Throws<ArgumentOutOfRangeException>(() => queue.Wait(TimeSpan.FromTicks(-1)), "a wait");
            foreach (int[] room in new[] { new[] { 0, 1, 4 }, new[] { 1, 0, 4 }, new[] { 1, 1, 3 }, new[] { -1, 1, 4 } })
                Expect.Throws<ArgumentOutOfRangeException>(() => new RequestEvents(room[0], room[1], room[2]), "no room");
            Expect.Contains("no tokens", Expect.Status(Status.InvalidArgument, () => queue.Submit(new Request(new int[0])), "an empty prompt").Message);
            Expect.Status(Status.InvalidArgument, () => queue.Submit(new Request(new[] { 1 << 30 })), "no such token");
            Expect.Contains("Chat is set", Expect.Status(Status.InvalidArgument, () => queue.Submit(new Request("x") { ChatTemplate = "y" }), "a template").Message);
            var reserving = new SessionOptions { Flags = SessionFlags.Reserve };
            Expect.Status(Status.InvalidArgument, () => queue.Submit(new Request("x") { Options = reserving }), "of sessions");
            Expect.Status(Status.ContextFull, () => queue.Submit(new Request(new int[1000])), "a long prompt");
            Expect.Status(Status.Format, () => queue.Submit(Request.OfConversation("[")), "no JSON");
            Expect.Status(Status.InvalidArgument, () => queue.Submit(new Request("x") { Options = new SessionOptions { Stop = new[] { "" } } }), "a stop");
            var both = ChatFlags.AddGenerationPrompt | ChatFlags.ContinueFinalMessage;
            Expect.Status(Status.InvalidArgument, () => queue.Submit(new Request(new[] { ChatMessage.User("a") }) { Chat = both }), "both");
            Expect.Equal(0, engine.Run().Requests, "requests that were submitted");
            ulong id = queue.Submit(new Request("x") { Timeout = TimeSpan.MaxValue, Deadline = TimeSpan.MaxValue, Options = UpTo(3) });
            Expect.Equal(3, All(queue)[id].GeneratedTokens, "a right one");
        }
    }

    public static void ATemplateIsTaken()
    {
        var talk = new[] { ChatMessage.User("The old fox said") };
        const string template = "{{ messages[0].content }}{% if add_generation_prompt %} that{% endif %}";
        using (Engine engine = Given.Engine())
        using (RequestQueue queue = engine.CreateQueue())
        {
            foreach (ChatFlags flags in new[] { ChatFlags.AddGenerationPrompt, (ChatFlags)0 })
            {
                ulong id = queue.Submit(new Request(talk) { ChatTemplate = template, Chat = flags, Options = UpTo(8) });
                int[] tokens;
                string text;
                AnswerOf(engine, engine.GetChatTokens(talk, template, flags), UpTo(8), out tokens, out text);
                Expect.Equal(text, All(queue)[id].Text.ToString(), "text");
            }
        }
    }

    public static void CancelEndsOne()
    {
        using (Engine engine = Given.Engine())
        using (RequestQueue queue = engine.CreateQueue())
        {
            ulong waiting = queue.Submit(Endless());
            queue.Cancel(waiting);
            var answers = new Answers();
            var events = new RequestEvents();
            Poll(queue, events, answers);
            Expect.Equal(FinishReason.Cancelled, answers[waiting].Reason, "one that waits ends at once");
            ulong running = queue.Submit(Endless()), other = queue.Submit(new Request(Given.Prompt) { Options = UpTo(20) });
            for (int i = 0; i < 8; i++) engine.Run(null, null, RunFlags.OneStep);
            queue.Cancel(running);
            Poll(queue, events, answers);
            Expect.True(answers[running].Tokens.Count > 0, "what was drawn comes");
            foreach (KeyValuePair<ulong, Answer> next in All(queue)) if (next.Key == other) Expect.Equal(FinishReason.MaxTokens, next.Value.Reason, "the other");
            Expect.Equal(FinishReason.Cancelled, answers[running].Reason, "one that runs");
            queue.Cancel(running);
            queue.Cancel(other);
            queue.Cancel(ulong.MaxValue);
            Expect.Equal(0, queue.Poll(events), "those that have ended, and unknown ones");
        }
    }

    // With its time over before its last token: it never gets that one.
    static Answer Slowly(Engine engine, RequestQueue queue, Request request)
    {
        ulong id = queue.Submit(request);
        var answers = new Answers();
        var events = new RequestEvents();
        while (answers.Ended == 0)
        {
            bool is_near = answers.Count > 0 && answers[id].Tokens.Count > 200;
            if (is_near) Thread.Sleep(10);
            else engine.Run(null, null, RunFlags.OneStep);
            Poll(queue, events, answers);
            if (answers.Count > 0) Thread.Sleep(1);
        }
        return answers[id];
    }

    public static void ATimeoutKeepsTheText()
    {
        using (Engine engine = Given.Engine())
        using (RequestQueue queue = engine.CreateQueue())
        {
            Request request = Endless();
            Answer answer = null;
            // On a busy machine a short time is over before the first token is drawn.
            for (int ms = 100; ms < Limit && (answer == null || answer.Tokens.Count == 0); ms *= 2)
            {
                request.Timeout = TimeSpan.FromMilliseconds(ms);
                answer = Slowly(engine, queue, request);
                Expect.Equal(FinishReason.Timeout, answer.Reason, "reason");
            }
            Expect.True(answer.Tokens.Count > 0 && answer.Tokens.Count < 240, "tokens: " + answer.Tokens.Count);
            Expect.True(answer.Text.Length > 0, "its text");
            request.Timeout = TimeSpan.Zero;
            ulong id = queue.Submit(request);
            Expect.Equal(FinishReason.Timeout, All(queue)[id].Reason, "one that has no time");
        }
    }

    public static void AFullQueueSaysSo()
    {
        using (Engine engine = Given.Engine())
        using (RequestQueue queue = engine.CreateQueue(new RequestQueueOptions { MaxRequests = 2 }))
        using (RequestQueue other = engine.CreateQueue())
        {
            for (int i = 0; i < 2; i++) queue.Submit(new Request(Given.Prompt) { Options = UpTo(3) });
            InlayException full = Expect.Status(Status.QueueFull, () => queue.Submit(Endless()), "one more");
            Expect.Equal(2ul, full.Available, "room");
            ulong id = other.Submit(new Request(Given.Prompt) { Options = UpTo(3) });
            engine.Run();
            Expect.Status(Status.QueueFull, () => queue.Submit(Endless()), "ends that were not polled");
            Expect.Equal(2, All(queue).Count, "answers");
            queue.Submit(new Request(Given.Prompt) { Options = UpTo(3) });
            Expect.Equal(id, All(other).Keys.Single(), "another queue's own");
        }
    }

    public static void WhoIsNotReadRests()
    {
        using (Engine engine = Given.Engine())
        using (RequestQueue deaf = engine.CreateQueue(new RequestQueueOptions { MaxUnreadTokens = 3 }))
        using (RequestQueue reads = engine.CreateQueue())
        {
            ulong rests = deaf.Submit(new Request(Given.Prompt) { Options = UpTo(30) });
            reads.Submit(new Request(Given.Prompt) { Options = UpTo(30) });
            Expect.Equal(1, engine.Run().Requests, "the one that nobody reads");
            Answer answer = All(deaf)[rests];
            Expect.Sequence(Given.Reply(engine, 30), answer.Tokens.ToArray(), "nothing is lost");
            Expect.Equal(30, All(reads).Values.Single().Tokens.Count, "the other");
        }
    }

    public static void PromptsThatWereComputedAreFound()
    {
        int[] prompt = Enumerable.Repeat(65, 200).ToArray();
        foreach (LoadFlags flags in new[] { (LoadFlags)0, LoadFlags.NoPrefixCache })
        {
            LoadOptions options = Given.Options;
            options.Flags = flags;
            using (Engine engine = Engine.Load(Given.Model, options))
            using (RequestQueue queue = engine.CreateQueue())
            {
                var all = new List<Answer>();
                for (int i = 0; i < 2; i++)
                {
                    ulong id = queue.Submit(new Request(prompt) { Options = UpTo(8) });
                    all.Add(All(queue)[id]);
                }
                Expect.Equal(0, all[0].CachedTokens, "the first");
                Expect.True((all[1].CachedTokens > 100) == (flags == 0), "the second: " + all[1].CachedTokens);
                Expect.Sequence(all[0].Tokens.ToArray(), all[1].Tokens.ToArray(), "tokens");
            }
        }
    }

    public static void BlocksGoToTheHostAndComeBack()
    {
        LoadOptions options = FewSessions(1);
        options.ContextLength = 256;
        MemoryInfo plan = Engine.PlanMemory(Given.Model, options);
        Expect.Equal(0ul, plan.PrefixCacheHostBytes, "none is the default");
        ulong block = plan.KvBytes / 8;
        options.KvBudgetBytes = 4 * block;
        options.PrefixCacheHostBytes = 6 * block;
        Expect.Equal(6 * block, Engine.PlanMemory(Given.Model, options).PrefixCacheHostBytes, "planned");
        using (Engine engine = Engine.Load(Given.Model, options))
        using (RequestQueue queue = engine.CreateQueue())
        {
            var watch = Stopwatch.StartNew();
            while (engine.Stats.PrefixCacheHostBytesTaken < 6 * block && watch.ElapsedMilliseconds < Limit) Thread.Sleep(1); // a thread takes it
            var cached = new List<int>();
            foreach (int token in new[] { 65, 66, 65 })
            {
                ulong id = queue.Submit(new Request(Enumerable.Repeat(token, 100).ToArray()) { Options = UpTo(4) });
                cached.Add(All(queue)[id].CachedTokens);
            }
            Expect.Sequence(new[] { 0, 0, 96 }, cached.ToArray(), "cached");
            EngineStats stats = engine.Stats;
            Expect.Equal(6ul, stats.KvBlocksToHost, "went");
            Expect.Equal(3ul, stats.KvBlocksFromHost, "came back");
            Expect.Equal(3, stats.KvBlocksOnHost, "are there");
            Expect.Equal(0ul, stats.KvBlocksHostDropped, "given up");
        }
    }

    public static void ABudgetEndsARun()
    {
        using (Engine engine = Engine.Load(Given.Model, FewSessions(8)))
        using (RequestQueue queue = engine.CreateQueue())
        {
            Expect.True(!engine.Run().HasWork, "nothing to compute");
            for (int i = 0; i < 8; i++) queue.Submit(Endless());
            int n_runs = 0;
            var events = new RequestEvents();
            var answers = new Answers();
            TimeSpan shortest = TimeSpan.FromMilliseconds(0.001);
            for (RunInfo info = engine.Run(TimeSpan.Zero); info.Requests > 0;
                info = n_runs % 2 == 0 ? engine.Run(shortest) : engine.Run(null, null, RunFlags.NoWait, shortest))
            {
                Expect.True(info.HasWork, "there is more");
                n_runs++;
                while (Poll(queue, events, answers) > 0) { }
                if (n_runs == 500) foreach (ulong id in answers.Keys) queue.Cancel(id);
            }
            Expect.True(n_runs >= 500, "runs: " + n_runs);
            queue.Submit(Endless());
            RunInfo whole = engine.Run();
            Expect.True(whole.Requests == 0 && !whole.HasWork && whole.Tokens == 240, "one without a budget");
            int[] want = Given.Reply(engine, answers.Values.Max(answer => answer.Tokens.Count));
            foreach (Answer answer in answers.Values) Expect.Sequence(want.Take(answer.Tokens.Count).ToArray(), answer.Tokens.ToArray(), "tokens");
        }
    }

    public static void TheEnginesOwnThreadComputes()
    {
        using (Engine engine = Given.Engine())
        using (RequestQueue queue = engine.CreateQueue())
        {
            Expect.Status(Status.InvalidState, () => queue.Wait(), "nobody would ever wake it");
            Expect.True(!queue.Wait(TimeSpan.Zero), "who only looks is not refused");
            engine.SetThread(new ThreadOptions());
            Expect.Status(Status.InvalidState, () => engine.Run(), "beside it");
            var answers = new Answers();
            ulong id = queue.Submit(new Request(Given.Prompt) { Options = UpTo(40) });
            Collect(queue, answers, 1);
            Expect.Sequence(Given.Reply(engine, 40), answers[id].Tokens.ToArray(), "tokens");
            Expect.True(!queue.Wait(TimeSpan.FromMilliseconds(120)), "there is nothing more");
            engine.SetThread(null);
            engine.SetThread(null);
            Expect.Equal(0, engine.Run().Requests, "without it");
            TimeSpan ms = TimeSpan.FromMilliseconds(1);
            engine.SetThread(new ThreadOptions { Busy = ms, Period = TimeSpan.FromMilliseconds(4), MaxStep = ms });
            queue.Submit(new Request(Given.Prompt) { Options = UpTo(10) });
            Collect(queue, answers, 2);
        }
    }

    public static void WaitsCanBeCancelled()
    {
        using (Engine engine = Given.Engine())
        using (RequestQueue queue = engine.CreateQueue())
        using (var source = new CancellationTokenSource())
        {
            engine.SetThread(new ThreadOptions());
            source.CancelAfter(100);
            var watch = Stopwatch.StartNew();
            var cancelled = Expect.Throws<OperationCanceledException>(() => queue.Wait(null, source.Token), "a wait");
            Expect.Equal(source.Token, cancelled.CancellationToken, "whose token");
            Expect.True(watch.ElapsedMilliseconds < Limit, "soon");
        }
    }

    // Until as many threads wait for the queue.
    static void AwaitWaiters(RequestQueue queue, int n)
    {
        FieldInfo waiting = typeof(RequestQueue).GetField("_waiting", BindingFlags.Instance | BindingFlags.NonPublic);
        var watch = Stopwatch.StartNew();
        while ((int)waiting.GetValue(queue) != n)
        {
            Expect.True(watch.ElapsedMilliseconds < Limit, "they wait");
            Thread.Sleep(0);
        }
    }

    public static void AWakeEndsWaits()
    {
        const int n = 6;
        using (Engine engine = Given.Engine())
        using (RequestQueue queue = engine.CreateQueue(), other = engine.CreateQueue())
        using (var source = new CancellationTokenSource())
        {
            engine.SetThread(new ThreadOptions());
            for (int round = 0; round < 20; round++)
            {
                int n_woken = 0;
                var threads = new List<Thread>();
                for (int i = 0; i < n; i++)
                {
                    int kind = i % 3;
                    var thread = new Thread(() =>
                    {
                        bool isReady = queue.Wait(kind == 0 ? (TimeSpan?)null : TimeSpan.FromMilliseconds(Limit),
                                                  kind == 1 ? source.Token : CancellationToken.None);
                        if (!isReady) Interlocked.Increment(ref n_woken);
                    }) { IsBackground = true };
                    thread.Start();
                    threads.Add(thread);
                }
                AwaitWaiters(queue, n);
                var watch = Stopwatch.StartNew();
                queue.Wake();
                foreach (Thread thread in threads) Expect.True(thread.Join(Limit), "it ends");
                Expect.True(watch.ElapsedMilliseconds < Limit / 2, "soon");
                Expect.Equal(n, n_woken, "woken ones");
                AwaitWaiters(queue, 0);
            }
            queue.Wake();
            queue.Wake();
            Expect.True(!queue.Wait(TimeSpan.Zero), "who only asks");
            var begin = Stopwatch.StartNew();
            Expect.True(!queue.Wait(TimeSpan.FromMilliseconds(Limit)) && begin.ElapsedMilliseconds < Limit / 2, "the next one");
            begin = Stopwatch.StartNew();
            Expect.True(!queue.Wait(TimeSpan.FromMilliseconds(20)) && begin.ElapsedMilliseconds >= 15, "once");
            begin = Stopwatch.StartNew();
            Expect.True(!other.Wait(TimeSpan.FromMilliseconds(20)) && begin.ElapsedMilliseconds >= 15, "not another queue's");
            queue.Wake();
            queue.Submit(new Request(Given.Prompt) { Options = UpTo(3) });
            bool isThere = queue.Wait(TimeSpan.FromMilliseconds(Limit)) || queue.Wait(TimeSpan.FromMilliseconds(Limit));
            Expect.True(isThere, "events come as before");
            queue.Dispose();
            Expect.Throws<ObjectDisposedException>(() => queue.Wake(), "afterwards");
        }
    }

    // Each token ends its own wait, wherever that is, and no other one; then all end with the queue.
    public static void TokensEndTheirWaitsAlone()
    {
        const int n = 4;
        using (Engine engine = Given.Engine())
        {
            engine.SetThread(new ThreadOptions());
            for (int round = 0; round < 40; round++)
            {
                RequestQueue queue = engine.CreateQueue();
                var sources = new CancellationTokenSource[n];
                var ended = new Exception[n];
                var threads = new Thread[n];
                for (int i = 0; i < n; i++)
                {
                    int number = i;
                    sources[i] = new CancellationTokenSource();
                    threads[i] = new Thread(() =>
                    {
                        try { queue.Wait(null, sources[number].Token); }
                        catch (Exception problem) { ended[number] = problem; }
                    }) { IsBackground = true };
                    threads[i].Start();
                }
                if (round % 2 == 0) AwaitWaiters(queue, n);
                foreach (int i in new[] { round % n, (round + 1) % n })
                {
                    sources[i].Cancel();
                    Expect.True(threads[i].Join(Limit), "a cancelled one ends");
                    Expect.Equal(sources[i].Token, ((OperationCanceledException)ended[i]).CancellationToken, "whose token");
                }
                AwaitWaiters(queue, n - 2);
                queue.Dispose();
                foreach (Thread thread in threads) Expect.True(thread.Join(Limit), "it ends");
                Expect.Equal(n - 2, ended.Count(problem => problem is ObjectDisposedException), "ended by the queue");
                foreach (CancellationTokenSource source in sources) source.Dispose();
            }
        }
    }

    [StructLayout(LayoutKind.Sequential)]
    struct PollFd
    {
        internal int fd;
        internal short events, revents;
    }

    [DllImport("libc", SetLastError = true)]
    static extern int poll([In, Out] PollFd[] fds, UIntPtr nfds, int timeout);

    static bool IsReady(long handle, int ms)
    {
        const short readable = 1;
        const int interrupted = 4; // by Mono's collector
        int n;
        do n = poll(new[] { new PollFd { fd = (int)handle, events = readable } }, (UIntPtr)1u, ms);
        while (n < 0 && Marshal.GetLastWin32Error() == interrupted);
        return n == 1;
    }

    public static void AHandleIsReadyWhileThereIsSomethingToPoll()
    {
        if (Environment.OSVersion.Platform != PlatformID.Unix) throw new Skipped("no poll()");
        using (Engine engine = Given.Engine())
        using (RequestQueue queue = engine.CreateQueue())
        {
            WaitKind kind;
            long handle = queue.GetWaitHandle(out kind);
            Expect.Equal(WaitKind.Eventfd, kind, "kind");
            queue.Submit(new Request(Given.Prompt) { Options = UpTo(5) });
            Expect.True(!IsReady(handle, 0), "not yet");
            engine.SetThread(new ThreadOptions());
            Expect.True(IsReady(handle, Limit) && IsReady(handle, 0), "it stays so");
            Collect(queue, new Answers(), 1);
            Expect.True(!IsReady(handle, 0), "all was polled");
        }
    }

    public static void PollsAllocateNothing()
    {
        using (Engine engine = Given.Engine())
        using (RequestQueue queue = engine.CreateQueue())
        {
            var events = new RequestEvents();
            Func<long> frames = () =>
            {
                queue.Submit(new Request(Given.Prompt) { Options = UpTo(30) });
                long before = GC.GetAllocatedBytesForCurrentThread();
                for (int i = 0; i < 40; i++)
                {
                    engine.Run(TimeSpan.FromMilliseconds(1), null, RunFlags.OneStep);
                    queue.Poll(events);
                    int sum = 0;
                    foreach (RequestEvent next in events) for (int t = 0; t < next.TokenCount; t++) sum += next.GetToken(t).Token;
                    if (sum < 0) throw new CheckFailed("tokens");
                }
                return GC.GetAllocatedBytesForCurrentThread() - before;
            };
            frames(); // compiles
            Given.AllocatesNothing(frames, "bytes of forty frames");
        }
    }
}
