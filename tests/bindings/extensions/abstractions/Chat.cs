// Requests and answers.
using System;
using System.Collections.Generic;
using System.Diagnostics.CodeAnalysis;
using System.Linq;
using System.Threading;
using System.Threading.Tasks;

namespace Microsoft.Extensions.AI
{
    public interface IChatClient : IDisposable
    {
        Task<ChatResponse> GetResponseAsync(IEnumerable<ChatMessage> messages, ChatOptions? options = null, CancellationToken cancellationToken = default);

        IAsyncEnumerable<ChatResponseUpdate> GetStreamingResponseAsync(IEnumerable<ChatMessage> messages, ChatOptions? options = null,
                                                                       CancellationToken cancellationToken = default);

        object? GetService(Type serviceType, object? serviceKey = null);
    }

    public static class ChatClientExtensions
    {
        public static TService GetService<TService>(this IChatClient client, object? serviceKey = null)
        {
            return client.GetService(typeof(TService), serviceKey) is TService service ? service : default!;
        }

        public static Task<ChatResponse> GetResponseAsync(this IChatClient client, string chatMessage, ChatOptions? options = null,
                                                          CancellationToken cancellationToken = default)
        {
            return client.GetResponseAsync(new[] { new ChatMessage(ChatRole.User, chatMessage) }, options, cancellationToken);
        }
    }

    public class ChatClientMetadata
    {
        public ChatClientMetadata(string? providerName = null, Uri? providerUri = null, string? defaultModelId = null)
        {
            ProviderName = providerName;
            ProviderUri = providerUri;
            DefaultModelId = defaultModelId;
        }

        public string? ProviderName { get; }

        public Uri? ProviderUri { get; }

        public string? DefaultModelId { get; }
    }

    public class ChatOptions
    {
        public string? ConversationId { get; set; }

        public string? Instructions { get; set; }

        public float? Temperature { get; set; }

        public int? MaxOutputTokens { get; set; }

        public float? TopP { get; set; }

        public int? TopK { get; set; }

        public float? FrequencyPenalty { get; set; }

        public float? PresencePenalty { get; set; }

        public long? Seed { get; set; }

        public ReasoningOptions? Reasoning { get; set; }

        public ChatResponseFormat? ResponseFormat { get; set; }

        public string? ModelId { get; set; }

        public IList<string>? StopSequences { get; set; }

        public bool? AllowMultipleToolCalls { get; set; }

        public ChatToolMode? ToolMode { get; set; }

        public IList<AITool>? Tools { get; set; }

        public ResponseContinuationToken? ContinuationToken { get; set; }

        public Func<IChatClient, object?>? RawRepresentationFactory { get; set; }

        public AdditionalPropertiesDictionary? AdditionalProperties { get; set; }
    }

    public class ChatMessage
    {
        private IList<AIContent>? _contents;

        public ChatMessage() { }

        public ChatMessage(ChatRole role, string? content) : this(role, content == null ? new List<AIContent>() : new List<AIContent> { new TextContent(content) }) { }

        public ChatMessage(ChatRole role, IList<AIContent>? contents)
        {
            Role = role;
            _contents = contents;
        }

        public ChatRole Role { get; set; } = ChatRole.User;

        [AllowNull]
        public IList<AIContent> Contents
        {
            get { return _contents ??= new List<AIContent>(); }
            set { _contents = value; }
        }

        public string Text { get { return string.Concat(Contents.OfType<TextContent>()); } }

        public string? MessageId { get; set; }

        public DateTimeOffset? CreatedAt { get; set; }

        public override string ToString() { return Text; }
    }

    public class ChatResponse
    {
        private IList<ChatMessage>? _messages;

        public ChatResponse() { }

        public ChatResponse(ChatMessage message) { Messages.Add(message); }

        [AllowNull]
        public IList<ChatMessage> Messages
        {
            get { return _messages ??= new List<ChatMessage>(); }
            set { _messages = value; }
        }

        public string Text { get { return string.Concat(Messages.Select(message => message.Text)); } }

        public string? ResponseId { get; set; }

        public string? ModelId { get; set; }

        public DateTimeOffset? CreatedAt { get; set; }

        public ChatFinishReason? FinishReason { get; set; }

        public UsageDetails? Usage { get; set; }

        public object? RawRepresentation { get; set; }
    }

    public class ChatResponseUpdate
    {
        private IList<AIContent>? _contents;

        public ChatResponseUpdate() { }

        public ChatResponseUpdate(ChatRole? role, IList<AIContent>? contents)
        {
            Role = role;
            _contents = contents;
        }

        public ChatRole? Role { get; set; }

        [AllowNull]
        public IList<AIContent> Contents
        {
            get { return _contents ??= new List<AIContent>(); }
            set { _contents = value; }
        }

        public string Text { get { return string.Concat(Contents.OfType<TextContent>()); } }

        public string? ResponseId { get; set; }

        public string? MessageId { get; set; }

        public string? ModelId { get; set; }

        public DateTimeOffset? CreatedAt { get; set; }

        public ChatFinishReason? FinishReason { get; set; }

        public object? RawRepresentation { get; set; }
    }

    public static class ChatResponseExtensions
    {
        /// <summary>Updates of one message; texts of one kind that follow each other become one.</summary>
        public static ChatResponse ToChatResponse(this IEnumerable<ChatResponseUpdate> updates)
        {
            var message = new ChatMessage(ChatRole.Assistant, new List<AIContent>());
            var response = new ChatResponse(message);
            foreach (ChatResponseUpdate update in updates)
            {
                response.ResponseId = update.ResponseId;
                response.ModelId = update.ModelId;
                response.CreatedAt = update.CreatedAt;
                if (update.FinishReason != null) response.FinishReason = update.FinishReason;
                message.MessageId = update.MessageId;
                foreach (AIContent content in update.Contents)
                {
                    AIContent? last = message.Contents.LastOrDefault();
                    if (content is UsageContent usage) response.Usage = usage.Details;
                    else if (content is TextContent text && last is TextContent said) said.Text += text.Text;
                    else if (content is TextReasoningContent more && last is TextReasoningContent thought) thought.Text += more.Text;
                    else if (content is TextContent begun) message.Contents.Add(new TextContent(begun.Text));
                    else if (content is TextReasoningContent first) message.Contents.Add(new TextReasoningContent(first.Text));
                    else message.Contents.Add(content);
                }
            }
            return response;
        }

        public static void AddMessages(this IList<ChatMessage> list, ChatResponse response)
        {
            foreach (ChatMessage message in response.Messages) list.Add(message);
        }
    }
}
