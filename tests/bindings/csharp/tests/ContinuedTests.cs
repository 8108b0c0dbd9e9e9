// Requests that continue a session: its tokens stay from one to the next.
using System;
using System.Collections.Generic;
using System.Linq;
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
