// A conversation on the console: each line is a turn, and the answer is written as it is decoded. Ctrl-C ends an answer, Ctrl-D the
// conversation. The model's file must have a chat template.
// usage: chat MODEL [SYSTEM [TOKENS]]      SYSTEM: what the model is told before; TOKENS: the longest answer (256)
using System;
using System.Collections.Generic;
using System.Text;
using System.Threading;
using System.Threading.Tasks;
using Inlay;

// The messages, and the session that holds their tokens: a turn runs only the tokens that the session does not hold yet.
sealed class Conversation : IDisposable
{
    private readonly Engine _engine;
    private readonly Session _session;
    private readonly int _context, _answerTokens, _firstTurn;
    private readonly List<int> _held = new(); // what the session's sequence is known to begin with
    private List<ChatMessage> _messages = new();
    private bool _toldOfDrops;

    internal Conversation(Engine engine, string system, int answerTokens)
    {
        _engine = engine;
        _session = engine.CreateSession(new SessionOptions
        {
            Sampler = new SamplerOptions { Temperature = 0.8f, TopP = 0.95f, Seed = 1 } // another seed, other answers
        });
        _context = _session.Info.ContextLength;
        _answerTokens = Math.Min(answerTokens, _context / 2);
        if (system.Length > 0) _messages.Add(ChatMessage.System(system));
        _firstTurn = _messages.Count;
    }

    public void Dispose() { _session.Dispose(); }

    internal async Task Answer(string line, CancellationToken cancellation)
    {
        _messages.Add(ChatMessage.User(line));
        int[] prompt = TokensThatFit();
        if (prompt == null)
        {
            _messages.RemoveAt(_messages.Count - 1);
            Console.Error.WriteLine("(this line is too long for the model's context of {0} tokens)", _context);
            return;
        }
        int n_held = KeepCommonPart(prompt);
        var answer = new StringBuilder();
        Generated last = null;
        var options = new GenerateOptions { MaxTokens = _answerTokens };
        try
        {
            await foreach (Generated next in _session.GenerateAsync(prompt[n_held..], options, cancellation))
            {
                if (_held.Count < prompt.Length) _held.AddRange(prompt[n_held..]); // the prompt was run
                if (next.Token >= 0) _held.Add(next.Token);
                answer.Append(next.Text);
                last = next;
                Console.Write(next.Text);
                if (cancellation.IsCancellationRequested) break;
            }
        }
        catch (OperationCanceledException) { } // what was answered until then stays
        Console.WriteLine();
        if (answer.Length > 0) _messages.Add(ChatMessage.Assistant(answer.ToString()));
        else _messages.RemoveAt(_messages.Count - 1); // as if the line had not been said
        if (cancellation.IsCancellationRequested) Console.Error.WriteLine("(interrupted)");
        else if (last != null)
        {
            Console.Error.WriteLine("({0} of {1} tokens were new, {2} drawn, {3})", prompt.Length - n_held, prompt.Length,
                                    last.GeneratedTokens, last.FinishReason);
        }
    }

    // The conversation as tokens that leave room for the answer. Where they do not, the oldest turns are dropped, until half of the
    // room is free: what is dropped changes all that follows it, which then runs again, and this should be rare.
    private int[] TokensThatFit()
    {
        int room = _context - _answerTokens;
        int[] tokens = _engine.GetChatTokens(_messages);
        if (tokens.Length <= room) return tokens;
        var kept = new List<ChatMessage>(_messages);
        while (tokens.Length > room / 2 && kept.Count > _firstTurn + 1) // the line that is to be answered stays
        {
            kept.RemoveRange(_firstTurn, 2); // a line and its answer; the system's message stays
            tokens = _engine.GetChatTokens(kept);
        }
        if (tokens.Length > room) return null;
        if (!_toldOfDrops) Console.Error.WriteLine("(the context is full: from here on the oldest turns are forgotten)");
        _toldOfDrops = true;
        _messages = kept;
        return tokens;
    }

    // Cuts the session back to what it has in common with the prompt, but for a token, since a prompt must have one.
    private int KeepCommonPart(int[] prompt)
    {
        int n_most = Math.Min(Math.Min(_held.Count, _session.Info.Tokens), prompt.Length - 1), n = 0;
        while (n < n_most && _held[n] == prompt[n]) n++;
        _session.Truncate(n);
        _held.RemoveRange(n, _held.Count - n);
        return n;
    }
}

static class Chat
{
    private static volatile CancellationTokenSource s_answering; // null between answers

    // Ends the answer under way. Between answers it ends the program, as everywhere.
    static void OnInterrupt(object sender, ConsoleCancelEventArgs interrupt)
    {
        CancellationTokenSource answering = s_answering;
        if (answering == null) return;
        interrupt.Cancel = true;
        answering.Cancel();
    }

    static async Task Converse(Engine engine, string system, int answerTokens)
    {
        using var conversation = new Conversation(engine, system, answerTokens);
        for (;;)
        {
            if (!Console.IsInputRedirected) Console.Write("> ");
            string line = Console.ReadLine();
            if (line == null) return;
            if (line.Length == 0) continue;
            var answering = new CancellationTokenSource();
            s_answering = answering;
            try { await conversation.Answer(line, answering.Token); }
            finally { s_answering = null; }
        }
    }

    static async Task<int> Main(string[] args)
    {
        if (args.Length < 1 || args.Length > 3)
        {
            Console.Error.WriteLine("usage: chat MODEL [SYSTEM [TOKENS]]");
            return 2;
        }
        try
        {
            string system = args.Length > 1 ? args[1] : "";
            int answerTokens = args.Length > 2 ? int.Parse(args[2]) : 256;
            if (answerTokens < 1) throw new ArgumentException("TOKENS must be 1 or more");
            Console.CancelKeyPress += OnInterrupt;
            await using Engine engine = Engine.Load(args[0], new LoadOptions { MaxSessions = 1 });
            await Converse(engine, system, answerTokens);
            return 0;
        }
        catch (Exception problem)
        {
            Console.Error.WriteLine("chat: " + problem.Message);
            return 1;
        }
    }
}
