#if NETCOREAPP || NETSTANDARD2_1_OR_GREATER
// Requests as asynchronous streams.
using System;
using System.Collections.Generic;
using System.Linq;
using System.Text;
using System.Threading;
using System.Threading.Tasks;
using Inlay;

static class RequestStreamTests
{
    static Engine Threaded()
    {
        Engine engine = Engine.Load(Given.Model, RequestTests.FewSessions(3));
        engine.SetThread(new ThreadOptions());
        return engine;
    }

    static Request Ask(int i)
    {
        var options = new SessionOptions { Sampler = new SamplerOptions { Temperature = 0.9f, Seed = (ulong)i, Logprobs = 2 }, MaxTokens = 12 + i };
        return new Request("Once upon a time") { Options = options };
    }

    static async Task<List<T>> All<T>(IAsyncEnumerable<T> stream)
    {
        var all = new List<T>();
        await foreach (T next in stream) all.Add(next);
        return all;
    }

    public static void TextIsThatOfTheTask()
    {
        using (Engine engine = Threaded())
        using (var dispatcher = new RequestDispatcher(engine))
        {
            PendingRequest[] all = Enumerable.Range(0, 9).Select(i => dispatcher.Submit(Ask(i))).ToArray();
            List<string>[] texts = AsyncTests.Result(Task.WhenAll(all.Select(pending => All(pending.ReadTextAsync()))));
            for (int i = 0; i < all.Length; i++)
            {
                Expect.True(texts[i].All(text => text.Length > 0), "no empty pieces");
                Expect.Equal(AsyncTests.Result(all[i].Completion).Text, string.Concat(texts[i]), "text " + i);
            }
        }
    }

    // Without a thread of the dispatcher it goes on while somebody computes.
    public static void PiecesAreThoseOfTheTask()
    {
        using (Engine engine = Engine.Load(Given.Model, RequestTests.FewSessions(3)))
        using (var dispatcher = new RequestDispatcher(engine, null, false))
        {
            PendingRequest pending = dispatcher.Submit(Ask(5));
            Task<List<RequestPiece>> reading = All(pending.ReadPiecesAsync());
            while (!pending.HasEnded) dispatcher.Run(TimeSpan.FromMilliseconds(1));
            List<RequestPiece> pieces = AsyncTests.Result(reading);
            Completion whole = AsyncTests.Result(pending.Completion);
            Expect.Sequence(whole.Tokens.ToArray(), pieces.SelectMany(piece => piece.Tokens).Select(token => token.Token).ToArray(), "tokens");
            Expect.Equal(whole.Text, string.Concat(pieces.Select(piece => piece.Text)), "text");
            Expect.True(pieces.SelectMany(piece => piece.Top).All(likeliest => likeliest.Count == 2), "the likeliest of each place");
            Expect.Equal(0, AsyncTests.Result(All(pending.ReadPiecesAsync())).Count, "what was read comes no more");
        }
    }

    static async Task<string> First(IAsyncEnumerable<string> stream)
    {
        await foreach (string text in stream) return text;
        return null;
    }

    public static void LeavingTheLoopEndsTheRequest()
    {
        using (Engine engine = Threaded())
        using (var dispatcher = new RequestDispatcher(engine))
        {
            engine.SetThread(new ThreadOptions { Busy = TimeSpan.FromMilliseconds(0.1), Period = TimeSpan.FromMilliseconds(20) });
            PendingRequest pending = dispatcher.Submit(RequestTests.Endless());
            string first = AsyncTests.Result(First(pending.ReadTextAsync()));
            Completion whole = AsyncTests.Result(pending.Completion);
            Expect.Equal(FinishReason.Cancelled, whole.FinishReason, "reason");
            Expect.True(first.Length > 0 && whole.Text.StartsWith(first, StringComparison.Ordinal), "its beginning");
        }
    }

    public static void ATokenEndsIt()
    {
        using (Engine engine = Threaded())
        using (var dispatcher = new RequestDispatcher(engine))
        {
            engine.SetThread(new ThreadOptions { Busy = TimeSpan.FromMilliseconds(0.1), Period = TimeSpan.FromMilliseconds(20) });
            foreach (bool at_submit in new[] { true, false })
            {
                using (var source = new CancellationTokenSource())
                {
                    PendingRequest pending = dispatcher.Submit(RequestTests.Endless(), at_submit ? source.Token : CancellationToken.None);
                    Task<List<string>> reading = All(at_submit ? pending.ReadTextAsync() : pending.ReadTextAsync(source.Token));
                    source.CancelAfter(30);
                    var thrown = Expect.Throws<OperationCanceledException>(() => AsyncTests.Result(reading), "reading");
                    Expect.Equal(source.Token, thrown.CancellationToken, "whose token it was");
                    if (at_submit) Expect.Throws<OperationCanceledException>(() => AsyncTests.Result(pending.Completion), "the task");
                    else Expect.Equal(FinishReason.Cancelled, AsyncTests.Result(pending.Completion).FinishReason, "reason");
                }
            }
            Expect.Equal(0, AsyncTests.Result(dispatcher.CompleteAsync(new Request("x") { Kind = RequestKind.Prefill })).Tokens.Count, "the engine goes on");
        }
    }

    public static void AFailureIsThrown()
    {
        using (Engine engine = Engine.Load(Given.Model, RequestTests.FewSessions(3)))
        using (var dispatcher = new RequestDispatcher(engine, null, false))
        {
            PendingRequest pending = dispatcher.Submit(Ask(0));
            engine.Dispose();
            dispatcher.Dispatch();
            Expect.Throws<OperationCanceledException>(() => AsyncTests.Result(All(pending.ReadTextAsync())), "of an engine that is gone");
        }
    }
}
#endif
