// Sessions on threads of their own, and cancelling from another thread.
using System;
using System.Diagnostics;
using System.Threading;
using Inlay;

static class ThreadTests
{
    public static void TwoThreadsOnTwoSessions()
    {
        using (Engine engine = Given.Engine())
        {
            int[] want = Given.Reply(engine, 24);
            var replies = new int[4][];
            var threads = new Thread[replies.Length];
            for (int i = 0; i < threads.Length; i++)
            {
                int at = i;
                threads[i] = new Thread(() =>
                {
                    for (int round = 0; round < 5; round++) replies[at] = Given.Reply(engine, 24);
                });
                threads[i].Start();
            }
            foreach (Thread thread in threads) thread.Join();
            foreach (int[] reply in replies) Expect.Sequence(want, reply, "reply");
            Expect.Equal(0, engine.Stats.Sessions, "sessions that are left");
        }
    }

    public static void AnyRunsBesideADecode()
    {
        using (Engine engine = Given.Engine())
        using (Session session = engine.CreateSession(Given.Endless))
        {
            session.Prefill(Given.Prompt);
            int[] drawn = null;
            var decoder = new Thread(() => drawn = Given.Draw(session, 150));
            decoder.Start();
            int n_tokens = 0, n_rounds = 0;
            do
            {
                int now = session.Info.Tokens;
                Expect.True(now >= n_tokens, "tokens grow");
                n_tokens = now;
                engine.Detokenize(engine.Tokenize("the quick brown fox"));
                using (Session other = engine.CreateSession()) other.Cancel();
                n_rounds++;
            }
            while (decoder.IsAlive);
            Expect.True(n_rounds > 0, "rounds");
            Expect.Sequence(Given.Reply(engine, 150), drawn, "drawn");
        }
    }

    // The request is made between two steps, so the very next one must see it.
    public static void CancelEndsTheNextStep()
    {
        using (Engine engine = Given.Engine())
        using (Session session = engine.CreateSession(Given.Endless))
        {
            session.Prefill(Given.Prompt);
            Given.Draw(session, 3);
            var other = new Thread(() => session.Cancel());
            other.Start();
            other.Join();
            StepEvent last = session.DecodeStep();
            Expect.Equal(EventKind.Finished, last.Kind, "kind");
            Expect.Equal(FinishReason.Cancelled, last.FinishReason, "reason");
            Expect.Equal(-1, last.Token, "token");
            session.Prefill(Given.Prompt);
            Expect.Equal(EventKind.Token, session.DecodeStep().Kind, "the request was for once");
            session.Cancel();
            ulong number = session.Info.Generation;
            session.Truncate(1);
            Expect.Equal(number + 1, session.Info.Generation, "a truncation begins a generation");
            Expect.Equal(EventKind.Token, session.DecodeStep().Kind, "the request was for the one before");
            session.Cancel();
            Expect.Equal(FinishReason.Cancelled, session.DecodeStep().FinishReason, "of this one");
        }
    }

    public static void CancelOfAGenerationWithinOneStep()
    {
        using (Engine engine = Given.Engine())
        using (Session session = engine.CreateSession(Given.Endless))
        {
            int n_late = 0; // rounds whose other thread did not come before the context was full
            for (int round = 0; round < 20; round++)
            {
                session.Truncate(0);
                long asked = 0, n_at_request = 0, n = 0;
                var other = new Thread(() =>
                {
                    while (Interlocked.Read(ref n) < 5) Thread.SpinWait(10);
                    session.Cancel();
                    Interlocked.Exchange(ref n_at_request, Interlocked.Read(ref n));
                    Interlocked.Exchange(ref asked, 1);
                });
                other.Start();
                var last = FinishReason.None;
                foreach (Generated next in session.Generate("Once upon a time"))
                {
                    last = next.FinishReason;
                    Interlocked.Increment(ref n);
                    Thread.Sleep(1); // so that the other thread comes in time, on a busy machine too
                }
                other.Join();
                // The step under way when it was asked, and the one that says so.
                Expect.True(n <= n_at_request + 2, n + " events, " + n_at_request + " at the request");
                if (last == FinishReason.ContextFull && n_late++ < 10) continue;
                Expect.Equal(FinishReason.Cancelled, last, "reason");
            }
        }
    }

