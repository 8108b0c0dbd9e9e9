using System;
using System.Collections.Generic;
using System.Runtime.CompilerServices;
using System.Text;
using System.Threading;
using System.Threading.Tasks;
using Microsoft.Extensions.AI;

namespace Inlay.Extensions.AI
{
    using ChatMessage = Microsoft.Extensions.AI.ChatMessage;

    /// <summary>Chats with the model of an engine. Any thread may use it, and many at a time: all answers share each decode step.</summary>
    /// <remarks>
    /// Each answer is a request to the engine, which queues it, makes room for it, and does not compute again what a prompt begins with
    /// that it still has. The client itself has no state, and holds nothing of the engine while nobody asks it.
    /// Without a temperature the likeliest token is taken; with one and without a seed each answer is drawn anew.
    /// <see cref="ChatOptions.AdditionalProperties"/> takes the numbers <c>min_p</c> and <c>repetition_penalty</c>;
    /// <see cref="ChatOptions.RawRepresentationFactory"/> may return a <see cref="GenerateOptions"/>, in which what the options set is set.
    /// What the engine cannot do is a <see cref="NotSupportedException"/>.
    /// </remarks>
    public sealed class InlayChatClient : IChatClient
    {
        private readonly Engine _engine;
        private readonly bool _ownsEngine, _computes;
        private readonly string? _template;
        private readonly RequestDispatcher _dispatcher;
        private readonly Lazy<ChatFormat> _format;
        private readonly ChatClientMetadata _metadata;
        private readonly CancellationTokenSource _end = new CancellationTokenSource(); // never disposed: late callers look at it
        private int _isDisposed;

        /// <summary>Makes a client of an engine that has a tokenizer.</summary>
        /// <exception cref="InlayException">The engine can have no thread; see <see cref="InlayChatClientOptions.HostComputes"/>.</exception>
        public InlayChatClient(Engine engine, InlayChatClientOptions? options = null)
        {
            if (engine == null) throw new ArgumentNullException(nameof(engine));
            options ??= new InlayChatClientOptions();
            if (options.MaxWaiting < 1) throw new ArgumentOutOfRangeException(nameof(options), "MaxWaiting is not positive");
            _engine = engine;
            _ownsEngine = options.OwnsEngine;
            _computes = !options.HostComputes;
            _template = options.ChatTemplate;
            _metadata = new ChatClientMetadata(ModelNames.Provider, null, options.ModelId ?? ModelNames.Of(engine));
            _format = new Lazy<ChatFormat>(() => ChatFormat.Of(_engine, _template), LazyThreadSafetyMode.PublicationOnly);
            _dispatcher = new RequestDispatcher(engine, new RequestQueueOptions { MaxRequests = options.MaxWaiting })
            {
                HostComputes = options.HostComputes
            };
            try
            {
                if (_computes) EngineThreads.Begin(engine);
            }
            catch
            {
                _dispatcher.Dispose();
                throw;
            }
        }

        /// <inheritdoc/>
        /// <exception cref="NotSupportedException">The request asks for what the engine cannot do.</exception>
        /// <exception cref="InlayException">Status ContextFull: the messages do not fit. Format, Unsupported: there is no chat template, or a
        /// schema has what is not supported, which the message names.</exception>
        /// <exception cref="InvalidOperationException">Too many requests are under way already.</exception>
        /// <exception cref="OperationCanceledException">The token was cancelled, or the client or the engine was disposed.</exception>
        public async Task<ChatResponse> GetResponseAsync(IEnumerable<ChatMessage> messages, ChatOptions? options = null,
                                                         CancellationToken cancellationToken = default)
        {
            if (messages == null) throw new ArgumentNullException(nameof(messages));
            using (ChatAnswer answer = await BeginAsync(messages, options, cancellationToken).ConfigureAwait(false))
            {
                var contents = new List<AIContent>();
                for (;;)
                {
                    IList<AIContent>? next = await answer.NextAsync().ConfigureAwait(false);
                    if (next == null) break;
                    contents.AddRange(next);
                }
                var message = new ChatMessage(ChatRole.Assistant, Joined(contents)) { MessageId = answer.Id, CreatedAt = answer.CreatedAt };
                return new ChatResponse(message)
                {
                    ResponseId = answer.Id,
                    ModelId = _metadata.DefaultModelId,
                    CreatedAt = answer.CreatedAt,
                    FinishReason = answer.Reason,
                    Usage = answer.Usage,
                    RawRepresentation = answer.Raw
                };
            }
        }

