// Requests that continue a session: its tokens stay from one to the next.
using System;
using System.Collections.Generic;
using System.Linq;
using System.Threading;
using Inlay;

static class ContinuedTests
{
    static readonly string[] Texts = { "Once upon a time", " and then" };

    static SessionOptions Hot(int tokens = 6, SessionFlags flags = SessionFlags.None)
    {
        return new SessionOptions { MaxTokens = tokens, Flags = flags, Sampler = new SamplerOptions { Temperature = 0.8f, Seed = 5 } };
    }

    static RequestTests.Answer Ended(RequestQueue queue, Request request)
    {
        ulong id = queue.Submit(request);
        return RequestTests.All(queue)[id];
    }

    static void ThrowsStatus(Status status, Action action, string what)
    {
        Expect.Equal(status, Expect.Throws<InlayException>(action, what).Status, what);
    }

    public static void TurnsAreThoseOfASession()
    {
        using (Engine engine = Given.Engine())
        using (RequestQueue queue = engine.CreateQueue())
        {
            int[] want;
            using (Session stepping = engine.CreateSession(Hot()))
            {
                foreach (string text in Texts) foreach (Generated next in stepping.Generate(text)) Expect.True(next.Text != null, "a text");
                want = stepping.GetTokens();
            }
            using (Session session = engine.CreateSession(Hot(6, SessionFlags.ForRequests)))
            {
                RequestTests.Answer last = null;
                foreach (string text in Texts) last = Ended(queue, new Request(text) { Continues = session }); // as the session draws
                Expect.Equal(string.Join(" ", want), string.Join(" ", session.GetTokens()), "its tokens");
                Expect.Equal(want.Length - 6, last.PromptTokens, "tokens of the prompt");
                Expect.True(last.CachedTokens > 0, "what is there is not computed again");
                ThrowsStatus(Status.InvalidState, () => session.Prefill("More"), "a prompt of its own");
                last = Ended(queue, new Request("A little boat") { Continues = session, Kind = RequestKind.Prefill, Options = Hot(1) });
                Expect.Equal(FinishReason.Prefilled, last.Reason, "a prompt alone");
                Expect.Equal(1, Ended(queue, new Request("!") { Continues = session }).GeneratedTokens, "the options of the request before hold");
            }
        }
    }

    // On a thread of its own, so that nothing of it stays on this one's stack.
    static WeakReference Begun(Engine engine, Action<Request> submit)
    {
        WeakReference begun = null;
        var thread = new Thread(() =>
        {
            Session session = engine.CreateSession(Hot(6, SessionFlags.ForRequests));
            submit(new Request("Once upon a time") { Continues = session });
            begun = new WeakReference(session);
        });
        thread.Start();
        thread.Join();
        return begun;
    }

    public static void ARequestKeepsItsSession()
    {
        using (Engine engine = Given.Engine())
        using (RequestQueue queue = engine.CreateQueue())
        {
            Given.IsCollected(() =>
            {
                WeakReference session = Begun(engine, request => queue.Submit(request));
                Given.CollectGarbage();
                Expect.Equal(FinishReason.MaxTokens, RequestTests.All(queue).Values.Single().Reason, "its end");
                return session;
            }, "a session without requests is collected");
            Given.IsCollected(() => Begun(engine, request => engine.CreateQueue().Submit(request)), "that of an abandoned queue is collected");
            Given.IsCollected(() =>
            {
                using (RequestQueue disposed = engine.CreateQueue()) return Begun(engine, request => disposed.Submit(request));
            }, "that of a disposed queue is collected");
        }
    }

    public static void APendingRequestKeepsItsSession()
    {
        using (Engine engine = Given.Engine())
        {
            PendingRequest pending = null;
            Begun(engine, request => pending = new RequestDispatcher(engine, null, false).Submit(request));
            Given.CollectGarbage();
            Expect.True(string.Concat(pending.ReadText()).Length > 0, "its text");
            Expect.Equal(FinishReason.MaxTokens, AsyncTests.Result(pending.Completion).FinishReason, "its end");
        }
    }

