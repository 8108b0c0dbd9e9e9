// The worker thread of frame loops.
using System;
using System.Collections.Generic;
using System.Diagnostics;
using System.Linq;
using System.Text;
using System.Threading;
using System.Threading.Tasks;
using Inlay;

static class WorkerTests
{
    static readonly string[] Prompts = { "Once upon a time", "The old fox said", "A small boat" };

    static SessionOptions Options(int i)
    {
        return new SessionOptions { Sampler = new SamplerOptions { Temperature = 0.8f, Seed = (ulong)i }, MaxTokens = 20 + 5 * i };
    }

    static string Alone(Engine engine, int i)
    {
        var text = new StringBuilder();
        using (Session session = engine.CreateSession(Options(i)))
        {
            foreach (Generated next in session.Generate(Prompts[i])) text.Append(next.Text);
        }
        return text.ToString();
    }

    static WorkerEvent Next(Worker worker)
    {
        var watch = Stopwatch.StartNew();
        WorkerEvent next;
        while (!worker.Poll(out next))
        {
            if (watch.ElapsedMilliseconds > 20000) throw new CheckFailed("no event came");
            Thread.Sleep(1);
        }
        return next;
    }

    // Exactly one last event for every Start, also where the worker ends first.
    public static void AnEndedWorkerPostsALastEventForEveryStart()
    {
        using (Engine engine = Given.Engine())
        {
            var worker = new Worker(engine);
            var sessions = new List<Session>();
            for (int i = 0; i < 6; i++)
            {
                sessions.Add(engine.CreateSession(new SessionOptions { MaxTokens = 200 }));
                worker.Start(sessions[i], Prompts[i % Prompts.Length]);
            }
            worker.Dispose();
            var last = new Dictionary<Session, int>();
            WorkerEvent next;
            while (worker.Poll(out next))
            {
                int n;
                last.TryGetValue(next.Session, out n);
                if (next.IsLast) last[next.Session] = n + 1;
                else Expect.Equal(0, n, "nothing after the last event");
            }
            foreach (Session session in sessions)
            {
                int n;
                last.TryGetValue(session, out n);
                Expect.Equal(1, n, "last events");
                session.Dispose();
            }
            Expect.Throws<ObjectDisposedException>(() => worker.Start(sessions[0], "x"), "a start afterwards");
        }
    }

    public static void ASessionStartsOnceAtATime()
    {
        using (Engine engine = Given.Engine())
        using (var worker = new Worker(engine))
        using (Session session = engine.CreateSession(new SessionOptions { MaxTokens = 100, Flags = SessionFlags.IgnoreEndOfGeneration }))
        {
            bool is_refused = false;
            for (int round = 0; round < 20 && !is_refused; round++) // the first one may have ended
            {
                worker.Start(session, Prompts[0]);
                try { worker.Start(session, Prompts[1]); }
                catch (InvalidOperationException) { is_refused = true; }
                for (int n_open = is_refused ? 1 : 2; n_open > 0;) if (Next(worker).IsLast) n_open--;
            }
            Expect.True(is_refused, "a second start");
            worker.Start(session, Prompts[1]);
            while (!Next(worker).IsLast) { }
        }
    }

    public static void SaysWhatEachSessionSaysAlone()
    {
        using (Engine engine = Given.Engine())
        using (var worker = new Worker(engine))
        {
            var texts = new Dictionary<Session, StringBuilder>();
            var sessions = new List<Session>();
            for (int i = 0; i < Prompts.Length; i++)
            {
                sessions.Add(engine.CreateSession(Options(i)));
                texts.Add(sessions[i], new StringBuilder());
                worker.Start(sessions[i], Prompts[i]);
            }
            for (int n_open = Prompts.Length; n_open > 0;)
            {
                WorkerEvent next = Next(worker);
                Expect.True(next.Failure == null, "no failure: " + next.Failure);
                texts[next.Session].Append(next.Generated.Text);
                if (next.IsLast) n_open--;
            }
            for (int i = 0; i < Prompts.Length; i++)
            {
                Expect.Equal(Alone(engine, i), texts[sessions[i]].ToString(), "text");
                sessions[i].Dispose();
            }
            WorkerEvent more;
            Expect.True(!worker.Poll(out more), "nothing comes after the last event");
        }
    }

