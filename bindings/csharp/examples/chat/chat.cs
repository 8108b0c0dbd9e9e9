// A conversation on the console: each line is a turn, and the answer is written as it is decoded. Ctrl-C ends an answer, Ctrl-D the
// conversation. The model's file must have a chat template.
// usage: chat MODEL [SYSTEM [TOKENS]]      SYSTEM: what the model is told before; TOKENS: the longest answer (256)
using System;
using System.Linq;
using System.Threading;
using System.Threading.Tasks;
using Inlay;

static class Program
{
    private static volatile CancellationTokenSource s_answering; // null between answers

    // Ends the answer under way. Between answers it ends the program, as everywhere.
    static void OnInterrupt(object sender, ConsoleCancelEventArgs interrupt)
    {
        CancellationTokenSource answering = s_answering;
        interrupt.Cancel = answering != null;
        answering?.Cancel();
    }

    static async Task Answer(Chat chat, string line, CancellationToken cancellation)
    {
        int dropped = chat.DroppedTurns;
        try
        {
            await foreach (Generated next in chat.AskAsync(line, cancellation))
            {
                Console.Write(next.Text);
                if (next.FinishReason == FinishReason.None) continue;
                Console.Error.WriteLine("({0} of {1} tokens were new, {2} drawn, {3})", next.PromptTokens,
                                        chat.ReusedTokens + next.PromptTokens, next.GeneratedTokens, next.FinishReason);
            }
            Console.WriteLine();
        }
        catch (OperationCanceledException)
        {
            Console.WriteLine();
            Console.Error.WriteLine("(interrupted)");
        }
        catch (InlayException problem) when (problem.Status == Status.ContextFull) { Console.Error.WriteLine(problem.Message); }
        if (dropped == 0 && chat.DroppedTurns > 0)
        {
            Console.Error.WriteLine("(the context is full: from here on the oldest turns are forgotten)");
        }
    }

    static async Task<int> Main(string[] args)
    {
        if (args.Length < 1 || args.Length > 3)
        {
            Console.Error.WriteLine("usage: chat MODEL [SYSTEM [TOKENS]]");
            return 2;
        }
        Console.CancelKeyPress += OnInterrupt;
        try
        {
            var sampler = new SamplerOptions { Temperature = 0.8f, TopP = 0.95f, Seed = 1 }; // another seed, other answers
            var options = new SessionOptions { Sampler = sampler, MaxTokens = args.Length > 2 ? int.Parse(args[2]) : 256 };
            if (options.MaxTokens < 1) throw new ArgumentException("TOKENS must be 1 or more");
            await using Engine engine = Engine.Load(args[0], new LoadOptions { MaxSessions = 1 });
            using Chat chat = engine.CreateChat(options, args.Skip(1).Take(1).Select(ChatMessage.System));
            for (;;)
            {
                if (!Console.IsInputRedirected) Console.Write("> ");
                string line = Console.ReadLine();
                if (line == null) return 0;
                if (line.Length == 0) continue;
                s_answering = new CancellationTokenSource();
                try { await Answer(chat, line, s_answering.Token); }
                finally { s_answering = null; }
            }
        }
        catch (Exception problem)
        {
            Console.Error.WriteLine("chat: " + problem.Message);
            return 1;
        }
    }
}
