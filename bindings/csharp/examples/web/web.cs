// A web server to chat with a model: a page at /, and POST /chat, which streams an answer as server-sent events.
// usage: web MODEL [ADDRESS]      ADDRESS: 127.0.0.1:8080 unless given; port 0 is any free one
using System.Text.Json;
using Inlay;
using Microsoft.Extensions.AI;
using ChatMessage = Microsoft.Extensions.AI.ChatMessage;

if (args.Length is < 1 or > 2)
{
    Console.Error.WriteLine("usage: web MODEL [ADDRESS]");
    return 2;
}
WebApplicationBuilder builder = WebApplication.CreateSlimBuilder();
builder.WebHost.UseUrls("http://" + (args.Length > 1 ? args[1] : "127.0.0.1:8080"));
builder.WebHost.ConfigureKestrel(server => server.Limits.MaxRequestBodySize = 1 << 20);
builder.Services.AddInlayChatClient(args[0], load => load.MaxSessions = 8); // answers at a time; further requests wait
builder.Logging.AddFilter("Microsoft.AspNetCore", LogLevel.Warning);
await using WebApplication app = builder.Build();
app.MapGet("/", () => Results.Stream(typeof(Message).Assembly.GetManifestResourceStream("page.html")!, "text/html; charset=utf-8"));
app.MapPost("/chat", Answer);
try { app.Services.GetRequiredService<IChatClient>(); } // loads the model now, not with the first request
catch (InlayException problem)
{
    Console.Error.WriteLine("web: " + problem.Message);
    return 1;
}
await app.RunAsync();
return 0;

static async Task Answer(HttpContext http, IChatClient client, ILogger<Message> log)
{
    CancellationToken left = http.RequestAborted; // ends the answer
    int n = 0;
    http.Response.ContentType = "text/event-stream";
    try
    {
        var options = new ChatOptions { Temperature = 0.8f, TopP = 0.95f, MaxOutputTokens = 256 };
        await foreach (var update in client.GetStreamingResponseAsync(await ReadMessages(http.Request), options, left))
        {
            string events = $"data: {JsonSerializer.Serialize(new { text = update.Text })}\n\n";
            if (update.FinishReason is ChatFinishReason reason)
            {
                UsageDetails? used = update.Contents.OfType<UsageContent>().FirstOrDefault()?.Details;
                var end = new { finishReason = reason.Value, inputTokens = used?.InputTokenCount,
                                cachedInputTokens = used?.CachedInputTokenCount, outputTokens = used?.OutputTokenCount };
                events += $"event: end\ndata: {JsonSerializer.Serialize(end)}\n\n";
            }
            await http.Response.WriteAsync(events, left);
            n++;
        }
    }
    catch (Exception) when (left.IsCancellationRequested) { log.LogInformation("a client left after {N} pieces", n); }
    catch (Exception problem) when (!http.Response.HasStarted)
    {
        (http.Response.StatusCode, string reason) = problem switch
        {
            BadHttpRequestException refused => (refused.StatusCode, refused.Message),
            JsonException => (400, problem.Message),
            InlayException { Status: Status.ContextFull } => (400, "the conversation is too long for the model's context"),
            _ => (503, "the model cannot answer now")
        };
        if (http.Response.StatusCode == 503) log.LogError(problem, "no answer");
        await http.Response.WriteAsJsonAsync(new { error = reason });
    }
}

static async Task<List<ChatMessage>> ReadMessages(HttpRequest request)
{
    // {"messages": [{"role": "user", "content": "..."}, ...]}. Pages of other sites may send text without asking, but not JSON.
    if (!request.HasJsonContentType()) throw new JsonException("the request's content type must be application/json");
    List<Message?> messages = (await request.ReadFromJsonAsync<Conversation>())?.Messages ?? [];
    if (messages.Count == 0) throw new JsonException("\"messages\" must have one message at least");
    if (!messages.All(m => m?.Role is "system" or "user" or "assistant")) throw new JsonException("a message's \"role\" is wrong");
    if (messages.Any(m => m?.Content == null)) throw new JsonException("a message must have a \"content\"");
    if (messages[^1]?.Role != "user") throw new JsonException("the last message must be the user's");
    return messages.ConvertAll(m => new ChatMessage(new ChatRole(m!.Role!), m.Content));
}

internal sealed record Message(string? Role, string? Content);
internal sealed record Conversation(List<Message?>? Messages);