        // Texts of one kind that follow each other are one.
        private static List<AIContent> Joined(List<AIContent> contents)
        {
            var joined = new List<AIContent>();
            for (int i = 0; i < contents.Count;)
            {
                var text = new StringBuilder();
                if (contents[i] is TextContent)
                {
                    for (; i < contents.Count && contents[i] is TextContent said; i++) text.Append(said.Text);
                    joined.Add(new TextContent(text.ToString()));
                }
                else if (contents[i] is TextReasoningContent)
                {
                    for (; i < contents.Count && contents[i] is TextReasoningContent thought; i++) text.Append(thought.Text);
                    joined.Add(new TextReasoningContent(text.ToString()));
                }
                else joined.Add(contents[i++]);
            }
            return joined;
        }

        /// <inheritdoc/>
        /// <remarks>The last update has the finish reason and the usage. Leaving the loop early ends the answer.</remarks>
        /// <exception cref="NotSupportedException">The request asks for what the engine cannot do.</exception>
        /// <exception cref="InlayException">Status ContextFull: the messages do not fit. Format, Unsupported: there is no chat template, or a
        /// schema has what is not supported, which the message names.</exception>
        /// <exception cref="InvalidOperationException">Too many requests are under way already.</exception>
        /// <exception cref="OperationCanceledException">The token was cancelled, or the client or the engine was disposed.</exception>
        public IAsyncEnumerable<ChatResponseUpdate> GetStreamingResponseAsync(IEnumerable<ChatMessage> messages, ChatOptions? options = null,
                                                                              CancellationToken cancellationToken = default)
        {
            if (messages == null) throw new ArgumentNullException(nameof(messages));
            return StreamAsync(messages, options, cancellationToken);
        }

        private async IAsyncEnumerable<ChatResponseUpdate> StreamAsync(IEnumerable<ChatMessage> messages, ChatOptions? options,
                                                                       [EnumeratorCancellation] CancellationToken cancellation)
        {
            using (ChatAnswer answer = await BeginAsync(messages, options, cancellation).ConfigureAwait(false))
            {
                for (;;)
                {
                    IList<AIContent>? contents = await answer.NextAsync().ConfigureAwait(false);
                    if (contents == null) yield break;
                    if (answer.Usage != null) contents.Add(new UsageContent(answer.Usage));
                    yield return new ChatResponseUpdate(ChatRole.Assistant, contents)
                    {
                        ResponseId = answer.Id,
                        MessageId = answer.Id,
                        ModelId = _metadata.DefaultModelId,
                        CreatedAt = answer.CreatedAt,
                        FinishReason = answer.Reason,
                        RawRepresentation = answer.Raw
                    };
                }
            }
        }

        private async Task<ChatAnswer> BeginAsync(IEnumerable<ChatMessage> messages, ChatOptions? options, CancellationToken cancellation)
        {
            if (_end.IsCancellationRequested) throw new ObjectDisposedException(nameof(InlayChatClient));
            cancellation.ThrowIfCancellationRequested();
            var request = new ChatRequest(messages, options, this, _metadata.DefaultModelId);
            var ending = new ChatAnswer.Ending(cancellation, _end.Token);
            try
            {
                // A long conversation takes a while, which is not the caller's thread's.
                return await Task.Run(() => request.Submit(_engine, _dispatcher, _format.Value, _template, ending), cancellation).ConfigureAwait(false);
            }
            catch (InlayException full) when (full.Status == Status.QueueFull)
            {
                throw new InvalidOperationException("too many requests are under way: InlayChatClientOptions.MaxWaiting", full);
            }
            catch (InlayException over) when (over.Status == Status.InvalidState && _engine.Handle.IsClosed)
            {
                throw ending.Thrown(new ObjectDisposedException(nameof(Engine)));
            }
            catch (Exception problem)
            {
                Exception thrown = ending.Thrown(problem);
                if (thrown == problem) throw;
                throw thrown;
            }
        }

        /// <summary>Gives the <see cref="Engine"/>, the <see cref="ChatClientMetadata"/>, or the client itself.</summary>
        public object? GetService(Type serviceType, object? serviceKey = null)
        {
            if (serviceType == null) throw new ArgumentNullException(nameof(serviceType));
            if (serviceKey != null) return null;
            if (serviceType == typeof(Engine)) return _engine;
            if (serviceType == typeof(ChatClientMetadata)) return _metadata;
            return serviceType.IsInstanceOfType(this) ? this : null;
        }

        /// <summary>Ends what is under way with an OperationCanceledException.</summary>
        public void Dispose()
        {
            if (Interlocked.Exchange(ref _isDisposed, 1) != 0) return;
            _end.Cancel();
            _dispatcher.Dispose();
            if (_computes) EngineThreads.End(_engine);
            if (_ownsEngine) _engine.Dispose();
        }
    }
}
