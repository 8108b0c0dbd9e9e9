using System;
using System.Collections.Generic;

namespace Inlay.Extensions.AI
{
    /// <summary>Ends an answer's content at the first stop sequence. The engine itself would find them in reasoning and calls as
    /// well.</summary>
    internal sealed class StopSearch
    {
        private readonly IList<string> _stops;
        private string _held = ""; // what a stop sequence may begin with

        internal StopSearch(IList<string> stops)
        {
            foreach (string stop in stops)
            {
                if (string.IsNullOrEmpty(stop)) throw new ArgumentException("a stop sequence is empty", nameof(stops));
            }
            _stops = stops;
        }

        /// <summary>One was found: no more content comes.</summary>
        internal bool IsFound { get; private set; }

        /// <summary>What is certain of the content so far, and was not given before.</summary>
        internal string Next(string text)
        {
            if (IsFound) return "";
            text = _held + text;
            int end = -1;
            foreach (string stop in _stops)
            {
                int at = text.IndexOf(stop, StringComparison.Ordinal);
                if (at >= 0 && (end < 0 || at < end)) end = at;
            }
            IsFound = end >= 0;
            if (!IsFound) end = text.Length - Begun(text);
            _held = IsFound ? "" : text.Substring(end);
            return text.Substring(0, end);
        }

        /// <summary>What was held back, where nothing follows that could complete it.</summary>
        internal string Rest()
        {
            string held = _held;
            _held = "";
            return held;
        }

        // Characters at the end with which a stop sequence begins.
        private int Begun(string text)
        {
            int most = 0;
            foreach (string stop in _stops)
            {
                for (int n = Math.Min(stop.Length - 1, text.Length); n > most; n--)
                {
                    if (string.CompareOrdinal(text, text.Length - n, stop, 0, n) == 0) most = n;
                }
            }
            return most;
        }
    }
}
