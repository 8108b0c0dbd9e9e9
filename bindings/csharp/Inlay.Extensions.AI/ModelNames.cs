namespace Inlay.Extensions.AI
{
    /// <summary>What clients and generators call themselves and their model.</summary>
    internal static class ModelNames
    {
        internal const string Provider = "inlay";

        /// <summary>The name in the model's file, null if it has none.</summary>
        internal static string? Of(Engine engine)
        {
            try { return engine.GetMetadata("general.name"); }
            catch (InlayException none) when (none.Status == Status.NotFound) { return null; }
        }
    }
}
