using System;
using System.Collections.Generic;
using System.Globalization;
using System.Text;

namespace Inlay
{
    /// <summary>One message of a conversation.</summary>
    /// <remarks>A conversation with more than roles and texts (tools, images, a template's own variables) is written as JSON: see
    /// <see cref="Engine.GetChatTokens(string, string, ChatFlags)"/>.</remarks>
    public sealed class ChatMessage
    {
        /// <summary>A message of any role.</summary>
        public ChatMessage(string role, string content)
        {
            if (role == null) throw new ArgumentNullException(nameof(role));
            if (content == null) throw new ArgumentNullException(nameof(content));
            Role = role;
            Content = content;
        }

        /// <summary>Who says it: "system", "user", "assistant", or what else the model's template knows.</summary>
        public string Role { get; private set; }

        /// <summary>What is said. Control tokens in it are text.</summary>
        public string Content { get; private set; }

        /// <summary>What the model is told before the conversation.</summary>
        public static ChatMessage System(string content) { return new ChatMessage("system", content); }

        /// <summary>What the user says.</summary>
        public static ChatMessage User(string content) { return new ChatMessage("user", content); }

        /// <summary>What the model has said.</summary>
        public static ChatMessage Assistant(string content) { return new ChatMessage("assistant", content); }

        /// <summary>A conversation as the JSON array that <see cref="Engine.GetChatTokens(string, string, ChatFlags)"/> takes.</summary>
        public static string ToJson(IEnumerable<ChatMessage> messages)
        {
            if (messages == null) throw new ArgumentNullException(nameof(messages));
            var json = new StringBuilder("[");
            foreach (ChatMessage message in messages)
            {
                if (message == null) throw new ArgumentException("a message is null", nameof(messages));
                if (json.Length > 1) json.Append(',');
                json.Append("{\"role\":");
                Quote(json, message.Role);
                json.Append(",\"content\":");
                Quote(json, message.Content);
                json.Append('}');
            }
            return json.Append(']').ToString();
        }

        private static void Quote(StringBuilder json, string text)
        {
            json.Append('"');
            foreach (char c in text)
            {
                if (c == '"' || c == '\\') json.Append('\\').Append(c);
                else if (c < ' ') json.Append("\\u").Append(((int)c).ToString("x4", CultureInfo.InvariantCulture));
                else json.Append(c);
            }
            json.Append('"');
        }
    }
}
