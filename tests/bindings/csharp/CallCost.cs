// Prints what a call costs, in nanoseconds: the median of blocks of calls, or of single ones for decode_step.
// usage: CallCost LIBRARY MODEL
using System;
using System.Diagnostics;
using System.Globalization;
using Inlay;

static class CallCost
{
    const int Blocks = 100;
    const int Steps = 500;

    static void PrintMedian(string name, long[] ticks, int calls)
    {
        Array.Sort(ticks);
        double ns = ticks[ticks.Length / 2] * 1e9 / Stopwatch.Frequency / calls;
        Console.Write(string.Format(CultureInfo.InvariantCulture, "{0} {1:F1}\n", name, ns));
    }

    static void MeasureAbiVersion()
    {
        var ticks = new long[Blocks];
        uint sum = 0;
        for (int block = 0; block < Blocks; block++)
        {
            long start = Stopwatch.GetTimestamp();
            for (int i = 0; i < 10000; i++) sum += Library.AbiVersion;
            ticks[block] = Stopwatch.GetTimestamp() - start;
        }
        if (sum == 0) throw new InvalidOperationException("no version");
        PrintMedian("abi_version", ticks, 10000);
    }

    static void MeasureGetInfo(Session session)
    {
        var ticks = new long[Blocks];
        int sum = 0;
        for (int block = 0; block < Blocks; block++)
        {
            long start = Stopwatch.GetTimestamp();
            for (int i = 0; i < 1000; i++) sum += session.Info.Tokens;
            ticks[block] = Stopwatch.GetTimestamp() - start;
        }
        if (sum == 0) throw new InvalidOperationException("no tokens");
        PrintMedian("session_get_info", ticks, 1000);
    }

    static void MeasureDecodeStep(Engine engine, Session session)
    {
        var ticks = new long[Steps];
        var sessions = new[] { session };
        var events = new StepEvent[1];
        for (int i = 0; i < Steps; i++)
        {
            long start = Stopwatch.GetTimestamp();
            Status status = engine.DecodeStep(sessions, events);
            ticks[i] = Stopwatch.GetTimestamp() - start;
            if (status != Status.Ok) throw new InvalidOperationException("cannot decode: " + status);
        }
        PrintMedian("decode_step", ticks, 1);
    }

    static int Main(string[] args)
    {
        if (args.Length != 2)
        {
            Console.Error.WriteLine("usage: CallCost LIBRARY MODEL");
            return 2;
        }
        Library.Load(args[0]);
        using (Engine engine = Engine.Load(args[1], new LoadOptions { Device = DeviceKind.Cpu, ContextLength = 512, Threads = 1 }))
        using (Session session = engine.CreateSession(new SessionOptions { Flags = SessionFlags.IgnoreEndOfGeneration }))
        {
            session.Prefill("Once");
            MeasureAbiVersion();
            MeasureGetInfo(session);
            MeasureDecodeStep(engine, session);
        }
        return 0;
    }
}
