// Disposal in any order, use afterwards, and sessions that nobody disposes.
using System;
using System.Runtime.CompilerServices;
using System.Threading;
using Inlay;

static class LifetimeTests
{
    static readonly int n_dropped = int.Parse(Environment.GetEnvironmentVariable("INLAY_TEST_DROPPED") ?? "10000");

    public static void UseAfterDispose()
    {
        Engine engine = Given.Engine();
        Session session = engine.CreateSession();
        session.Prefill(Given.Prompt);
        session.Dispose();
        foreach (Action use in new Action[]
                 {
                     () => session.DecodeStep(), () => session.Prefill(Given.Prompt), () => session.Cancel(), () => session.Fork(),
                     () => session.Info.ToString(), () => session.TakeText(), () => session.Truncate(0), () => session.GetLogits(),
                     () => session.SetSampler(new SamplerOptions()), () => session.SetStop(new[] { "x" }),
                     () => engine.DecodeStep(new[] { session }, new StepEvent[1]),
                     () => { int left; engine.DecodeSlice(new[] { session }, 1, new StepEvent[1], out left); },
                     () => engine.DecodeAbandon(new[] { session }),
                     () => { foreach (Generated next in session.Generate("Once")) Expect.True(false, next.Text); }
                 })
        {
            Expect.Throws<ObjectDisposedException>(use, "the session");
        }
        engine.Dispose();
        foreach (Action use in new Action[]
                 {
                     () => engine.Info.ToString(), () => engine.CreateSession(), () => engine.Tokenize("x"), () => engine.Plan.ToString(),
                     () => engine.GetMetadata("general.name"), () => engine.Stats.ToString(), () => engine.Detokenize(new[] { 1 }),
                     () => engine.ProfileStep(), () => engine.GetTokenInfo(1), () => engine.Score(new[] { Given.Prompt })
                 })
        {
            Expect.Throws<ObjectDisposedException>(use, "the engine");
        }
    }

    public static void DisposeTwice()
    {
        Engine engine = Given.Engine();
        Session session = engine.CreateSession();
        for (int i = 0; i < 3; i++)
        {
            session.Dispose();
            engine.Dispose();
        }
    }

    public static void AnyOrder()
    {
        Engine engine = Given.Engine();
        int[] want = Given.Reply(engine, 12);
        Session session = engine.CreateSession(Given.Endless);
        engine.Dispose();
        session.Prefill(Given.Prompt);
        Session child = session.Fork();
        session.Dispose();
        Expect.Sequence(want, Given.Draw(child, 12), "a fork after all others are gone");
        child.Dispose();
    }

