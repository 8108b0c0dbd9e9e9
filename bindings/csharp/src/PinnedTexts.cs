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
        private readonly GCHandle[] _pins;

        internal PinnedTexts(IList<string> texts, string parameter)
        {
            _texts = new inlay_text[texts.Count];
            _pins = new GCHandle[texts.Count + 1];
            try
            {
                for (int i = 0; i < _texts.Length; i++)
                {
                    UIntPtr length;
                    _pins[i] = GCHandle.Alloc(Utf8.Bytes(texts[i], parameter, out length), GCHandleType.Pinned);
                    _texts[i] = new inlay_text { data = (byte*)_pins[i].AddrOfPinnedObject(), len = length };
                }
                _pins[_texts.Length] = GCHandle.Alloc(_texts, GCHandleType.Pinned);
            }
            catch
            {
                Dispose();
                throw;
            }
        }

        internal int Count { get { return _texts.Length; } }

        internal inlay_text* First { get { return (inlay_text*)_pins[_texts.Length].AddrOfPinnedObject(); } }

        public void Dispose()
        {
            foreach (GCHandle pin in _pins) if (pin.IsAllocated) pin.Free();
        }
    }
}
