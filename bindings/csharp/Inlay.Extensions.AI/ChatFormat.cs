using System.Text.Json;

namespace Inlay.Extensions.AI
{
    /// <summary>How a model writes reasoning and calls, as its chat template has it.</summary>
    internal sealed class ChatFormat
    {
        private ChatFormat(JsonElement format)
        {
            HasReasoning = format.GetProperty("reasoning").GetBoolean();
            HasCalls = format.GetProperty("calls").GetBoolean();
            TakesText = format.GetProperty("arguments").GetString() == "text";
        }

        internal bool HasReasoning { get; }

        internal bool HasCalls { get; }

        /// <summary>The template takes the arguments of earlier calls as text.</summary>
        internal bool TakesText { get; }

        /// <param name="engine">The model.</param>
        /// <param name="template">The template; null is the model's own.</param>
        internal static ChatFormat Of(Engine engine, string? template)
        {
            string format = engine.GetChatFormat(new MessageOptions { ChatTemplate = template });
            using (JsonDocument json = JsonDocument.Parse(format)) return new ChatFormat(json.RootElement);
        }
    }
}
