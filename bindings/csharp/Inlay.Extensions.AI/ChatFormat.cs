using System.Text.Json;

namespace Inlay.Extensions.AI
{
    /// <summary>How a model writes reasoning and calls, as its chat template has it.</summary>
    internal sealed class ChatFormat
    {
        private ChatFormat(JsonElement format)
        {
            Name = format.GetProperty("name").GetString()!;
            HasReasoning = format.GetProperty("reasoning").GetBoolean();
            HasCalls = format.GetProperty("calls").GetBoolean();
            TakesText = format.GetProperty("arguments").GetString() == "text";
        }

        private string Name { get; }

        internal bool HasReasoning { get; }

        internal bool HasCalls { get; }

        /// <summary>The template takes the arguments of earlier calls as text.</summary>
        internal bool TakesText { get; }

        /// <summary>It is also that of the model's own template, by which constraints go.</summary>
        internal bool IsModels { get; private set; }

        /// <param name="engine">The model.</param>
        /// <param name="template">The template; null is the model's own.</param>
        internal static ChatFormat Of(Engine engine, string? template)
        {
            ChatFormat format = Read(engine.GetChatFormat(new MessageOptions { ChatTemplate = template })), own = Read(engine.GetChatFormat());
            format.IsModels = format.Name == own.Name && format.HasReasoning == own.HasReasoning;
            return format;
        }

        private static ChatFormat Read(string format)
        {
            using (JsonDocument json = JsonDocument.Parse(format)) return new ChatFormat(json.RootElement);
        }
    }
}
