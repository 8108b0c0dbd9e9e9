// Continues eight prompts at once: every step reads the weights once and draws a token for each of them.
// usage: eight MODEL [TOKENS [PROMPT...]]      without a prompt, eight of its own
using System;
using System.Linq;
using System.Text;
using Inlay;

static class Eight
{
    static readonly string[] OwnPrompts =
    {
        "Once upon a time", "The old fox said", "In a small house", "One cold winter day,", "The queen smiled", "A little boat",
        "Deep in the forest", "The bear woke up"
    };

    // The texts, each with its prompt.
    static StringBuilder[] Write(Engine engine, int max_tokens, string[] prompts)
    {
        var sessions = new Session[prompts.Length];
        var texts = new StringBuilder[prompts.Length];
        var events = new StepEvent[prompts.Length];
        for (int i = 0; i < sessions.Length; i++)
        {
            sessions[i] = engine.CreateSession(new SessionOptions { MaxTokens = max_tokens });
            sessions[i].Tag = texts[i] = new StringBuilder(prompts[i]);
            sessions[i].Prefill(prompts[i]);
        }
        for (int n_active = sessions.Length; n_active > 0;)
        {
            Status status = engine.DecodeStep(sessions, n_active, events);
            if (status != Status.Ok) throw new InvalidOperationException("a session did not advance: " + status);
            n_active = KeepUnfinished(sessions, events, n_active);
        }
        return texts;
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
            if (events[i].FinishReason == FinishReason.None) sessions[n_left++] = sessions[i];
            else sessions[i].Dispose();
        }
        return n_left;
    }

    static int Main(string[] args)
    {
        if (args.Length < 1)
        {
            Console.Error.WriteLine("usage: eight MODEL [TOKENS [PROMPT...]]");
            return 2;
        }
        try
        {
            int max_tokens = args.Length > 1 ? int.Parse(args[1]) : 30;
            string[] prompts = args.Length > 2 ? args.Skip(2).ToArray() : OwnPrompts;
            using (Engine engine = Engine.Load(args[0], new LoadOptions { MaxSessions = prompts.Length }))
            {
                foreach (StringBuilder text in Write(engine, max_tokens, prompts)) Console.WriteLine(text);
            }
            return 0;
        }
        catch (Exception problem)
        {
            Console.Error.WriteLine("eight: " + problem.Message);
            return 1;
        }
    }
}