    public static void CancelEndsTheRequestThatHasTheSession()
    {
        SessionOptions endless = Hot(0, SessionFlags.IgnoreEndOfGeneration);
        SessionOptions short_one = Hot(2, SessionFlags.IgnoreEndOfGeneration);
        using (Engine engine = Given.Engine())
        using (RequestQueue queue = engine.CreateQueue())
        {
            Session session = engine.CreateSession(Hot(0, SessionFlags.ForRequests | SessionFlags.IgnoreEndOfGeneration));
            for (int round = 0; round < 2; round++)
            {
                session.Cancel(); // nothing has it
                ulong id = queue.Submit(new Request("Once upon a time") { Continues = session });
                for (int i = 0; i < 3; i++) engine.Run(null, null, RunFlags.OneStep);
                session.Cancel();
                Expect.Equal(FinishReason.Cancelled, RequestTests.All(queue)[id].Reason, "its end");
                session.Cancel();
                Expect.Equal(FinishReason.MaxTokens, Ended(queue, new Request("!") { Continues = session, Options = short_one }).Reason, "the next one's");
                Expect.Equal(FinishReason.Prefilled, Ended(queue, new Request("!")
                {
                    Continues = session, Kind = RequestKind.Prefill, Options = endless
                }).Reason, "endless again");
                byte[] state = session.Save();
                session.Dispose();
                session = engine.RestoreSession(state);
            }
            session.Dispose();
        }
    }

    // It has the session before there is room for it.
    public static void CancelEndsARequestThatWaitsForRoom()
    {
        LoadOptions options = Given.Options;
        options.MaxSessions = 1;
        using (Engine engine = Engine.Load(Given.Model, options))
        using (RequestQueue queue = engine.CreateQueue())
        using (Session session = engine.CreateSession(Hot(3, SessionFlags.ForRequests | SessionFlags.IgnoreEndOfGeneration)))
        {
            var request = new Request("Once upon a time") { Continues = session };
            for (int round = 0; round < 2; round++)
            {
                using (Session holder = engine.CreateSession(Hot())) // takes the only place
                {
                    ulong waits = queue.Submit(request);
                    engine.Run(null, null, RunFlags.OneStep);
                    session.Cancel();
                    engine.Run(null, null, RunFlags.OneStep);
                    var events = new RequestEvents();
                    Expect.Equal(1, queue.Poll(events), "its end");
                    Expect.Equal(waits, events[0].Request, "its number");
                    Expect.Equal(FinishReason.Cancelled, events[0].FinishReason, "its reason");
                    session.Cancel(); // nothing has it
                    queue.Submit(request);
                    for (int i = 0; i < 2; i++) engine.Run(null, null, RunFlags.OneStep);
                }
                Expect.Equal(FinishReason.MaxTokens, RequestTests.All(queue).Values.Single().Reason, "the next one's");
            }
        }
    }

    public static void APendingRequestSaysWhatHasEndedIt()
    {
        using (Engine engine = Given.Engine())
        using (var dispatcher = new RequestDispatcher(engine, null, false))
        {
            foreach (bool of_session in new[] { true, false })
            {
                Session session = engine.CreateSession(Hot(0, SessionFlags.ForRequests));
                PendingRequest pending = dispatcher.Submit(new Request("Once upon a time") { Continues = session });
                if (of_session) session.Dispose();
                else engine.Dispose();
                var problem = Expect.Throws<OperationCanceledException>(() => pending.ReadText().Count(), "its text");
                Expect.Contains(of_session ? "the session that the request continues was cancelled or disposed" : "the engine was disposed",
                                problem.Message);
                session.Dispose();
            }
        }
    }

    public static void ADisposedSessionEndsItsRequests()
    {
        using (Engine engine = Given.Engine())
        using (RequestQueue queue = engine.CreateQueue())
        {
            Session session = engine.CreateSession(Hot(0, SessionFlags.ForRequests));
            ulong id = queue.Submit(new Request("Once upon a time") { Continues = session });
            session.Dispose();
            Expect.Equal(FinishReason.Cancelled, RequestTests.All(queue)[id].Reason, "its end");
            Expect.Throws<ObjectDisposedException>(() => queue.Submit(new Request("Once") { Continues = session }), "a session that is gone");
            using (Session stepping = engine.CreateSession(Hot()))
                ThrowsStatus(Status.InvalidArgument, () => queue.Submit(new Request("Once") { Continues = stepping }), "another session");
        }
    }
}
