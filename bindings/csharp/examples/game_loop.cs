// A game's loop: 60 frames a second, while a character talks. A worker generates on a thread of its own, and each frame
// takes what has come; a frame never waits for the model. Prints how long frames took with and without it.
// usage: game_loop MODEL [SECONDS]
using System;
using System.Diagnostics;
using System.Globalization;
using System.Threading;
using Inlay;

static class GameLoop
{
    const int FramesASecond = 60;
    const double WorkSeconds = 0.004; // what the rest of the game takes of a frame
    const string Prompt = "Once upon a time";

    static int n_tokens, n_shown;

    static double Now { get { return Stopwatch.GetTimestamp() / (double)Stopwatch.Frequency; } }

    static void SleepUntil(double due)
    {
        int ms = (int)((due - Now) * 1e3) - 1;
        if (ms > 0) Thread.Sleep(ms);
        while (Now < due) Thread.SpinWait(20);
    }

    // Shows the words that came. One tale follows the other.
    static void Listen(Worker worker, Session character)
    {
        WorkerEvent next;
        while (worker.Poll(out next))
        {
            if (next.Failure != null) throw new InvalidOperationException("the character fell silent", next.Failure);
            if (next.Generated.Token >= 0) n_tokens++;
            n_shown += next.Generated.Text.Length;
            if (!next.IsLast) continue;
            character.Truncate(0);
            worker.Start(character, Prompt);
        }
    }

    // Runs frames at their times. A frame's time goes from when it was due to the end of its work.
    static void RunFrames(string what, int n, Action listen)
    {
        var took = new double[n];
        double begin = Now;
        for (int i = 0; i < n; i++)
        {
            double due = begin + (double)i / FramesASecond;
            SleepUntil(due);
            double start = Now;
            listen();
            while (Now - start < WorkSeconds) continue;
            took[i] = (Now - due) * 1e3;
        }
        Array.Sort(took);
        Console.WriteLine(string.Format(CultureInfo.InvariantCulture,
            "{0,-9} {1} frames, ms: p50 {2:F2} p99 {3:F2} max {4:F2}; {5} characters shown",
            what, n, took[n / 2], took[n * 99 / 100], took[n - 1], n_shown));
    }

    static void Run(string model, int n_frames)
    {
        // One thread computes: the others stay with the game.
        using (Engine engine = Engine.Load(model, new LoadOptions { Threads = 1 }))
        using (Session character = engine.CreateSession(new SessionOptions
               {
                   Sampler = new SamplerOptions { Temperature = 0.8f, Seed = 7 }, MaxTokens = 300
               }))
        {
            RunFrames("silent", n_frames, () => { });
            double start = Now;
            using (var worker = new Worker(engine))
            {
                worker.Start(character, Prompt);
                RunFrames("talking", n_frames, () => Listen(worker, character));
            }
            Console.WriteLine("{0} tokens, {1:F0} a second", n_tokens, n_tokens / (Now - start));
        }
    }

    static int Main(string[] args)
    {
        int seconds = 5;
        if (args.Length < 1 || args.Length > 2 || (args.Length == 2 && !int.TryParse(args[1], out seconds)) || seconds < 1)
        {
            Console.Error.WriteLine("usage: game_loop MODEL [SECONDS]");
            return 2;
        }
        try
        {
            Run(args[0], seconds * FramesASecond);
            return 0;
        }
        catch (Exception problem)
        {
            Console.Error.WriteLine("game_loop: " + problem.Message);
            return 1;
        }
    }
}