    public static void SessionsOutliveAForgottenEngine()
    {
        Session session = OfForgottenEngine();
        Given.CollectGarbage();
        session.Prefill("Once upon a time");
        Expect.Equal(8, Given.Draw(session, 8).Length, "tokens");
        session.Dispose();
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static Session OfForgottenEngine() { return Given.Engine().CreateSession(Given.Endless); }

    public static void DroppedSessionsAreFreed()
    {
        LoadOptions options = Given.Options;
        options.MaxSessions = 64;
        using (Engine engine = Engine.Load(Given.Model, options))
        {
            int left = int.MaxValue;
            for (int i = 0; i < 3 && left > Given.Stale; i++)
            {
                OnItsOwnStack(() => Drop(engine));
                Given.CollectGarbage();
                left = engine.Stats.Sessions;
            }
            Expect.True(left <= Given.Stale, "sessions that are left: " + left);
            Expect.True(engine.Stats.KvBlocksUsed <= left, "blocks that are left: " + engine.Stats.KvBlocksUsed);

            Session kept = engine.CreateSession();
            Given.CollectGarbage();
            int and_kept = engine.Stats.Sessions;
            Expect.True(and_kept >= 1 && and_kept <= left + 1, "sessions, one of which is still referred to: " + and_kept);
            kept.Dispose();
        }
    }

    public static void DroppedEnginesAreFreed()
    {
        OnItsOwnStack(() => { for (int i = 0; i < 3; i++) Use(Given.Engine()); }); // what is taken once
        Given.CollectGarbage();
        long before = ResidentBytes();
        var kept = new Engine[10];
        for (int i = 0; i < kept.Length; i++) kept[i] = Use(Given.Engine());
        Given.CollectGarbage();
        long of_kept = ResidentBytes() - before;
        Expect.True(of_kept > 30L << 20, "ten engines that are referred to take " + (of_kept >> 20) + " MiB");
        foreach (Engine engine in kept) engine.Dispose();
        OnItsOwnStack(() =>
        {
            for (int i = 0; i < 40; i++)
            {
                Use(Given.Engine());
                if (i % 5 == 4) Given.CollectGarbage();
            }
        });
        Given.CollectGarbage();
        long of_dropped = ResidentBytes() - before;
        Expect.True(of_dropped < 2 * of_kept, "forty that were dropped left " + (of_dropped >> 20) + " MiB, ten take " + (of_kept >> 20));
    }

    sealed class Listener
    {
        internal int Heard;
        internal void Hear(LogMessage message) { Heard++; }
    }

    // Messages can come as long as a session lives, so that is how long their handler has to.
    public static void AHandlerLivesAsLongAsItsLastSession()
    {
        Given.IsCollected(() =>
        {
            Session session = null;
            WeakReference listener = null;
            OnItsOwnStack(() =>
            {
                LoadOptions options = Given.Options;
                var target = new Listener();
                options.Log = target.Hear;
                listener = new WeakReference(target);
                using (Engine engine = Engine.Load(Given.Model, options)) session = engine.CreateSession().Fork();
                if (target.Heard == 0) throw new CheckFailed("no messages");
            });
            Given.CollectGarbage();
            Expect.True(listener.IsAlive, "while a fork is left, the handler lives");
            OnItsOwnStack(() =>
            {
                session.Prefill(Given.Prompt);
                session.Dispose();
                session = null;
            });
            return listener;
        }, "afterwards it is collected");
    }

    static Engine Use(Engine engine)
    {
        Given.Reply(engine, 1);
        return engine;
    }

    static long ResidentBytes()
    {
        foreach (string line in System.IO.File.ReadAllLines("/proc/self/status"))
        {
            if (line.StartsWith("VmRSS:")) return long.Parse(line.Substring(6).Replace("kB", "").Trim()) << 10;
        }
        throw new Skipped("the system does not tell");
    }

    // The collector looks at the stack conservatively: what another thread's stack held is certainly gone.
    static void OnItsOwnStack(Action action)
    {
        Exception problem = null;
        var thread = new Thread(() =>
        {
            try { action(); }
            catch (Exception thrown) { problem = thrown; }
        });
        thread.Start();
        thread.Join();
        if (problem != null) throw problem;
    }

    static void Drop(Engine engine)
    {
        for (int i = 0; i < n_dropped; i++)
        {
            Session session = TryCreate(engine);
            if (session == null)
            {
                Given.CollectGarbage();
                session = engine.CreateSession(Given.Endless);
            }
            if (i % 50 == 0) session.Prefill(Given.Prompt);
            if (i % 100 == 0) session.DecodeStep();
            if (i % 7 == 0) session.Dispose();
        }
    }

    static Session TryCreate(Engine engine)
    {
        try { return engine.CreateSession(Given.Endless); }
        catch (InlayException problem) when (problem.Status == Status.SessionLimit) { return null; }
    }

    public static void DisposeWhileInUse()
    {
        using (Engine engine = Given.Engine())
        {
            for (int round = 0; round < 50; round++)
            {
                Session session = engine.CreateSession(Given.Endless);
                session.Prefill(Given.Prompt);
                var other = new Thread(() => session.Dispose());
                int n = 0;
                Expect.Throws<ObjectDisposedException>(() =>
                {
                    for (;; n++)
                    {
                        if (n == 3) other.Start();
                        if (n % 100 == 99) session.Truncate(Given.Prompt.Length);
                        session.DecodeStep();
                    }
                }, "a step after the other thread's disposal");
                other.Join();
                Expect.True(n >= 3, "steps before: " + n);
            }
            Expect.Equal(0, engine.Stats.Sessions, "sessions that are left");
        }
    }

    public static void StepsAllocateNothing()
    {
        using (Engine engine = Given.Engine())
        using (Session session = engine.CreateSession(Given.Endless))
        {
            session.Prefill(Given.Prompt);
            var sessions = new[] { session };
            var events = new StepEvent[1];
            Func<long> step = () =>
            {
                long before = GC.GetAllocatedBytesForCurrentThread();
                for (int i = 0; i < 50; i++)
                {
                    engine.DecodeStep(sessions, events);
                    if (session.Info.Tokens == 0) throw new CheckFailed("no tokens");
                }
                return GC.GetAllocatedBytesForCurrentThread() - before;
            };
            step(); // compiles
            Given.AllocatesNothing(step, "bytes of fifty steps");
            bool is_seen = false;
            for (int i = 0; i < 10 && !is_seen; i++)
            {
                long start = GC.GetAllocatedBytesForCurrentThread();
                session.DecodeStep().Top.ToString();
                is_seen = GC.GetAllocatedBytesForCurrentThread() > start;
            }
            Expect.True(is_seen, "what does allocate is seen");
        }
    }
}
