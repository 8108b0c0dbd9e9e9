// Continues a prompt and writes the text as it is decoded.
// usage: complete MODEL PROMPT [TOKENS]
using System;
using Inlay;

static class Complete
{
    static int Main(string[] args)
    {
        if (args.Length < 2)
        {
            Console.Error.WriteLine("usage: complete MODEL PROMPT [TOKENS]");
            return 2;
        }
        try
        {
            int max_tokens = args.Length > 2 ? int.Parse(args[2]) : 64;
            using (Engine engine = Engine.Load(args[0]))
            using (Session session = engine.CreateSession(new SessionOptions { MaxTokens = max_tokens }))
            {
                Console.Write(args[1]);
                foreach (Generated next in session.Generate(args[1])) Console.Write(next.Text);
                Console.WriteLine();
            }
            return 0;
        }
        catch (Exception problem)
        {
            Console.Error.WriteLine("complete: " + problem.Message);
            return 1;
        }
    }
}
