// Requests that make vectors.
using System;
using System.Collections.Generic;
using System.Linq;
using System.Threading.Tasks;
using Inlay;

static class VectorTests
{
    static readonly string[] Texts = { "A fox in the woods.", "The old fox", "Once upon a time, there was a little boat", "!" };

    static Request Vector(string text) { return new Request(text) { Kind = RequestKind.Embed, Pooling = Pooling.Mean }; }

    static void ThrowsStatus(Status status, Action action, string what, string named = "")
    {
        InlayException error = Expect.Throws<InlayException>(action, what);
        Expect.Equal(status, error.Status, what);
        Expect.True(error.Message.Contains(named), what + ": " + error.Message);
    }

    public static void AreThoseOfEmbed()
    {
        using (Engine engine = Given.Engine())
        using (RequestQueue queue = engine.CreateQueue())
        {
            float[][] want = engine.Embed(Texts, Pooling.Mean);
            var ids = new List<ulong>();
            ulong beside = queue.Submit(new Request("Once") { Options = new SessionOptions { MaxTokens = 5 } });
            foreach (string text in Texts) ids.Add(queue.Submit(Vector(text)));
            ThrowsStatus(Status.InvalidState, () => queue.TakeValues(ids[0]), "before its end");
            RequestTests.Answers found = RequestTests.All(queue);
            for (int i = 0; i < ids.Count; i++)
            {
                ulong id = ids[i];
                Expect.Equal(FinishReason.Embedded, found[id].Reason, "its end");
                Expect.Equal(want[i].Length, found[id].ValueCount, "its length");
                Expect.True(want[i].SequenceEqual(queue.TakeValues(id)), "the vector of text " + i);
                ThrowsStatus(Status.NotFound, () => queue.TakeValues(id), "a vector is taken once");
            }
            Expect.Equal(0, found[beside].ValueCount, "values of an answer");
            Request plain = Vector(Texts[0]);
            plain.Embed = EmbedFlags.None;
            ulong last = queue.Submit(plain);
            RequestTests.All(queue);
            Expect.True(engine.Embed(Texts, Pooling.Mean, EmbedFlags.None)[0].SequenceEqual(queue.TakeValues(last)), "not scaled");
        }
    }

    // More than have room at a time, while the host holds all sessions: they wait for one of them.
    public static void ADispatcherGivesThem()
    {
        const int n = 50;
        using (Engine engine = Engine.Load(Given.Model, RequestTests.FewSessions(2)))
        using (Session held = engine.CreateSession(Given.Endless))
        using (var dispatcher = new RequestDispatcher(engine))
        {
            float[][] want = engine.Embed(Texts, Pooling.Mean);
            engine.SetThread(new ThreadOptions());
            Task<Completion>[] all;
            using (Session other = engine.CreateSession(Given.Endless))
            {
                ThrowsStatus(Status.SessionLimit, () => engine.Embed(Texts, Pooling.Mean), "no session is free");
                all = Enumerable.Range(0, n).Select(i => dispatcher.CompleteAsync(Vector(Texts[i % Texts.Length]))).ToArray();
                foreach (Session session in new[] { held, other }) session.Prefill(Given.Prompt);
                for (int i = 0; i < 20; i++) engine.DecodeStep(new[] { held, other }, new StepEvent[2]);
                Expect.True(!all.Any(task => task.IsCompleted), "they wait");
            }
            Completion[] found = AsyncTests.Result(Task.WhenAll(all));
            for (int i = 0; i < n; i++)
            {
                Expect.Equal(FinishReason.Embedded, found[i].FinishReason, "its end");
                Expect.True(want[i % Texts.Length].SequenceEqual(found[i].Vector), "the vector " + i);
                Expect.Equal("", found[i].Text, "its text");
            }
            Completion told = AsyncTests.Result(dispatcher.CompleteAsync(new Request("Once") { Options = RequestTests.UpTo(3) }));
            Expect.True(told.Vector == null && told.Text.Length > 0, "a text has none");
        }
    }

    public static void WhatDoesNotFitIsRefused()
    {
        using (Engine engine = Given.Engine())
        using (RequestQueue queue = engine.CreateQueue(new RequestQueueOptions { MaxRequests = 1 }))
        using (Session session = engine.CreateSession(new SessionOptions { Flags = SessionFlags.ForRequests }))
        {
            var changes = new Dictionary<string, Action<Request>>
            {
                { "Options is set", request => request.Options = new SessionOptions() },
                { "Continues is set", request => request.Continues = session },
                { "Embed is set", request => request.Kind = RequestKind.Generate },
                { "Embed: unknown bits", request => request.Embed = (EmbedFlags)(1 << 30) },
                { "Pooling is 77", request => request.Pooling = (Pooling)77 }
            };
            foreach (KeyValuePair<string, Action<Request>> change in changes)
            {
                Request request = Vector("a");
                change.Value(request);
                ThrowsStatus(Status.InvalidArgument, () => queue.Submit(request), change.Key, change.Key);
            }
            Request talk = Request.OfConversation("[]");
            talk.Kind = RequestKind.Embed;
            ThrowsStatus(Status.InvalidArgument, () => queue.Submit(talk), "a conversation", "conversation is set");
            ulong id = queue.Submit(Vector("a"));
            RequestTests.All(queue);
            ThrowsStatus(Status.QueueFull, () => queue.Submit(Vector("b")), "nobody has taken it");
            queue.TakeValues(id);
            queue.Submit(Vector("b"));
        }
    }
}
