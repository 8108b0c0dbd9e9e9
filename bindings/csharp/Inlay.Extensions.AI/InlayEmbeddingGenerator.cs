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

        /// <summary>The model's name in metadata and embeddings; null for the one in the model's file.</summary>
        public string? ModelId { get; set; }

        /// <summary>How the states of a text's tokens become one vector; by default as the model's file says.</summary>
        public Pooling Pooling { get; set; }

        /// <summary>What is done with the vectors; default Normalize.</summary>
        public EmbedFlags Flags { get; set; } = EmbedFlags.Normalize;

        /// <summary>Texts that run in one call; between calls a cancellation is seen. Null: as many as the engine has sessions.</summary>
        public int? BatchSize { get; set; }
    }

    /// <summary>Turns texts into vectors with the model of an engine. Any thread may use it; requests run one after another, on a thread of
    /// the pool.</summary>
    /// <remarks>The engine needs a session that is free.</remarks>
    public sealed class InlayEmbeddingGenerator : IEmbeddingGenerator<string, Embedding<float>>
    {
        private readonly Engine _engine;
        private readonly bool _ownsEngine;
        private readonly Pooling _pooling;
        private readonly EmbedFlags _flags;
        private readonly int _batch, _dimensions;
        private readonly EmbeddingGeneratorMetadata _metadata;
        private readonly SemaphoreSlim _turn = new SemaphoreSlim(1, 1); // requests do not take sessions from one another
        private volatile bool _disposed;

        /// <summary>Makes a generator of an engine that has a tokenizer.</summary>
        public InlayEmbeddingGenerator(Engine engine, InlayEmbeddingGeneratorOptions? options = null)
        {
            if (engine == null) throw new ArgumentNullException(nameof(engine));
            options ??= new InlayEmbeddingGeneratorOptions();
            if (options.BatchSize < 1) throw new ArgumentOutOfRangeException(nameof(options), "BatchSize is not positive");
            EngineInfo info = engine.Info;
            _engine = engine;
            _ownsEngine = options.OwnsEngine;
            _pooling = options.Pooling;
            _flags = options.Flags;
            _batch = options.BatchSize ?? info.MaxSessions;
            _dimensions = info.ModelWidth;
            _metadata = new EmbeddingGeneratorMetadata(ModelNames.Provider, null, options.ModelId ?? ModelNames.Of(engine), _dimensions);
        }

        /// <inheritdoc/>
        /// <exception cref="NotSupportedException">The options ask for other dimensions, or another model.</exception>
        /// <exception cref="InlayException">Status SessionLimit: no session is free. ContextFull: a text is too long.</exception>
        /// <exception cref="OperationCanceledException">The token was cancelled.</exception>
        public async Task<GeneratedEmbeddings<Embedding<float>>> GenerateAsync(IEnumerable<string> values, EmbeddingGenerationOptions? options = null,
                                                                               CancellationToken cancellationToken = default)
        {
            if (values == null) throw new ArgumentNullException(nameof(values));
            ThrowIfDisposed();
            if (options != null) Unsupported.Check(options, _metadata.DefaultModelId, _dimensions);
            string[] texts = values.ToArray();
            var all = new GeneratedEmbeddings<Embedding<float>>(texts.Length);
            long tokens = 0;
            for (int begin = 0; begin < texts.Length; begin += _batch)
            {
                string[] batch = texts.Skip(begin).Take(_batch).ToArray();
                await _turn.WaitAsync(cancellationToken).ConfigureAwait(false);
                try
                {
                    ThrowIfDisposed();
                    tokens += await Task.Run(() => Run(batch, all, cancellationToken), cancellationToken).ConfigureAwait(false);
                }
                finally { _turn.Release(); }
            }
            all.Usage = new UsageDetails { InputTokenCount = tokens, TotalTokenCount = tokens };
            return all;
        }

        private void ThrowIfDisposed()
        {
            if (_disposed) throw new ObjectDisposedException(nameof(InlayEmbeddingGenerator));
        }

        private long Run(string[] texts, GeneratedEmbeddings<Embedding<float>> into, CancellationToken cancellation)
        {
            int[][] tokens = Array.ConvertAll(texts, text => _engine.Tokenize(text));
            DateTimeOffset now = DateTimeOffset.UtcNow;
            foreach (float[] vector in _engine.Embed(tokens, _pooling, _flags, cancellation))
            {
                into.Add(new Embedding<float>(vector) { ModelId = _metadata.DefaultModelId, CreatedAt = now });
            }
            return tokens.Sum(text => (long)text.Length);
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

        /// <summary>Requests under way end with an ObjectDisposedException before their next batch.</summary>
        public void Dispose()
        {
            _disposed = true;
            if (_ownsEngine) _engine.Dispose();
        }
    }
}
