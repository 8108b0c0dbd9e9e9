// Requests that make vectors.
using System;
using System.Collections.Generic;
using System.Linq;
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
                ThrowsStatus(Status.InvalidArgument, () => queue.TakeValues(id), "a vector is taken once");
            }
            Expect.Equal(0, found[beside].ValueCount, "values of an answer");
            Request plain = Vector(Texts[0]);
            plain.Embed = EmbedFlags.None;
            ulong last = queue.Submit(plain);
            RequestTests.All(queue);
            Expect.True(engine.Embed(Texts, Pooling.Mean, EmbedFlags.None)[0].SequenceEqual(queue.TakeValues(last)), "not scaled");
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
            using (var dispatcher = new RequestDispatcher(engine))
                Expect.Throws<ArgumentException>(() => dispatcher.Submit(Vector("a")), "a dispatcher gives text");
            ulong id = queue.Submit(Vector("a"));
            RequestTests.All(queue);
            ThrowsStatus(Status.QueueFull, () => queue.Submit(Vector("b")), "nobody has taken it");
            queue.TakeValues(id);
            queue.Submit(Vector("b"));
        }
    }
}
