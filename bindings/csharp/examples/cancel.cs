// Lets a model write for as long as it likes, and stops it from another thread, some time after the first token: by the session, and by a CancellationToken.
// usage: cancel MODEL [MILLISECONDS]
using System;
using System.Diagnostics;
using System.Globalization;
using System.Threading;
using Inlay;

static class Cancel
{
    // Decodes until it is cancelled, and calls `began` at the first token. Where the context is full, half of the tale goes.
    static void Decode(Session session, CancellationToken token, Action began, ref int n_tokens)
    {
        session.Prefill("Once upon a time");
        int n_prompt = session.Info.Tokens;
        for (FinishReason reason = FinishReason.None; reason != FinishReason.Cancelled;)
        {
            foreach (Generated next in session.Continue(token))
            {
                if (next.Token >= 0 && ++n_tokens == 1) began();
                reason = next.FinishReason;
            }
            if (reason == FinishReason.ContextFull) session.Shift(n_prompt, (session.Info.Tokens - n_prompt) / 2);
        }
    }

    // Calls `cancel` after some time on another thread, and tells how long the session went on.
    static void Run(Engine engine, int milliseconds, string how, CancellationToken token, Action<Session> cancel)
    {
        using (Session session = engine.CreateSession(new SessionOptions { Flags = SessionFlags.IgnoreEndOfGeneration }))
        {
            int n_tokens = 0;
            long made = 0;
            var other = new Thread(() =>
            {
                Thread.Sleep(milliseconds);
                made = Stopwatch.GetTimestamp();
                cancel(session);
            });
            try { Decode(session, token, other.Start, ref n_tokens); } // the session's way: the last event says so, and held back text comes with it
            catch (OperationCanceledException) { }        // the token's way
            long ended = Stopwatch.GetTimestamp();
            other.Join();
            Console.WriteLine(string.Format(CultureInfo.InvariantCulture, "cancelled after {0} tokens, {1:F2} ms after the request, by {2}", n_tokens,
                                            (ended - made) * 1e3 / Stopwatch.Frequency, how));
        }
    }

    static int Main(string[] args)
    {
        int milliseconds = 500;
        if (args.Length < 1 || args.Length > 2 || (args.Length == 2 && !int.TryParse(args[1], out milliseconds)) || milliseconds < 1)
        {
            Console.Error.WriteLine("usage: cancel MODEL [MILLISECONDS]");
            return 2;
        }
        try
        {
            using (Engine engine = Engine.Load(args[0]))
            using (var source = new CancellationTokenSource())
            {
                Run(engine, milliseconds, "the session", CancellationToken.None, session => session.Cancel());
                Run(engine, milliseconds, "a token", source.Token, session => source.Cancel());
            }
            return 0;
        }
        catch (Exception problem)
        {
            Console.Error.WriteLine("cancel: " + problem.Message);
            return 1;
        }
    }
}
