namespace Inlay.Extensions.AI;

/// <summary>How an <see cref="InlayChatClient"/> uses its engine.</summary>
public sealed class InlayChatClientOptions
{
    /// <summary>The client disposes the engine when it is disposed itself.</summary>
    public bool OwnsEngine { get; set; }

    /// <summary>Chat template that writes conversations; null for the model's own.</summary>
    public string? ChatTemplate { get; set; }

    /// <summary>The model's name in metadata and responses; null for the one in the model's file.</summary>
    public string? ModelId { get; set; }

    /// <summary>Conversations that are kept between turns, each in a session of its own, so that a next turn runs only what is new.
    /// Null: one less than the engine's sessions, at least one. 0: none.</summary>
    /// <remarks>A kept session is given up for a request that needs one. A program that makes sessions of the same engine itself, or
    /// uses it for embeddings, needs some that are not kept.</remarks>
    public int? KeptConversations { get; set; }

    /// <summary>Requests that may wait while all sessions are in use; one more gets an InvalidOperationException.</summary>
    public int MaxWaiting { get; set; } = 1024;
}
