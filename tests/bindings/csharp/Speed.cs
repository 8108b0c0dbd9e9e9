// How fast a program gets its tokens, by the ways that it has: decode steps, and asynchronous streams.
// usage: Speed MODEL [TOKENS] [THREADS] [TIMES]      prints for each way tokens/s, ms to the first piece, bytes allocated per token
using System;
using System.Collections.Generic;
using System.Diagnostics;
using System.Globalization;
using System.Linq;
using System.Threading.Tasks;
using Inlay;

static class Speed
{
    const string Prompt = "Once upon a time there was a small boat that went out to sea every morning";
    static int n_tokens = 128, n_times = 1;

    static GenerateOptions Options(int i) => new() { MaxTokens = n_tokens, Sampler = new SamplerOptions { Temperature = 0.8f, Seed = (ulong)i } };

    static SessionOptions Endless(int i) => new()
    {
        Flags = SessionFlags.IgnoreEndOfGeneration, MaxTokens = n_tokens, Sampler = new SamplerOptions { Temperature = 0.8f, Seed = (ulong)i }
    };

    static (int tokens, double first) Steps(Engine engine, int n)
    {
        var watch = Stopwatch.StartNew();
        Session[] sessions = Enumerable.Range(0, n).Select(i => engine.CreateSession(Endless(i))).ToArray();
        foreach (Session session in sessions) session.Prefill(Prompt);
        var events = new StepEvent[n];
        double first = 0;
        int tokens = 0, length = 0;
        for (int i = 0; i < n_tokens; i++)
        {
            engine.DecodeStep(sessions, events);
            foreach (StepEvent step in events) length += step.Text.Length;
            if (i == 0) first = watch.Elapsed.TotalMilliseconds;
            tokens += n;
        }
        foreach (Session session in sessions) session.Dispose();
        return (tokens, first);
    }

    static async Task<(int tokens, double first)> Stream(Engine engine, int n)
    {
        var watch = Stopwatch.StartNew();
        async Task<(int, double)> Caller(int i)
        {
            int tokens = 0;
            double first = 0;
            using Session session = await engine.CreateSessionAsync(Endless(i));
            await foreach (Generated next in session.GenerateAsync(Prompt, Options(i)))
            {
                if (tokens++ == 0) first = watch.Elapsed.TotalMilliseconds;
            }
            return (tokens, first);
        }
        (int tokens, double first)[] all = await Task.WhenAll(Enumerable.Range(0, n).Select(i => Task.Run(() => Caller(i))));
        return (all.Sum(a => a.tokens), all.Average(a => a.first));
    }

    static async Task<double> Measure(string way, int n, Func<Task<(int, double)>> run)
    {
        long before = GC.GetTotalAllocatedBytes(true);
        var watch = Stopwatch.StartNew();
        int tokens = 0;
        double first = 0;
        for (int i = 0; i < n_times; i++)
        {
            (int n_drawn, double ms) = await run();
            tokens += n_drawn;
            first += ms / n_times;
        }
        double seconds = watch.Elapsed.TotalSeconds, bytes = (GC.GetTotalAllocatedBytes(true) - before) / (double)tokens;
        Console.WriteLine(string.Format(CultureInfo.InvariantCulture, "{0,-14} {1,2} callers {2,9:F1} tokens/s {3,8:F1} ms to the first {4,7:F0} bytes/token",
                                        way, n, tokens / seconds, first, bytes));
        return tokens / seconds;
    }

    static async Task<int> Main(string[] args)
    {
        if (args.Length is < 1 or > 4)
        {
            Console.Error.WriteLine("usage: Speed MODEL [TOKENS] [THREADS] [TIMES]");
            return 2;
        }
        if (args.Length > 1) n_tokens = int.Parse(args[1], CultureInfo.InvariantCulture);
        if (args.Length > 3) n_times = int.Parse(args[3], CultureInfo.InvariantCulture);
        int threads = args.Length > 2 ? int.Parse(args[2], CultureInfo.InvariantCulture) : 2;
        await using Engine engine = Engine.Load(args[0], new LoadOptions { Device = DeviceKind.Cpu, Threads = threads });
        foreach (int n in new[] { 1, 8 })
        {
            Steps(engine, n);
            await Stream(engine, n);
            double a = await Measure("DecodeStep", n, () => Task.FromResult(Steps(engine, n)));
            double b = await Measure("await foreach", n, () => Stream(engine, n));
            double c = await Measure("await foreach", n, () => Stream(engine, n));
            double d = await Measure("DecodeStep", n, () => Task.FromResult(Steps(engine, n)));
            Console.WriteLine(string.Format(CultureInfo.InvariantCulture, "await foreach / DecodeStep, {0} callers: {1:F3}", n, (b + c) / (a + d)));
        }
        return 0;
    }
}
