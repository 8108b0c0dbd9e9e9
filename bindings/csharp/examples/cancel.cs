// Cancels a generation from another thread, twice: with a CancellationToken, and with the session itself.
// usage: cancel MODEL
using System;
using System.Diagnostics;
using System.Threading;
using Inlay;

static class Cancel
{
    static readonly SessionOptions Endless = new SessionOptions { Flags = SessionFlags.IgnoreEndOfGeneration };

    // The token's way: the loop ends with an exception.
    static void ByToken(Engine engine)
    {
        using (Session session = engine.CreateSession(Endless))
        using (var source = new CancellationTokenSource())
        {
            int n_tokens = 0;
            source.CancelAfter(TimeSpan.FromMilliseconds(20)); // on a thread of the pool
            try
            {
                foreach (Generated next in session.Generate("Once upon a time", null, source.Token)) n_tokens++;
            }
            catch (OperationCanceledException) { Console.WriteLine("cancelled by token after {0} tokens", n_tokens); }
        }
    }

    // The session's way: the loop ends with an event that says so, and the text that was held back is not lost.
    static void BySession(Engine engine)
    {
        using (Session session = engine.CreateSession(Endless))
        {
            int n_tokens = 0;
            long asked = 0;
            var other = new Thread(() =>
            {
                Thread.Sleep(20);
                Interlocked.Exchange(ref asked, Stopwatch.GetTimestamp());
                session.Cancel();
            });
            other.Start();
            foreach (Generated next in session.Generate("Once upon a time"))
            {
                n_tokens++;
                if (next.FinishReason != FinishReason.Cancelled) continue;
                double ms = (Stopwatch.GetTimestamp() - Interlocked.Read(ref asked)) * 1e3 / Stopwatch.Frequency;
                Console.WriteLine("cancelled by session after {0} events, {1:F2} ms after the request", n_tokens, ms);
            }
            other.Join();
        }
    }

    static int Main(string[] args)
    {
        if (args.Length != 1)
        {
            Console.Error.WriteLine("usage: cancel MODEL");
            return 2;
        }
        try
        {
            using (Engine engine = Engine.Load(args[0]))
            {
                ByToken(engine);
                BySession(engine);
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
