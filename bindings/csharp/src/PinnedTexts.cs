using System;
using System.Collections.Generic;
using System.Runtime.InteropServices;
using Inlay.Raw;

namespace Inlay
{
    /// <summary>Texts where C finds them, until they are disposed.</summary>
    internal unsafe sealed class PinnedTexts : IDisposable
    {
        private readonly inlay_text[] _texts;
        private readonly GCHandle _bytes, _pin; // all bytes lie in one array, since many pinned ones burden the garbage collector

        internal PinnedTexts(IList<string> texts, string parameter)
        {
            var parts = new byte[texts.Count][];
            int n_bytes = 0;
            for (int i = 0; i < parts.Length; i++)
            {
                parts[i] = Utf8.Bytes(texts[i], parameter);
                n_bytes = checked(n_bytes + parts[i].Length);
            }
            var bytes = new byte[checked(n_bytes + 1)]; // the address of an empty text lies inside, too
            _texts = new inlay_text[parts.Length];
            _bytes = GCHandle.Alloc(bytes, GCHandleType.Pinned);
            _pin = GCHandle.Alloc(_texts, GCHandleType.Pinned);
            int begin = 0;
            for (int i = 0; i < parts.Length; i++)
            {
                parts[i].CopyTo(bytes, begin);
                _texts[i] = new inlay_text { data = (byte*)_bytes.AddrOfPinnedObject() + begin, len = (UIntPtr)(uint)parts[i].Length };
                begin += parts[i].Length;
            }
        }

        internal int Count { get { return _texts.Length; } }

        internal inlay_text* First { get { return (inlay_text*)_pin.AddrOfPinnedObject(); } }

        public void Dispose()
        {
            _bytes.Free();
            _pin.Free();
        }
    }
}
