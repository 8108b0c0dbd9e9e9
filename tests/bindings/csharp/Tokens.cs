// Prints the ids of the tokens that a model draws: each case alone, then all of them together, one token each a step.
// usage: Tokens LIBRARY MODEL DEVICE CASES     a line of CASES: name, temperature, seed, tokens at most, prompt; tabs between
using System;
using System.Collections.Generic;
using System.Globalization;
using System.IO;
using Inlay;

static class Tokens
{
    sealed class Case
    {
        internal string Name, Prompt;
        internal SessionOptions Options;
        internal List<int> Drawn = new List<int>();
    }

    static Case Parse(string line)
    {
        string[] columns = line.Split('\t');
        if (columns.Length != 5) throw new FormatException("a case has five columns: " + line);
        CultureInfo culture = CultureInfo.InvariantCulture;
        return new Case
        {
            Name = columns[0], Prompt = columns[4],
            Options = new SessionOptions
            {
                Sampler = new SamplerOptions { Temperature = float.Parse(columns[1], culture), Seed = ulong.Parse(columns[2], culture) },
                MaxTokens = int.Parse(columns[3], culture)
            }
        };
    }

    static Session Begin(Engine engine, Case c)
    {
        Session session = engine.CreateSession(c.Options);
        session.Prefill(c.Prompt);
        session.Tag = c;
        c.Drawn.Clear();
        return session;
    }

    static void Print(Case c)
    {
        Console.Write(c.Name);
        foreach (int token in c.Drawn) Console.Write(" " + token);
        Console.Write("\n");
    }

    static void DrawAlone(Engine engine, Case c)
    {
        using (Session session = engine.CreateSession(c.Options))
        {
            c.Drawn.Clear();
            foreach (Generated next in session.Generate(c.Prompt)) if (next.Token >= 0) c.Drawn.Add(next.Token);
        }
        Print(c);
    }

    static void DrawTogether(Engine engine, List<Case> cases)
    {
        var active = new Session[cases.Count];
        var events = new StepEvent[cases.Count];
        for (int i = 0; i < active.Length; i++) active[i] = Begin(engine, cases[i]);
        for (int n = active.Length; n > 0;)
        {
            Status status = engine.DecodeStep(active, n, events);
            if (status != Status.Ok) throw new InvalidOperationException("a session did not advance: " + status);
            int n_left = 0;
            for (int i = 0; i < n; i++)
            {
                if (events[i].Kind == EventKind.Token) ((Case)active[i].Tag).Drawn.Add(events[i].Token);
                if (events[i].FinishReason == FinishReason.None) active[n_left++] = active[i];
                else active[i].Dispose();
            }
            n = n_left;
        }
        foreach (Case c in cases) Print(c);
    }

    static int Main(string[] args)
    {
        DeviceKind device;
        if (args.Length != 4 || !Enum.TryParse(args[2], true, out device))
        {
            Console.Error.WriteLine("usage: Tokens LIBRARY MODEL cpu|cuda|reference CASES");
            return 2;
        }
        try { Run(args[0], args[1], device, args[3]); }
        catch (Exception problem)
        {
            Console.Error.WriteLine("Tokens: " + problem);
            return 1;
        }
        return 0;
    }

    static void Run(string library, string model, DeviceKind device, string file)
    {
        Library.Load(library);
        var cases = new List<Case>();
        foreach (string line in File.ReadAllLines(file)) cases.Add(Parse(line));
        using (Engine engine = Engine.Load(model, new LoadOptions { Device = device, ContextLength = 512, Threads = 2 }))
        {
            foreach (Case c in cases) DrawAlone(engine, c);
            Console.Write("together:\n");
            DrawTogether(engine, cases);
        }
    }
}
