#if NETCOREAPP || NETSTANDARD2_1_OR_GREATER
using System;
using System.Collections.Generic;
using System.Runtime.CompilerServices;
using System.Threading;
using System.Threading.Tasks;

namespace Inlay
{
    public sealed partial class PendingRequest
    {
        /// <summary>Its text for `await foreach`, as soon as there is any: what <see cref="ReadAsync"/> gives, to the end.</summary>
        /// <remarks>Leaving the loop early ends the request.</remarks>
        /// <exception cref="OperationCanceledException">The token was cancelled, which ends the request; or what <see
        /// cref="Completion"/> ends with.</exception>
        /// <exception cref="InlayException">The request failed.</exception>
        public IAsyncEnumerable<string> ReadTextAsync(CancellationToken cancellation = default) { return Read(ReadAsync, cancellation); }

        /// <summary>The same with its tokens and their probabilities: what <see cref="ReadPieceAsync"/> gives.</summary>
        public IAsyncEnumerable<RequestPiece> ReadPiecesAsync(CancellationToken cancellation = default)
        {
            return Read(ReadPieceAsync, cancellation);
        }

        private async IAsyncEnumerable<T> Read<T>(Func<Task<T?>> next, [EnumeratorCancellation] CancellationToken cancellation) where T : class
        {
            CancellationTokenRegistration registration = cancellation.Register(Cancel);
            try
            {
                for (T? piece = await next().ConfigureAwait(false); piece != null; piece = await next().ConfigureAwait(false))
                {
                    cancellation.ThrowIfCancellationRequested();
                    yield return piece;
                }
                cancellation.ThrowIfCancellationRequested();
            }
            finally
            {
                registration.Dispose();
                if (!HasEnded) Cancel(); // the caller has left the loop
            }
        }
    }
}
#endif
