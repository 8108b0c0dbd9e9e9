using System;
using System.Collections.Generic;
using System.Linq;
using System.Threading;
using System.Threading.Tasks;
using Microsoft.Extensions.AI;

namespace Inlay.Extensions.AI
{
    /// <summary>How an <see cref="InlayEmbeddingGenerator"/> uses its engine.</summary>
    public sealed class InlayEmbeddingGeneratorOptions
    {
        /// <summary>The generator disposes the engine when it is disposed itself.</summary>
        public bool OwnsEngine { get; set; }

        /// <summary>The program computes requests itself: it calls <see cref="Engine.Run"/>, or has given the engine a thread of its
        /// choice with <see cref="Engine.SetThread"/>; until it does, texts wait. False: the engine gets a thread while it has such
        /// generators.</summary>
        public bool HostComputes { get; set; }

        /// <summary>The model's name in metadata and embeddings; null for the one in the model's file.</summary>
        public string? ModelId { get; set; }

        /// <summary>How the states of a text's tokens become one vector; by default as the model's file says.</summary>
        public Pooling Pooling { get; set; }

        /// <summary>What is done with the vectors; default Normalize.</summary>
        public EmbedFlags Flags { get; set; } = EmbedFlags.Normalize;

        /// <summary>Texts of the generator that the engine is given at a time; further ones wait. Null: twice as many as it has
        /// sessions.</summary>
        public int? BatchSize { get; set; }
    }

    /// <summary>Turns texts into vectors with the model of an engine. Any thread may use it, and many at a time.</summary>
    /// <remarks>Each text is a request to the engine, which computes it beside all others, and which waits while sessions and other
    /// requests have all places.</remarks>
    public sealed class InlayEmbeddingGenerator : IEmbeddingGenerator<string, Embedding<float>>
    {
        private readonly Engine _engine;
        private readonly bool _ownsEngine, _computes;
        private readonly Pooling _pooling;
        private readonly EmbedFlags _flags;
        private readonly int _dimensions;
        private readonly EmbeddingGeneratorMetadata _metadata;
        private readonly RequestDispatcher _dispatcher;
        private readonly SemaphoreSlim _room; // in the dispatcher's queue; never disposed: late callers look at it
        private int _isDisposed;

        /// <summary>Makes a generator of an engine that has a tokenizer.</summary>
        /// <exception cref="InlayException">The engine can have no thread; see <see cref="InlayEmbeddingGeneratorOptions.HostComputes"/>.</exception>
        public InlayEmbeddingGenerator(Engine engine, InlayEmbeddingGeneratorOptions? options = null)
        {
            if (engine == null) throw new ArgumentNullException(nameof(engine));
            options ??= new InlayEmbeddingGeneratorOptions();
            if (options.BatchSize < 1) throw new ArgumentOutOfRangeException(nameof(options), "BatchSize is not positive");
            EngineInfo info = engine.Info;
            _engine = engine;
            _ownsEngine = options.OwnsEngine;
            _computes = !options.HostComputes;
            _pooling = options.Pooling;
            _flags = options.Flags;
            _dimensions = info.ModelWidth;
            _metadata = new EmbeddingGeneratorMetadata(ModelNames.Provider, null, options.ModelId ?? ModelNames.Of(engine), _dimensions);
            int most = options.BatchSize ?? 2 * info.MaxSessions;
            _room = new SemaphoreSlim(most);
            _dispatcher = new RequestDispatcher(engine, new RequestQueueOptions { MaxRequests = most }) { HostComputes = options.HostComputes };
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
        /// <exception cref="NotSupportedException">The options ask for other dimensions, or another model.</exception>
        /// <exception cref="InlayException">Status ContextFull: a text is too long. And others.</exception>
        /// <exception cref="OperationCanceledException">The token was cancelled, or the generator or the engine was disposed.</exception>
        public async Task<GeneratedEmbeddings<Embedding<float>>> GenerateAsync(IEnumerable<string> values, EmbeddingGenerationOptions? options = null,
                                                                               CancellationToken cancellationToken = default)
        {
            if (values == null) throw new ArgumentNullException(nameof(values));
            if (IsDisposed) throw new ObjectDisposedException(nameof(InlayEmbeddingGenerator));
            if (options != null) Unsupported.Check(options, _metadata.DefaultModelId, _dimensions);
            string[] texts = values.ToArray();
            // Many texts take a while, which is not the caller's thread's.
            return await Task.Run(() => RunAsync(texts, cancellationToken), cancellationToken).ConfigureAwait(false);
        }

        private bool IsDisposed { get { return Volatile.Read(ref _isDisposed) != 0; } }

        private async Task<GeneratedEmbeddings<Embedding<float>>> RunAsync(string[] texts, CancellationToken cancellation)
        {
            var pending = new List<PendingRequest>(texts.Length);
            try
            {
                foreach (string text in texts)
                {
                    await _room.WaitAsync(cancellation).ConfigureAwait(false);
                    pending.Add(Submit(text, cancellation));
                }
                return Embeddings(await Task.WhenAll(pending.Select(one => one.Completion)).ConfigureAwait(false));
            }
            catch (Exception problem)
            {
                foreach (PendingRequest one in pending) one.Cancel();
                bool isCallers = problem is OperationCanceledException && cancellation.IsCancellationRequested;
                if (isCallers || !IsDisposed) throw;
                throw new OperationCanceledException("the embedding generator was disposed", problem);
            }
        }

        // Into room that was waited for.
        private PendingRequest Submit(string text, CancellationToken cancellation)
        {
            try
            {
                var request = new Request(text) { Kind = RequestKind.Embed, Pooling = _pooling, Embed = _flags };
                PendingRequest pending = _dispatcher.Submit(request, cancellation);
                pending.Completion.ContinueWith((_, room) => ((SemaphoreSlim)room!).Release(), _room, TaskScheduler.Default);
                return pending;
            }
            catch
            {
                _room.Release();
                throw;
            }
        }

        private GeneratedEmbeddings<Embedding<float>> Embeddings(Completion[] completions)
        {
            var all = new GeneratedEmbeddings<Embedding<float>>(completions.Length);
            DateTimeOffset now = DateTimeOffset.UtcNow;
            foreach (Completion one in completions) all.Add(new Embedding<float>(one.Vector!) { ModelId = _metadata.DefaultModelId, CreatedAt = now });
            long tokens = completions.Sum(one => (long)one.PromptTokens);
            all.Usage = new UsageDetails { InputTokenCount = tokens, TotalTokenCount = tokens };
            return all;
        }

        /// <summary>Gives the <see cref="Engine"/>, the <see cref="EmbeddingGeneratorMetadata"/>, or the generator itself.</summary>
        public object? GetService(Type serviceType, object? serviceKey = null)
        {
            if (serviceType == null) throw new ArgumentNullException(nameof(serviceType));
            if (serviceKey != null) return null;
            if (serviceType == typeof(Engine)) return _engine;
            if (serviceType == typeof(EmbeddingGeneratorMetadata)) return _metadata;
            return serviceType.IsInstanceOfType(this) ? this : null;
        }

        /// <summary>Ends what is under way with an OperationCanceledException.</summary>
        public void Dispose()
        {
            if (Interlocked.Exchange(ref _isDisposed, 1) != 0) return;
            _dispatcher.Dispose();
            if (_computes) EngineThreads.End(_engine);
            if (_ownsEngine) _engine.Dispose();
        }
    }
}
