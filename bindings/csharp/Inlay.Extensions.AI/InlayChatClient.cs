using System;
using System.Collections.Generic;
using System.Runtime.CompilerServices;
using System.Text;
using System.Threading;
using System.Threading.Tasks;
using Microsoft.Extensions.AI;

namespace Inlay.Extensions.AI;

using ChatMessage = Microsoft.Extensions.AI.ChatMessage;

/// <summary>Chats with the model of an engine. Any thread may use it, and many at a time: all answers share each decode step.</summary>
/// <remarks>
/// Conversations stay in sessions between their turns, and a request goes on in the one that begins as it does: only what is new is
/// computed. The client itself has no state that a caller could notice, but for the time that a turn takes.
/// Without a temperature the likeliest token is taken; with one and without a seed each answer is drawn anew.
/// <see cref="ChatOptions.AdditionalProperties"/> takes the numbers <c>min_p</c> and <c>repetition_penalty</c>;
/// <see cref="ChatOptions.RawRepresentationFactory"/> may return a <see cref="GenerateOptions"/>, in which what the options set is set.
/// What the engine cannot do is a <see cref="NotSupportedException"/>.
/// </remarks>
public sealed class InlayChatClient : IChatClient
{
    private readonly Engine _engine;
    private readonly bool _ownsEngine;
    private readonly string? _template;
    private readonly SessionPool _pool;
    private readonly ChatClientMetadata _metadata;

    /// <summary>Makes a client of an engine that has a tokenizer.</summary>
    public InlayChatClient(Engine engine, InlayChatClientOptions? options = null)
    {
        ArgumentNullException.ThrowIfNull(engine);
        options ??= new InlayChatClientOptions();
        if (options.KeptConversations < 0) throw new ArgumentOutOfRangeException(nameof(options), "KeptConversations is negative");
        if (options.MaxWaiting < 0) throw new ArgumentOutOfRangeException(nameof(options), "MaxWaiting is negative");
        _engine = engine;
        _ownsEngine = options.OwnsEngine;
        _template = options.ChatTemplate;
        _pool = new SessionPool(engine, options.KeptConversations, options.MaxWaiting);
        _metadata = new ChatClientMetadata(ModelNames.Provider, null, options.ModelId ?? ModelNames.Of(engine));
    }

    /// <inheritdoc/>
    /// <exception cref="NotSupportedException">The request asks for what the engine cannot do.</exception>
    /// <exception cref="InlayException">Status ContextFull: the messages do not fit. Unsupported: there is no chat template.</exception>
    /// <exception cref="InvalidOperationException">Too many requests wait for a session already.</exception>
    /// <exception cref="OperationCanceledException">The token was cancelled, or the client was disposed.</exception>
    public async Task<ChatResponse> GetResponseAsync(IEnumerable<ChatMessage> messages, ChatOptions? options = null,
                                                     CancellationToken cancellationToken = default)
    {
        ArgumentNullException.ThrowIfNull(messages);
        ChatTurn turn = await BeginAsync(messages, options, cancellationToken).ConfigureAwait(false);
        await using (turn.ConfigureAwait(false))
        {
            var text = new StringBuilder();
            for (;;)
            {
                Generated next = await turn.NextAsync().ConfigureAwait(false)
                    ?? throw new InvalidOperationException("the generation ended without a reason");
                text.Append(next.Text);
                if (ChatTurn.Reason(next) is not { } reason) continue;
                var message = new ChatMessage(ChatRole.Assistant, text.ToString()) { MessageId = turn.Id, CreatedAt = turn.CreatedAt };
                return new ChatResponse(message)
                {
                    ResponseId = turn.Id,
                    ModelId = _metadata.DefaultModelId,
                    CreatedAt = turn.CreatedAt,
                    FinishReason = reason,
                    Usage = turn.Usage(next),
                    RawRepresentation = next
                };
            }
        }
    }

    /// <inheritdoc/>
    /// <remarks>The last update has the finish reason and the usage. Leaving the loop early ends the answer.</remarks>
    /// <exception cref="NotSupportedException">The request asks for what the engine cannot do.</exception>
    /// <exception cref="InlayException">Status ContextFull: the messages do not fit. Unsupported: there is no chat template.</exception>
    /// <exception cref="InvalidOperationException">Too many requests wait for a session already.</exception>
    /// <exception cref="OperationCanceledException">The token was cancelled, or the client was disposed.</exception>
    public IAsyncEnumerable<ChatResponseUpdate> GetStreamingResponseAsync(IEnumerable<ChatMessage> messages, ChatOptions? options = null,
                                                                          CancellationToken cancellationToken = default)
    {
        ArgumentNullException.ThrowIfNull(messages);
        return StreamAsync(messages, options, cancellationToken);
    }

    private async IAsyncEnumerable<ChatResponseUpdate> StreamAsync(IEnumerable<ChatMessage> messages, ChatOptions? options,
                                                                   [EnumeratorCancellation] CancellationToken cancellation)
    {
        ChatTurn turn = await BeginAsync(messages, options, cancellation).ConfigureAwait(false);
        await using (turn.ConfigureAwait(false))
        {
            while (await turn.NextAsync().ConfigureAwait(false) is { } next)
            {
                ChatFinishReason? reason = ChatTurn.Reason(next);
                if (next.Text.Length == 0 && reason == null) continue; // a part of a character, or of what may be a stop sequence
                var update = new ChatResponseUpdate(ChatRole.Assistant, next.Text.Length > 0 ? next.Text : null)
                {
                    ResponseId = turn.Id,
                    MessageId = turn.Id,
                    ModelId = _metadata.DefaultModelId,
                    CreatedAt = turn.CreatedAt,
                    FinishReason = reason,
                    RawRepresentation = next
                };
                if (reason != null) update.Contents.Add(new UsageContent(turn.Usage(next)));
                yield return update;
            }
        }
    }

    private Task<ChatTurn> BeginAsync(IEnumerable<ChatMessage> messages, ChatOptions? options, CancellationToken cancellation)
    {
        ObjectDisposedException.ThrowIf(_pool.End.IsCancellationRequested, this);
        cancellation.ThrowIfCancellationRequested();
        ChatRequest request = ChatRequest.From(messages, options, this, _metadata.DefaultModelId);
        return ChatTurn.BeginAsync(_engine, _pool, request, _template, cancellation);
    }

    /// <summary>Gives the <see cref="Engine"/>, the <see cref="ChatClientMetadata"/>, or the client itself.</summary>
    public object? GetService(Type serviceType, object? serviceKey = null)
    {
        ArgumentNullException.ThrowIfNull(serviceType);
        if (serviceKey != null) return null;
        if (serviceType == typeof(Engine)) return _engine;
        if (serviceType == typeof(ChatClientMetadata)) return _metadata;
        return serviceType.IsInstanceOfType(this) ? this : null;
    }

    /// <summary>Frees the conversations. Answers under way end with an OperationCanceledException.</summary>
    public void Dispose()
    {
        _pool.Dispose();
        if (_ownsEngine) _engine.Dispose();
    }
}
