// Ranks texts by how like they are to a query: by the cosine of their embeddings, the likest first.
// usage: embeddings MODEL QUERY TEXT...
using System;
using System.Globalization;
using System.Linq;
using Inlay;

static class Embeddings
{
    // The scalar product, since the vectors have length 1.
    static double Cosine(float[] a, float[] b) { return a.Zip(b, (x, y) => (double)x * y).Sum(); }

    static void Rank(Engine engine, string[] texts)
    {
        int[][] tokens = Array.ConvertAll(texts, text => engine.Tokenize(text));
        // A model that was not made for embeddings names no pooling: the mean is a good choice.
        float[][] vectors = engine.Embed(tokens, Pooling.Mean);
        var likeness = texts.Select((text, i) => new { Text = text, Cosine = Cosine(vectors[0], vectors[i]) }).Skip(1);
        foreach (var other in likeness.OrderByDescending(other => other.Cosine))
        {
            Console.WriteLine(other.Cosine.ToString("F4", CultureInfo.InvariantCulture) + "  " + other.Text);
        }
    }

    static int Main(string[] args)
    {
        if (args.Length < 3)
        {
            Console.Error.WriteLine("usage: embeddings MODEL QUERY TEXT...");
            return 2;
        }
        try
        {
            using (Engine engine = Engine.Load(args[0])) Rank(engine, args.Skip(1).ToArray());
            return 0;
        }
        catch (Exception problem)
        {
            Console.Error.WriteLine("embeddings: " + problem.Message);
            return 1;
        }
    }
}
