// Compiled with checks of nullable references as errors: what the binding takes and gives is as its names say. Then run: it must do
// what it was compiled to do.
// usage: Annotations MODEL
using System;
using System.Collections.Generic;
using Inlay;

static class Annotations
{
    /// <summary>Everything that may be left out or null.</summary>
    static void NullIsTaken(string model)
    {
        Library.Load(null);
        var options = new LoadOptions { ContextLength = 256, PreTokenizer = null, Log = null, Progress = null };
        Engine.PlanMemory(model, null);
        Engine.Explain(model, out int devices, null);
        using Engine engine = Engine.Load(model, options);
        var plain = new SessionOptions { Sampler = new SamplerOptions { Bias = null }, Stop = null, StopTokens = null };
        using Session first = engine.CreateSession(null), second = engine.CreateSession(plain);
        first.Tag = null;
        foreach (Generated next in first.Generate("Once", new GenerateOptions { Sampler = null, Stop = null }))
        {
            if (next.Text.Length + next.Top.Count > 1000) throw new InvalidOperationException("a token of a thousand characters");
        }
        using var worker = new Worker(engine);
        worker.Start(second, "Once", null);
    }

    /// <summary>What is never null is used at once; what may be null is looked at first.</summary>
    static int ResultsAreUsed(string model)
    {
        using Engine engine = Engine.Load(model, new LoadOptions { ContextLength = 64 });
        using Session session = engine.CreateSession(new SessionOptions { MaxTokens = 3 });
        session.Tag = "a tag";
        int sum = Library.Path.Length + Library.Version.Length + Library.Devices[0].Name.Length + engine.Plan.Length;
        sum += engine.Tokenize("Once").Length + engine.Detokenize(new[] { 1 }).Length + engine.GetMetadataKey(0).Length;
        foreach (KeyValuePair<string, string> entry in engine.Metadata) sum += entry.Key.Length + entry.Value.Length;
        sum += session.Engine.Handle.IsClosed ? 1 : 0;
        sum += session.Tag is string tag ? tag.Length : 0;
        using var worker = new Worker(engine);
        worker.Start(session, "Once upon");
        for (bool is_last = false; !is_last;)
        {
            if (!worker.Poll(out WorkerEvent next)) continue;
            is_last = next.IsLast;
            if (next.Generated != null) sum += next.Generated.Text.Length;
            if (next.Failure != null) throw next.Failure;
        }
        return sum;
    }

#if WRONG
    // The compiler must refuse each line.
    static int Wrong(Engine engine, Session session, WorkerEvent next, LoadOptions options)
    {
        engine.Tokenize(null);
        session.SetSampler(null);
        int n = session.Tag.GetHashCode();
        n += next.Generated.Token;
        n += next.Failure.Message.Length;
        n += options.PreTokenizer.Length;
        return n;
    }
#endif

    static int Main(string[] args)
    {
        NullIsTaken(args[0]);
        if (ResultsAreUsed(args[0]) < 100) return 1;
        Console.WriteLine("null where it may be, and nowhere else");
        return 0;
    }
}