    public static void TokenEndsAGenerationBeforeItsNextStep()
    {
        using (Engine engine = Given.Engine())
        using (Session session = engine.CreateSession(Given.Endless))
        using (var source = new CancellationTokenSource())
        {
            int n = 0;
            var problem = Expect.Throws<OperationCanceledException>(() =>
            {
                foreach (Generated next in session.Generate("Once upon a time", null, source.Token))
                {
                    Expect.True(next.Token >= 0, "token");
                    if (++n == 7) source.Cancel();
                }
            }, "a cancelled token");
            Expect.Equal(source.Token, problem.CancellationToken, "whose token");
            Expect.Equal(7, n, "events");
            int n_tokens = session.Info.Tokens;
            foreach (Generated next in session.Continue())
            {
                Expect.Equal(FinishReason.None, next.FinishReason, "nothing of the request is left");
                break;
            }
            Expect.Equal(n_tokens + 1, session.Info.Tokens, "it goes on where it was");
        }
    }

    // Cancels until requests met a prefill at work; what is kept then are whole chunks.
    public static void TokenEndsAPrefillAfterItsChunk()
    {
        LoadOptions options = Given.Options;
        options.PrefillChunk = 8;
        using (Engine engine = Engine.Load(Given.Model, options))
        using (Session session = engine.CreateSession(Given.Endless))
        {
            var prompt = new int[200];
            for (int i = 0; i < prompt.Length; i++) prompt[i] = 100 + i;
            session.Prefill(prompt);
            int[] want = Given.Draw(session, 8);
            int n_met = 0;
            var watch = Stopwatch.StartNew();
            for (int round = 0; n_met < 5 && watch.ElapsedMilliseconds < 200000; round++)
            {
                session.Truncate(0);
                if (PrefillIsCancelled(session, prompt, (1 << round % 10) - 1))
                {
                    int n_kept = session.Info.Tokens;
                    Expect.Equal(0, n_kept % 8, "whole chunks");
                    if (n_kept > 0 && n_kept < prompt.Length) n_met++;
                    if (n_kept == prompt.Length) n_kept = 0; // cancelled in its last chunk: the generation is over, and a prompt begins another
                    session.Truncate(n_kept);
                    var rest = new int[prompt.Length - n_kept];
                    Array.Copy(prompt, n_kept, rest, 0, rest.Length);
                    session.Prefill(rest);
                }
                Expect.Sequence(want, Given.Draw(session, 8), "what follows");
            }
            Expect.True(n_met >= 1, "requests that met a prefill: " + n_met);  // how many depends on the machine
        }
    }

    // `delay` is in tenths of a millisecond.
    static bool PrefillIsCancelled(Session session, int[] prompt, int delay)
    {
        using (var source = new CancellationTokenSource())
        {
            var started = new ManualResetEventSlim();
            var other = new Thread(() =>
            {
                started.Set();
                long until = Stopwatch.GetTimestamp() + delay * Stopwatch.Frequency / 10000;
                while (Stopwatch.GetTimestamp() < until) Thread.SpinWait(10);
                source.Cancel();
            });
            other.Start();
            started.Wait();
            try
            {
                session.Prefill(prompt, source.Token);
                return false;
            }
            catch (OperationCanceledException problem)
            {
                Expect.Equal(source.Token, problem.CancellationToken, "whose token");
                return true;
            }
            finally { other.Join(); }
        }
    }

    // Cancels at random moments of a short prefill and after it: whenever the request comes, no later call meets it.
    public static void NothingIsLeftOfALateRequest()
    {
        using (Engine engine = Given.Engine())
        using (Session session = engine.CreateSession(Given.Endless))
        {
            CancellationTokenSource source = null;
            int round = 0, delay = 0;
            var random = new Random(1);
            var other = new Thread(() =>
            {
                for (int at = 1; at <= 500; at++)
                {
                    while (Volatile.Read(ref round) < at) Thread.Yield();
                    Thread.SpinWait(delay);
                    source.Cancel();
                }
            });
            other.Start();
            try
            {
                for (int at = 1; at <= 500; at++)
                {
                    session.Truncate(0);
                    source = new CancellationTokenSource();
                    CancellationToken token = source.Token;
                    delay = random.Next(3000);
                    Volatile.Write(ref round, at);
                    try { session.Prefill(new[] { 100 }, token); }
                    catch (OperationCanceledException) { }
                    while (!token.IsCancellationRequested) Thread.Yield();
                    session.Truncate(0);
                    session.Prefill(new[] { 100 });
                    Expect.Equal(EventKind.Token, session.DecodeStep().Kind, "round " + at + ", a step afterwards");
                }
            }
            finally
            {
                Volatile.Write(ref round, int.MaxValue); // the other thread runs to its end
                other.Join();
            }
        }
    }

