using System;
using Microsoft.Extensions.AI;

namespace Inlay.Extensions.AI
{
    /// <summary>The one place that refuses what a request may ask for and the engine cannot do.</summary>
    internal static class Unsupported
    {
        /// <exception cref="NotSupportedException">The options ask for something that would not be obeyed.</exception>
        internal static void Check(ChatOptions options, string? modelId)
        {
            if (options.ToolMode is RequiredChatToolMode && (options.Tools == null || options.Tools.Count == 0))
            {
                throw Refused("a required tool call (ChatOptions.ToolMode) without tools");
            }
            if (options.Reasoning != null && (options.Reasoning.Effort != null || options.Reasoning.Output != null))
            {
                throw Refused("control of reasoning (ChatOptions.Reasoning)");
            }
            if (options.ConversationId != null)
            {
                throw Refused("a conversation that is named instead of given (ChatOptions.ConversationId): give all messages, the engine "
                              + "finds what it has computed already");
            }
            if (options.ContinuationToken != null) throw Refused("background responses (ChatOptions.ContinuationToken)");
            Model(options.ModelId, modelId);
        }

        /// <exception cref="NotSupportedException">The format has no calls.</exception>
        internal static void Check(ChatFormat format, bool hasTools)
        {
            if (hasTools && !format.HasCalls)
            {
                throw Refused("tools (ChatOptions.Tools) with this model: its chat template writes no calls in a format that is known");
            }
        }

        internal static NotSupportedException Tool(AITool tool)
        {
            return Refused("tools of type " + tool.GetType().Name + " (ChatOptions.Tools), only functions");
        }

        internal static NotSupportedException Content(AIContent content)
        {
            return Refused("message content of type " + content.GetType().Name + ", only text, reasoning, calls of functions and their results");
        }

        internal static NotSupportedException TwoConstraints()
        {
            return Refused("GenerateOptions.Constraint beside ChatOptions.Tools or ChatOptions.ResponseFormat");
        }

        /// <exception cref="NotSupportedException">The options ask for something that would not be obeyed.</exception>
        internal static void Check(EmbeddingGenerationOptions options, string? modelId, int dimensions)
        {
            if (options.Dimensions != null && options.Dimensions != dimensions)
            {
                throw Refused("embeddings of " + options.Dimensions + " dimensions, only of the model's " + dimensions);
            }
            Model(options.ModelId, modelId);
        }

        private static void Model(string? asked, string? modelId)
        {
            if (asked != null && asked != modelId) throw Refused("another model than the one that is loaded ('" + asked + "', not '" + modelId + "')");
        }

        private static NotSupportedException Refused(string what) { return new NotSupportedException("Inlay does not support " + what + "."); }
    }
}
