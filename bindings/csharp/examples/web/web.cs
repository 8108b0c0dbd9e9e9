// A web server to chat with a model: a page at /, and POST /chat, which streams an answer as server-sent events.
// usage: web MODEL [ADDRESS]      ADDRESS: 127.0.0.1:8080 unless given; port 0 is any free one
using System;
using System.Collections.Generic;
using System.IO;
using System.Linq;
using System.Text.Json;
using System.Threading;
using System.Threading.Tasks;
using Inlay;
using Microsoft.AspNetCore.Builder;
using Microsoft.AspNetCore.Http;
using Microsoft.AspNetCore.Hosting;
using Microsoft.Extensions.AI;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Logging;
using ChatMessage = Microsoft.Extensions.AI.ChatMessage;

const int Sessions = 8; // answers at a time; further requests wait for one to end
if (args.Length is < 1 or > 2)
{
    Console.Error.WriteLine("usage: web MODEL [ADDRESS]");
    return 2;
}
WebApplicationBuilder builder = WebApplication.CreateSlimBuilder();
builder.WebHost.UseUrls("http://" + (args.Length > 1 ? args[1] : "127.0.0.1:8080"));
builder.Services.AddInlayChatClient(args[0], load => load.MaxSessions = Sessions);
builder.Logging.AddFilter("Microsoft.AspNetCore", LogLevel.Warning);
builder.WebHost.ConfigureKestrel(server => server.Limits.MaxRequestBodySize = 1 << 20);

await using WebApplication app = builder.Build();
string page = Chat.ReadPage();
app.MapGet("/", () => Results.Content(page, "text/html; charset=utf-8"));
app.MapPost("/chat", Chat.Answer);
try
{
    app.Services.GetRequiredService<IChatClient>(); // loads the model now, not with the first request
    await app.RunAsync();
    return 0;
}
catch (Exception problem) when (problem is InlayException or IOException)
{
    Console.Error.WriteLine("web: " + problem.Message);
    return 1;
}

internal sealed record Message(string? Role, string? Content);

internal sealed record Conversation(List<Message?>? Messages);

internal sealed class Chat
{
    private static readonly ChatOptions s_options = new() { Temperature = 0.8f, TopP = 0.95f, MaxOutputTokens = 256 };
    private static readonly JsonSerializerOptions s_json = new(JsonSerializerDefaults.Web);

    internal static string ReadPage()
    {
        using var reader = new StreamReader(typeof(Chat).Assembly.GetManifestResourceStream("page.html")!);
        return reader.ReadToEnd();
    }

    // Takes {"messages": [{"role": "user", "content": "..."}, ...]}. Sends {"text": "..."} for each piece of the answer, and in the end an
    // event `end` with the reason and the counts of tokens. A client that leaves ends its answer.
    internal static async Task Answer(HttpContext http, IChatClient client, ILogger<Chat> log)
    {
        CancellationToken left = http.RequestAborted;
        int n_pieces = 0;
        try
        {
            List<ChatMessage> messages = await ReadMessages(http.Request, left);
            await foreach (ChatResponseUpdate update in client.GetStreamingResponseAsync(messages, s_options, left))
            {
                if (update.Text.Length > 0)
                {
                    await Send(http, "message", new { update.Text }, left);
                    n_pieces++;
                }
                if (update.FinishReason == null) continue;
                UsageDetails? usage = update.Contents.OfType<UsageContent>().FirstOrDefault()?.Details;
                await Send(http, "end", new
                {
                    FinishReason = update.FinishReason?.Value,
                    InputTokens = usage?.InputTokenCount,
                    CachedInputTokens = usage?.CachedInputTokenCount,
                    OutputTokens = usage?.OutputTokenCount
                }, left);
            }
        }
        catch (Exception) when (left.IsCancellationRequested) { log.LogInformation("a client left after {Pieces} pieces of its answer", n_pieces); }
        catch (BadHttpRequestException problem) { await Refuse(http, problem.StatusCode, problem.Message); }
        catch (JsonException problem) { await Refuse(http, StatusCodes.Status400BadRequest, problem.Message); }
        catch (InlayException problem) when (problem.Status == Status.ContextFull)
        {
            await Refuse(http, StatusCodes.Status400BadRequest, "the conversation is too long for the model's context");
        }
        catch (Exception problem) when (problem is InlayException or InvalidOperationException or OperationCanceledException)
        {
            log.LogError(problem, "no answer");
            await Refuse(http, StatusCodes.Status503ServiceUnavailable, "the model cannot answer now");
        }
    }

    private static async Task<List<ChatMessage>> ReadMessages(HttpRequest request, CancellationToken cancellation)
    {
        // Pages of other sites may send text without asking, but not JSON.
        if (!request.HasJsonContentType()) throw new JsonException("the request's content type must be application/json");
        Conversation? conversation = await JsonSerializer.DeserializeAsync<Conversation>(request.Body, s_json, cancellation);
        if (conversation?.Messages is not { Count: > 0 } messages) throw new JsonException("\"messages\" must have one message at least");
        var result = new List<ChatMessage>();
        foreach (Message? message in messages)
        {
            if (message?.Role is not ("system" or "user" or "assistant"))
            {
                throw new JsonException("a message's \"role\" must be \"system\", \"user\" or \"assistant\"");
            }
            if (message.Content == null) throw new JsonException("a message must have a \"content\"");
            result.Add(new ChatMessage(new ChatRole(message.Role), message.Content));
        }
        if (result[^1].Role != ChatRole.User) throw new JsonException("the last message must be the user's");
        return result;
    }

    private static async Task Send(HttpContext http, string name, object data, CancellationToken cancellation)
    {
        if (!http.Response.HasStarted)
        {
            http.Response.ContentType = "text/event-stream";
            http.Response.Headers.CacheControl = "no-cache";
        }
        string line = name == "message" ? "" : $"event: {name}\n"; // "message" is what an event without a name is
        await http.Response.WriteAsync($"{line}data: {JsonSerializer.Serialize(data, s_json)}\n\n", cancellation);
        await http.Response.Body.FlushAsync(cancellation);
    }

    // A status, unless a part of the answer was sent with status 200: then an event.
    private static Task Refuse(HttpContext http, int status, string reason)
    {
        if (http.Response.HasStarted) return Send(http, "error", new { Error = reason }, http.RequestAborted);
        http.Response.StatusCode = status;
        return http.Response.WriteAsJsonAsync(new { Error = reason }, s_json, http.RequestAborted);
    }
}
