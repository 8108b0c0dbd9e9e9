// Continues a prompt, and streams the text as it is decoded.
// usage: complete MODEL [PROMPT [TOKENS]]
using System;
using Inlay;

static class Complete
{
    static int Main(string[] args)
    {
        if (args.Length < 1 || args.Length > 3)
        {
            Console.Error.WriteLine("usage: complete MODEL [PROMPT [TOKENS]]");
            return 2;
        }
        try
        {
            string prompt = args.Length > 1 ? args[1] : "Once upon a time";
            int max_tokens = args.Length > 2 ? int.Parse(args[2]) : 100;
            using (Engine engine = Engine.Load(args[0]))
            using (Session session = engine.CreateSession(new SessionOptions { MaxTokens = max_tokens }))
            {
                Console.Write(prompt);
                foreach (Generated next in session.Generate(prompt)) Console.Write(next.Text);
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
