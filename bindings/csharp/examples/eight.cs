// Eight sessions decoded together: every step reads the weights once and draws a token for each of them.
// usage: eight MODEL [TOKENS]
using System;
using System.Text;
using Inlay;

static class Eight
{
    static readonly string[] Prompts =
    {
        "Once upon a time", "The old fox said", "A small boat", "In the deep forest", "One winter morning", "The king asked",
        "Under the bridge", "Two friends found"
    };

    static void Write(Engine engine, int max_tokens)
    {
        var sessions = new Session[Prompts.Length];
        var events = new StepEvent[Prompts.Length];
        for (int i = 0; i < sessions.Length; i++)
        {
            sessions[i] = engine.CreateSession(new SessionOptions { MaxTokens = max_tokens });
            sessions[i].Tag = new StringBuilder(Prompts[i]);
            sessions[i].Prefill(Prompts[i]);
        }
        int n_active = sessions.Length, n_steps = 0;
        for (; n_active > 0; n_steps++)
        {
            Status status = engine.DecodeStep(sessions, n_active, events);
            if (status != Status.Ok) throw new InvalidOperationException("a session did not advance: " + status);
            n_active = KeepUnfinished(sessions, events, n_active);
        }
        Console.WriteLine("{0} sessions, {1} steps", sessions.Length, n_steps);
    }

    // A session that has finished leaves the batch; the others go on.
    static int KeepUnfinished(Session[] sessions, StepEvent[] events, int n_active)
    {
        int n_left = 0;
        for (int i = 0; i < n_active; i++)
        {
            var text = (StringBuilder)sessions[i].Tag;
            text.Append(events[i].Text);
            if (events[i].PendingTextBytes > 0) text.Append(sessions[i].TakeText());
            if (events[i].FinishReason == FinishReason.None)
            {
                sessions[n_left++] = sessions[i];
                continue;
            }
            Console.WriteLine("- " + text);
            sessions[i].Dispose();
        }
        return n_left;
    }

    static int Main(string[] args)
    {
        if (args.Length < 1 || args.Length > 2)
        {
            Console.Error.WriteLine("usage: eight MODEL [TOKENS]");
            return 2;
        }
        try
        {
            int max_tokens = args.Length > 1 ? int.Parse(args[1]) : 32;
            using (Engine engine = Engine.Load(args[0], new LoadOptions { MaxSessions = Prompts.Length })) Write(engine, max_tokens);
            return 0;
        }
        catch (Exception problem)
        {
            Console.Error.WriteLine("eight: " + problem.Message);
            return 1;
        }
    }
}
