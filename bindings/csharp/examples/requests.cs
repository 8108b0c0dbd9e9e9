// A loop of frames that hands prompts over and collects their texts: the engine computes for at most 4 ms in each frame.
// usage: requests MODEL [TOKENS [PROMPT...]]      at most eight; without any, three of its own
using System;
using System.Linq;
using System.Text;
using System.Threading;
using Inlay;

static class Requests
{
    const int MaxPrompts = 8;
    static readonly TimeSpan Budget = TimeSpan.FromMilliseconds(4), Frame = TimeSpan.FromMilliseconds(1000.0 / 60);
    static readonly string[] OwnPrompts = { "Once upon a time", "The old fox said", "In a small house" };

    // The texts, each with its prompt.
    static StringBuilder[] Write(Engine engine, int max_tokens, string[] prompts)
    {
        StringBuilder[] texts = prompts.Select(prompt => new StringBuilder(prompt)).ToArray();
        var options = new SessionOptions { MaxTokens = max_tokens };
        var events = new RequestEvents();
        using (RequestQueue queue = engine.CreateQueue())
        {
            // From any thread, at any time: nothing is computed here.
            for (int i = 0; i < prompts.Length; i++) queue.Submit(new Request(prompts[i]) { Options = options, User = (ulong)i });
            for (int n_left = prompts.Length; n_left > 0;)
            {
                DateTime frame_ends = DateTime.UtcNow + Frame;
                engine.Run(Budget);
                queue.Poll(events);
                n_left -= Collect(events, texts);
                TimeSpan rest = frame_ends - DateTime.UtcNow;
                if (rest > TimeSpan.Zero) Thread.Sleep(rest); // a game draws its picture here
            }
        }
        return texts;
    }

    // What has come since the last frame; how many requests have ended.
    static int Collect(RequestEvents events, StringBuilder[] texts)
    {
        int n_ended = 0;
        foreach (RequestEvent next in events)
        {
            texts[next.User].Append(next.Text);
            if (next.Failure != null) throw next.Failure;
            if (next.IsEnd) n_ended++;
        }
        return n_ended;
    }

    static int Main(string[] args)
    {
        int max_tokens = 30;
        if (args.Length < 1 || args.Length > 2 + MaxPrompts || (args.Length > 1 && (!int.TryParse(args[1], out max_tokens) || max_tokens < 1)))
        {
            Console.Error.WriteLine("usage: requests MODEL [TOKENS [PROMPT...]] (at most 8)");
            return 2;
        }
        try
        {
            using (Engine engine = Engine.Load(args[0]))
            {
                foreach (StringBuilder text in Write(engine, max_tokens, args.Length > 2 ? args.Skip(2).ToArray() : OwnPrompts)) Console.WriteLine(text);
            }
            return 0;
        }
        catch (Exception problem)
        {
            Console.Error.WriteLine("requests: " + problem.Message);
            return 1;
        }
    }
}
