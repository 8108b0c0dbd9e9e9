// Texts as vectors.
using System;
using System.Collections;
using System.Collections.Generic;
using System.Threading;
using System.Threading.Tasks;

namespace Microsoft.Extensions.AI
{
    public class Embedding
    {
        protected Embedding() { }

        public DateTimeOffset? CreatedAt { get; set; }

        public string? ModelId { get; set; }

        public virtual int Dimensions { get { return 0; } }
    }

    public sealed class Embedding<T> : Embedding
    {
        public Embedding(ReadOnlyMemory<T> vector) { Vector = vector; }

        public ReadOnlyMemory<T> Vector { get; set; }

        public override int Dimensions { get { return Vector.Length; } }
    }

    public class EmbeddingGenerationOptions
    {
        public int? Dimensions { get; set; }

        public string? ModelId { get; set; }
    }

    public class EmbeddingGeneratorMetadata
    {
        public EmbeddingGeneratorMetadata(string? providerName = null, Uri? providerUri = null, string? defaultModelId = null, int? defaultModelDimensions = null)
        {
            ProviderName = providerName;
            ProviderUri = providerUri;
            DefaultModelId = defaultModelId;
            DefaultModelDimensions = defaultModelDimensions;
        }

        public string? ProviderName { get; }

        public Uri? ProviderUri { get; }

        public string? DefaultModelId { get; }

        public int? DefaultModelDimensions { get; }
    }

    public sealed class GeneratedEmbeddings<TEmbedding> : IList<TEmbedding>, IReadOnlyList<TEmbedding> where TEmbedding : Embedding
    {
        private readonly List<TEmbedding> _all;

        public GeneratedEmbeddings(int capacity) { _all = new List<TEmbedding>(capacity); }

        public UsageDetails? Usage { get; set; }

        public int Count { get { return _all.Count; } }

        bool ICollection<TEmbedding>.IsReadOnly { get { return false; } }

        public TEmbedding this[int index]
        {
            get { return _all[index]; }
            set { _all[index] = value; }
        }

        public void Add(TEmbedding item) { _all.Add(item); }

        public void Clear() { _all.Clear(); }

        public bool Contains(TEmbedding item) { return _all.Contains(item); }

        public void CopyTo(TEmbedding[] array, int arrayIndex) { _all.CopyTo(array, arrayIndex); }

        public int IndexOf(TEmbedding item) { return _all.IndexOf(item); }

        public void Insert(int index, TEmbedding item) { _all.Insert(index, item); }

        public bool Remove(TEmbedding item) { return _all.Remove(item); }

        public void RemoveAt(int index) { _all.RemoveAt(index); }

        public IEnumerator<TEmbedding> GetEnumerator() { return _all.GetEnumerator(); }

        IEnumerator IEnumerable.GetEnumerator() { return GetEnumerator(); }
    }

    public interface IEmbeddingGenerator : IDisposable
    {
        object? GetService(Type serviceType, object? serviceKey = null);
    }

    public interface IEmbeddingGenerator<in TInput, TEmbedding> : IEmbeddingGenerator where TEmbedding : Embedding
    {
        Task<GeneratedEmbeddings<TEmbedding>> GenerateAsync(IEnumerable<TInput> values, EmbeddingGenerationOptions? options = null,
                                                            CancellationToken cancellationToken = default);
    }

    public static class EmbeddingGeneratorExtensions
    {
        public static TService GetService<TService>(this IEmbeddingGenerator generator, object? serviceKey = null)
        {
            return generator.GetService(typeof(TService), serviceKey) is TService service ? service : default!;
        }

        public static async Task<ReadOnlyMemory<TEmbeddingElement>> GenerateVectorAsync<TInput, TEmbeddingElement>(
            this IEmbeddingGenerator<TInput, Embedding<TEmbeddingElement>> generator, TInput value, EmbeddingGenerationOptions? options = null,
            CancellationToken cancellationToken = default)
        {
            return (await generator.GenerateAsync(new[] { value }, options, cancellationToken).ConfigureAwait(false))[0].Vector;
        }
    }
}