    public static void PromptsRunOneAfterTheOtherInTheOrderOfTheirStarts()
    {
        const int n = 8;
        int[] prompt = Enumerable.Range(0, 100).Select(i => 100 + i).ToArray();
        using (Engine engine = Given.Engine())
        using (var worker = new Worker(engine))
        {
            var sessions = new Session[n];
            var order = new List<int>();
            var unfinished = new List<int>();
            for (int i = 0; i < n; i++)
            {
                int number = i;
                sessions[i] = engine.CreateSession(new SessionOptions { MaxTokens = 8 });
                var stop = new TellingStop(() =>
                {
                    lock (order)
                    {
                        foreach (int before in order) if (sessions[before].Info.Tokens < prompt.Length) unfinished.Add(before);
                        order.Add(number);
                    }
                });
                worker.Start(sessions[i], prompt, new GenerateOptions { Stop = stop });
            }
            for (int n_open = n; n_open > 0;)
            {
                WorkerEvent next = Next(worker);
                Expect.True(next.Failure == null, "no failure: " + next.Failure);
                if (next.IsLast) n_open--;
            }
            Expect.Sequence(Enumerable.Range(0, n).ToArray(), order.ToArray(), "order");
            Expect.Sequence(new int[0], unfinished.ToArray(), "beside others' prompts");
            foreach (Session session in sessions) session.Dispose();
        }
    }

    // Also those that have not begun end at once, and nobody behind them waits for them.
    public static void CancelledPromptsLeaveTheLine()
    {
        using (Engine engine = Given.Engine())
        {
            var tasks = new List<Task<Completion>>();
            var sources = new List<CancellationTokenSource>();
            var sessions = new List<Session>();
            for (int i = 0; i < 6; i++)
            {
                sources.Add(new CancellationTokenSource());
                sessions.Add(engine.CreateSession(new SessionOptions { MaxTokens = 8 }));
            }
            // The first one's turn lasts until the others are cancelled.
            ManualResetEventSlim reached = new ManualResetEventSlim(), go = new ManualResetEventSlim(); // not disposed: a thread may still wait
            var held = new TellingStop(() => { reached.Set(); go.Wait(); });
            tasks.Add(sessions[0].CompleteAsync(Prompts[0], new GenerateOptions { Stop = held }, sources[0].Token));
            for (int i = 1; i < 6; i++) tasks.Add(sessions[i].CompleteAsync(Prompts[0], null, sources[i].Token));
            Expect.True(reached.Wait(20000), "the first one's turn");
            try
            {
                foreach (int i in new[] { 3, 1 })
                {
                    sources[i].Cancel();
                    var cancelled = Expect.Throws<OperationCanceledException>(() => AsyncTests.Result(tasks[i]), "a cancelled one");
                    Expect.Equal(sources[i].Token, cancelled.CancellationToken, "whose token");
                    Expect.Equal(0, sessions[i].Info.Tokens, "its tokens");
                }
            }
            finally { go.Set(); }
            foreach (int i in new[] { 0, 2, 4, 5 }) Expect.True(AsyncTests.Result(tasks[i]).Tokens.Count > 0, "the others go on");
            sessions.ForEach(session => session.Dispose());
        }
    }

    public static void FailuresReachTheirSessionOnly()
    {
        for (int tries = 0; !FailureReachesItsSession(); tries++) Expect.True(tries < 20, "generations end before their sessions are disposed");
    }

