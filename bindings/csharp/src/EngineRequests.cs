using System;
using Inlay.Raw;

namespace Inlay
{
    public sealed unsafe partial class Engine
    {
        /// <summary>Makes a queue for requests. An engine may have several; none sees what becomes of another's requests.</summary>
        public RequestQueue CreateQueue(RequestQueueOptions? options = null)
        {
            options = options ?? new RequestQueueOptions();
            var raw = new inlay_queue_params
            {
                struct_size = (uint)sizeof(inlay_queue_params), max_requests = options.MaxRequests, max_unread_tokens = options.MaxUnreadTokens
            };
            var handle = new QueueHandle(_api);
            IntPtr queue = IntPtr.Zero;
            inlay_error error;
            Status status;
            using (var engine = new Hold(_handle)) status = _api.inlay_queue_create(engine.Pointer, &raw, &queue, &error);
            handle.Set(queue);
            Check.Ok(status, ref error, FieldNames.Queue);
            return new RequestQueue(_api, handle, this);
        }

        /// <summary>Computes the requests of all queues on this thread, together. A step that the budget cuts goes on at the next
        /// call.</summary>
        /// <param name="budget">No part of a step is begun that is not expected to end within this time, but for the first; 0 or more.
        /// Null: until no request can go on.</param>
        /// <param name="maxStep">Bounds what prompts add to a step, and so the time from one token to the next; 0 or more. Null: no
        /// bound.</param>
        /// <param name="flags">How it computes.</param>
        /// <param name="hostBudget">Bounds this thread's time as <paramref name="budget"/> does the computing; 0 or more. Null: no bound
        /// of its own. With <see cref="RunFlags.NoWait"/> on a GPU, where <paramref name="budget"/> is the GPU's time alone, nothing is
        /// begun that this thread is not expected to have done within it. Where the call waits the smaller of the two counts.</param>
        /// <exception cref="InlayException">Status Busy: another thread is in it. InvalidState: the engine has a thread of its own, or a
        /// step of <see cref="DecodeSlice"/> is pending. DeviceLost.</exception>
        public RunInfo Run(TimeSpan? budget = null, TimeSpan? maxStep = null, RunFlags flags = RunFlags.None, TimeSpan? hostBudget = null)
        {
            var raw = new inlay_run_params
            {
                struct_size = (uint)sizeof(inlay_run_params), flags = flags, budget_us = Microseconds.Of(budget, nameof(budget)),
                max_step_us = Microseconds.Of(maxStep, nameof(maxStep)), host_budget_us = Microseconds.Of(hostBudget, nameof(hostBudget))
            };
            var info = new inlay_run_info { struct_size = (uint)sizeof(inlay_run_info) };
            inlay_error error;
            using (var engine = new Hold(_handle)) Check.Ok(_api.inlay_run(engine.Pointer, &raw, &info, &error), ref error, FieldNames.Run);
            return new RunInfo(ref info);
        }

        /// <summary>Gives the engine a thread of its own, which computes its requests, or changes how that one computes. Null ends it,
        /// after the step at hand.</summary>
        /// <remarks>What <see cref="LoadOptions.Log"/> gets may come from that thread.</remarks>
        /// <exception cref="InlayException">Status DeviceLost and others; nothing has changed.</exception>
        public void SetThread(ThreadOptions? options)
        {
            var raw = new inlay_thread_params { struct_size = (uint)sizeof(inlay_thread_params) };
            if (options != null)
            {
                raw.busy_us = Microseconds.Of(options.Busy, nameof(ThreadOptions.Busy));
                raw.period_us = Microseconds.Of(options.Period, nameof(ThreadOptions.Period));
                raw.max_step_us = Microseconds.Of(options.MaxStep, nameof(ThreadOptions.MaxStep));
            }
            inlay_error error;
            using (var engine = new Hold(_handle))
            {
                Check.Ok(_api.inlay_engine_set_thread(engine.Pointer, options == null ? null : &raw, &error), ref error, FieldNames.Thread);
            }
        }
    }

    /// <summary>What a call of <see cref="Engine.Run"/> came to.</summary>
    public struct RunInfo
    {
        internal RunInfo(ref inlay_run_info raw)
        {
            HasWork = (raw.flags & RunInfoFlags.HasWork) != 0;
            Tokens = checked((long)raw.n_tokens);
            Requests = raw.n_requests;
        }

        /// <summary>Another call at once would compute.</summary>
        public readonly bool HasWork;

        /// <summary>Tokens that were drawn.</summary>
        public readonly long Tokens;

        /// <summary>Requests of the engine that have not ended.</summary>
        public readonly int Requests;
    }
}
