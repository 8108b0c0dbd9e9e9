using System;
using Inlay.Raw;

namespace Inlay
{
    /// <summary>A call failed; the message says what is wrong and where.</summary>
    public sealed class InlayException : Exception
    {
        internal InlayException(Status status, string message) : base(message + " (" + status + ")") { Status = status; }

        internal InlayException(Status status, string message, ulong required, ulong available) : this(status, message)
        {
            Required = required;
            Available = available;
        }

        /// <summary>To throw once more what another thread was told.</summary>
        internal InlayException(InlayException of) : base(of.Message, of)
        {
            Status = of.Status;
            NativeCode = of.NativeCode;
            Required = of.Required;
            Available = of.Available;
        }

        internal unsafe InlayException(ref inlay_error error, FieldNames? names) : this(error.status, MessageOf(ref error, names))
        {
            NativeCode = error.native_code;
            Required = error.required;
            Available = error.available;
        }

        /// <summary>What kind of failure it is.</summary>
        public Status Status { get; private set; }

        /// <summary>The system's or the driver's error number, 0 if there is none.</summary>
        public int NativeCode { get; private set; }

        /// <summary>What was needed, in the unit that the message names; 0 where that makes no sense.</summary>
        public ulong Required { get; private set; }

        /// <summary>What there was, in the same unit.</summary>
        public ulong Available { get; private set; }

        private static unsafe string MessageOf(ref inlay_error error, FieldNames? names)
        {
            string text;
            fixed (byte* message = error.message) text = Utf8.Text(message, (int)error.message_len);
            return names == null ? text : names.InCSharp(text);
        }
    }

    internal static class Check
    {
        /// <summary>Throws what a failed call reported, with C#'s names for what it was given.</summary>
        internal static void Ok(Status status, ref inlay_error error, FieldNames? names = null)
        {
            if (status != Status.Ok) throw Failure(status, ref error, names);
        }

        /// <summary>What a failed call reported. A cancelled call gives OperationCanceledException with it
        /// inside.</summary>
        internal static Exception Failure(Status status, ref inlay_error error, FieldNames? names = null)
        {
            var problem = new InlayException(ref error, names);
            return status == Status.Cancelled ? (Exception)new OperationCanceledException(problem.Message, problem) : problem;
        }
    }

    /// <summary>What a function answers that a library of an earlier minor version does not have.</summary>
    internal static unsafe class Older
    {
        internal static Status Refuse(string function, string since, inlay_error* error)
        {
            if (error == null) return Status.Unsupported;
            *error = default(inlay_error);
            error->status = Status.Unsupported;
            byte[] text = System.Text.Encoding.UTF8.GetBytes("the loaded library is too old: " + function + " came with ABI " + since);
            for (int i = 0; i < text.Length; i++) error->message[i] = text[i];
            error->message_len = (uint)text.Length;
            return Status.Unsupported;
        }
    }
}
