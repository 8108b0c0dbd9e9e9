using System;
using System.IO;
using Inlay;
using Inlay.Extensions.AI;
using Microsoft.Extensions.AI;

namespace Microsoft.Extensions.DependencyInjection
{
    /// <summary>Adds models to a program's services. A model is loaded when it is first asked for, and freed with the services.</summary>
    public static class InlayServiceCollectionExtensions
    {
        /// <summary>Adds the one <see cref="IChatClient"/> of a model file.</summary>
        /// <param name="services">The services.</param>
        /// <param name="modelPath">A GGUF file, of which a split one is named by its first file.</param>
        /// <param name="load">Sets how it is loaded.</param>
        /// <param name="configure">Sets how the client uses it. The client owns the engine in any case.</param>
        public static IServiceCollection AddInlayChatClient(this IServiceCollection services, string modelPath, Action<LoadOptions>? load = null,
                                                            Action<InlayChatClientOptions>? configure = null)
        {
            Check(services, modelPath);
            return services.AddSingleton<IChatClient>(_ => ChatClient(modelPath, load, configure));
        }

        /// <summary>Adds an <see cref="IChatClient"/> that is asked for with a key.</summary>
        /// <param name="services">The services.</param>
        /// <param name="serviceKey">The key.</param>
        /// <param name="modelPath">A GGUF file, of which a split one is named by its first file.</param>
        /// <param name="load">Sets how it is loaded.</param>
        /// <param name="configure">Sets how the client uses it. The client owns the engine in any case.</param>
        public static IServiceCollection AddKeyedInlayChatClient(this IServiceCollection services, object? serviceKey, string modelPath,
                                                                 Action<LoadOptions>? load = null,
                                                                 Action<InlayChatClientOptions>? configure = null)
        {
            Check(services, modelPath);
            return services.AddKeyedSingleton<IChatClient>(serviceKey, (provider, key) => ChatClient(modelPath, load, configure));
        }

        /// <summary>Adds the one <see cref="IEmbeddingGenerator{TInput, TEmbedding}"/> of a model file.</summary>
        /// <param name="services">The services.</param>
        /// <param name="modelPath">A GGUF file, of which a split one is named by its first file.</param>
        /// <param name="load">Sets how it is loaded.</param>
        /// <param name="configure">Sets how the generator uses it. The generator owns the engine in any case.</param>
        public static IServiceCollection AddInlayEmbeddingGenerator(this IServiceCollection services, string modelPath,
                                                                    Action<LoadOptions>? load = null,
                                                                    Action<InlayEmbeddingGeneratorOptions>? configure = null)
        {
            Check(services, modelPath);
            return services.AddSingleton<IEmbeddingGenerator<string, Embedding<float>>>(_ => Generator(modelPath, load, configure));
        }

        /// <summary>Adds an <see cref="IEmbeddingGenerator{TInput, TEmbedding}"/> that is asked for with a key.</summary>
        /// <param name="services">The services.</param>
        /// <param name="serviceKey">The key.</param>
        /// <param name="modelPath">A GGUF file, of which a split one is named by its first file.</param>
        /// <param name="load">Sets how it is loaded.</param>
        /// <param name="configure">Sets how the generator uses it. The generator owns the engine in any case.</param>
        public static IServiceCollection AddKeyedInlayEmbeddingGenerator(this IServiceCollection services, object? serviceKey, string modelPath,
                                                                         Action<LoadOptions>? load = null,
                                                                         Action<InlayEmbeddingGeneratorOptions>? configure = null)
        {
            Check(services, modelPath);
            return services.AddKeyedSingleton<IEmbeddingGenerator<string, Embedding<float>>>(
                serviceKey, (provider, key) => Generator(modelPath, load, configure));
        }

        private static void Check(IServiceCollection services, string modelPath)
        {
            if (services == null) throw new ArgumentNullException(nameof(services));
            if (modelPath == null) throw new ArgumentNullException(nameof(modelPath));
            if (modelPath.Length == 0) throw new ArgumentException("the path is empty", nameof(modelPath));
        }

        private static InlayChatClient ChatClient(string modelPath, Action<LoadOptions>? load, Action<InlayChatClientOptions>? configure)
        {
            var options = new InlayChatClientOptions();
            configure?.Invoke(options);
            options.OwnsEngine = true;
            return Owned(modelPath, load, engine =>
            {
                options.ModelId ??= ModelNames.Of(engine) ?? Path.GetFileNameWithoutExtension(modelPath);
                return new InlayChatClient(engine, options);
            });
        }

        private static InlayEmbeddingGenerator Generator(string modelPath, Action<LoadOptions>? load,
                                                         Action<InlayEmbeddingGeneratorOptions>? configure)
        {
            var options = new InlayEmbeddingGeneratorOptions();
            configure?.Invoke(options);
            options.OwnsEngine = true;
            return Owned(modelPath, load, engine =>
            {
                options.ModelId ??= ModelNames.Of(engine) ?? Path.GetFileNameWithoutExtension(modelPath);
                return new InlayEmbeddingGenerator(engine, options);
            });
        }

        private static T Owned<T>(string modelPath, Action<LoadOptions>? load, Func<Engine, T> make)
        {
            var options = new LoadOptions();
            load?.Invoke(options);
            Engine engine = Engine.Load(modelPath, options);
            try { return make(engine); }
            catch
            {
                engine.Dispose();
                throw;
            }
        }
    }
}