    public static void ACancelledTokenStartsNothing()
    {
        using (Engine engine = Given.Engine())
        using (Session session = engine.CreateSession())
        using (var source = new CancellationTokenSource())
        {
            source.Cancel();
            Expect.Throws<OperationCanceledException>(() => session.Prefill(Given.Prompt, source.Token), "a prefill");
            Expect.Throws<OperationCanceledException>(() => Engine.Load(Given.Model, null, source.Token), "a load");
            Expect.Equal(0, session.Info.Tokens, "tokens");
        }
    }

    // Each generation has a token of its own; every other one is cancelled, at any time, also when it is over.
    public static void ALateCancelEndsNoLaterGeneration()
    {
        using (Engine engine = Given.Engine())
        using (Session session = engine.CreateSession(Given.Endless))
        {
            const int rounds = 3000;
            CancellationTokenSource current = null;
            bool stop = false;
            int cancelled = 0, wrong = 0;
            var other = new Thread(() =>
            {
                CancellationTokenSource last = null;
                for (int i = 0; !Volatile.Read(ref stop); i++)
                {
                    CancellationTokenSource next = Volatile.Read(ref current);
                    if (next == null || next == last) continue;
                    Thread.SpinWait(i % 300);
                    last = next;
                    next.Cancel();
                }
            });
            other.Start();
            for (int round = 0; round < rounds; round++)
            {
                var source = new CancellationTokenSource();
                bool asks = round % 2 == 0;
                if (asks) Volatile.Write(ref current, source);
                session.Truncate(0);
                bool ended = false;
                try
                {
                    session.Prefill(new[] { 2043, 100 }, source.Token);
                    ended = session.DecodeStep().FinishReason == FinishReason.Cancelled;
                }
                catch (OperationCanceledException) { ended = true; }
                if (ended) cancelled++;
                if (ended && !asks) wrong++;
            }
            Volatile.Write(ref stop, true);
            other.Join();
            Expect.Equal(0, wrong, "generations that another one's request ended");
            Expect.True(cancelled > 0, "none was cancelled");
        }
    }

    public static void ASessionAtFaultIsNamedByItsPlace()
    {
        using (Engine engine = Given.Engine())
        using (Session good = engine.CreateSession(Given.Endless))
        {
            Session gone = engine.CreateSession();
            gone.Dispose();
            good.Prefill(Given.Prompt);
            var events = new StepEvent[3];
            var disposed = Expect.Throws<ObjectDisposedException>(() => engine.DecodeStep(new[] { good, gone }, events), "a disposed one");
            Expect.Contains("sessions[1]", disposed.Message);
            var missing = Expect.Throws<ArgumentNullException>(() => engine.DecodeStep(new[] { good, null }, events), "none");
            Expect.Contains("sessions[", missing.Message);
            good.DecodeStep();
        }
    }

    public static void BosStandsInFrontOnly()
    {
        using (Engine engine = Given.Engine())
        using (Session session = engine.CreateSession(Given.Endless))
        {
            int with = engine.Tokenize("Once upon").Length, without = engine.Tokenize("Once upon", TokenizeFlags.NoBosEos).Length;
            Expect.Equal(without + 1, with, "the model has a BOS token");
            session.Prefill("Once upon");
            Expect.Equal(with, session.Info.Tokens, "an empty session");
            session.Prefill("Once upon");
            Expect.Equal(with + without, session.Info.Tokens, "one with tokens");
            foreach (Generated next in session.Generate("Once upon", new GenerateOptions { MaxTokens = 1 })) Expect.Equal(without, next.PromptTokens, "a prompt");
            foreach (Generated next in session.Generate("Once upon", new GenerateOptions { MaxTokens = 1, RepeatBos = true }))
            {
                Expect.Equal(with, next.PromptTokens, "as asked for");
            }
        }
    }
}