    // False where one had ended before its session was disposed.
    static bool FailureReachesItsSession()
    {
        using (Engine engine = Given.Engine())
        using (var worker = new Worker(engine))
        using (Session good = engine.CreateSession(Options(0)))
        {
            Session gone = engine.CreateSession(Given.Endless), full = engine.CreateSession(Given.Endless);
            full.Prefill(new int[full.Info.ContextLength - 10]);
            worker.Start(good, Prompts[0]);
            worker.Start(gone, Prompts[1]);
            worker.Start(full, Prompts[2]);
            gone.Dispose();
            var text = new StringBuilder();
            var failures = new Dictionary<Session, Exception>();
            FinishReason reason = FinishReason.None, gone_reason = FinishReason.None;
            for (int n_open = 3; n_open > 0;)
            {
                WorkerEvent next = Next(worker);
                if (next.Failure != null) failures.Add(next.Session, next.Failure);
                else if (next.Session == good) text.Append(next.Generated.Text);
                else if (next.Session == full && next.IsLast) reason = next.Generated.FinishReason;
                else if (next.Session == gone && next.IsLast) gone_reason = next.Generated.FinishReason;
                if (next.IsLast) n_open--;
            }
            Expect.Equal(Alone(engine, 0), text.ToString(), "the good one's text");
            Expect.Equal(FinishReason.ContextFull, reason, "the full one");
            full.Dispose();
            if (failures.Count == 0 && gone_reason == FinishReason.ContextFull) return false;
            Expect.True(failures[gone] is ObjectDisposedException, "the disposed one: " + failures[gone]);
            Expect.Equal(1, failures.Count, "failures");
            return true;
        }
    }

    public static void CancelEndsOneSession()
    {
        using (Engine engine = Given.Engine())
        using (var worker = new Worker(engine))
        using (Session session = engine.CreateSession(Given.Endless))
        {
            FinishReason reason = FinishReason.ContextFull;
            for (int round = 0; round < 20 && reason == FinishReason.ContextFull; round++) // the context may fill before this thread cancels
            {
                session.Truncate(0);
                worker.Start(session, Prompts[0]);
                Expect.True(Next(worker).Generated.Token >= 0, "token");
                session.Cancel();
                int n_at_cancel = session.Info.Tokens;
                WorkerEvent next = Next(worker);
                while (!next.IsLast) next = Next(worker);
                Expect.True(session.Info.Tokens <= n_at_cancel + 2, session.Info.Tokens + " tokens, " + n_at_cancel + " when it was cancelled");
                reason = next.Generated.FinishReason;
            }
            Expect.Equal(FinishReason.Cancelled, reason, "reason");
        }
    }

    public static void DisposeEndsAGeneration()
    {
        using (Engine engine = Given.Engine())
        using (Session session = engine.CreateSession(Given.Endless))
        {
            Worker worker = null;
            var last = new WorkerEvent();
            for (int round = 0; round < 20 && last.Failure == null; round++) // it may have filled the context before
            {
                session.Truncate(0);
                worker = new Worker(engine);
                worker.Start(session, Prompts[0]);
                Next(worker);
                worker.Dispose();
                while (worker.Poll(out last) && !last.IsLast) { }
                Expect.True(last.IsLast, "a last event");
            }
            Expect.True(last.Failure is OperationCanceledException, "its end: " + last.Failure);
            worker.Dispose();
            Expect.Throws<ObjectDisposedException>(() => worker.Start(session, Prompts[0]), "a start afterwards");
            session.Truncate(0);
            session.Prefill(Given.Prompt);
            session.DecodeStep();
        }
    }

    public static void StartAndPollDoNotWait()
    {
        using (Engine engine = Given.Engine())
        using (var worker = new Worker(engine))
        using (Session session = engine.CreateSession(Given.Endless))
        {
            var watch = Stopwatch.StartNew();
            worker.Start(session, Prompts[0]);
            var polls = new List<double>();
            WorkerEvent next;
            for (int n = 0; n < 100;)
            {
                double before = watch.Elapsed.TotalMilliseconds;
                if (worker.Poll(out next)) n++;
                polls.Add(watch.Elapsed.TotalMilliseconds - before);
            }
            polls.Sort();
            double step = watch.Elapsed.TotalMilliseconds / 100;
            Expect.True(polls[polls.Count / 2] < step / 10, "a poll takes " + polls[polls.Count / 2] + " ms, a step " + step + " ms");
        }
    }
}
