namespace Inlay.Extensions.AI
{
    /// <summary>How an <see cref="InlayChatClient"/> uses its engine.</summary>
    public sealed class InlayChatClientOptions
    {
        /// <summary>The client disposes the engine when it is disposed itself.</summary>
        public bool OwnsEngine { get; set; }

        /// <summary>The program computes requests itself: it calls <see cref="Engine.Run"/>, or has given the engine a thread of its
        /// choice with <see cref="Engine.SetThread"/>; until it does, requests wait. False: the engine gets a thread while it has such
        /// clients.</summary>
        public bool HostComputes { get; set; }

        /// <summary>Chat template that writes conversations; null for the model's own.</summary>
        public string? ChatTemplate { get; set; }

        /// <summary>The model's name in metadata and responses; null for the one in the model's file.</summary>
        public string? ModelId { get; set; }

        /// <summary>Requests of this client that may be under way, those that wait for their turn included; one more gets an
        /// InvalidOperationException.</summary>
        public int MaxWaiting { get; set; } = 1024;
    }
}
