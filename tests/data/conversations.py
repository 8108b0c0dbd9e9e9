"""The conversations that every template of templates/ is rendered over.

"both": once more without the generation prompt; "vary": once more with each of the template's own variants.
"""


def U(content):
    return {"role": "user", "content": content}


def A(content, **more):
    return dict({"role": "assistant", "content": content}, **more)


def S(content):
    return {"role": "system", "content": content}


def call(name_of_call, name, arguments):
    return {"id": name_of_call, "type": "function", "function": {"name": name, "arguments": arguments}}


def result(name_of_call, name, content):
    return {"role": "tool", "tool_call_id": name_of_call, "name": name, "content": content}


def tool(name, description, properties, required=None):
    parameters = {"type": "object", "properties": properties}
    if required:
        parameters["required"] = required
    return {"type": "function", "function": {"name": name, "description": description, "parameters": parameters}}


WEATHER = tool("get_weather", "Get the current weather for a place.", {
    "location": {"type": "string", "description": "City and country, e.g. \"Zürich, CH\""},
    "unit": {"type": "string", "enum": ["celsius", "fahrenheit"], "default": "celsius"}}, ["location"])
SEARCH = tool("search_docs", "Search <b>documents</b> & return 'hits'.\nSecond line.", {
    "query": {"type": "string", "description": "Query text"},
    "limit": {"type": "integer", "description": "How many", "minimum": 1},
    "threshold": {"type": "number", "description": "Score"},
    "tags": {"type": "array", "items": {"type": "string"}, "description": "Tags"},
    "filter": {"type": "object", "description": "Filter", "required": ["lang"], "properties": {
        "lang": {"type": "string", "description": "Language"}, "after": {"type": "string", "description": "Date"}}},
    "fuzzy": {"type": "boolean", "description": "Fuzzy?"}}, ["query", "limit"])
NOARGS = tool("now", "Current time", {})
DEEP = tool("plan_trip", "", {
    "legs": {"type": "array", "items": {"type": "object", "required": ["to"], "properties": {
        "to": {"type": "string"}, "via": {"type": "array", "items": {"type": ["string", "null"]}},
        "seats": {"type": "array", "items": {"type": "array", "items": {"type": "integer"}}}}}},
    "budget": {"oneOf": [{"type": "number", "default": 10.5}, {"type": "string", "enum": ["low", "high"]}]},
    "when": {"type": "string", "nullable": True, "default": None}, "extra": {"type": "object"}, "any": {}})

HARD = "Grüße 👩🏽‍🚀 — e\u0301 vs é; 日本語\tتجربة \\n \"quoted\" 'single' <tag attr=\"1\">&amp; 100% $x {y} `z`" \
       "\r\nlast"
CHATS = [
    {"name": "user", "both": True, "vary": True, "messages": [U("What is the capital of France?")]},
    {"name": "system-user", "both": True, "vary": True,
     "messages": [S("You are a terse assistant."), U("Name three primes.")]},
    {"name": "multi-turn", "both": True, "vary": True,
     "messages": [S("Be kind."), U("Hi"), A("Hello! How can I help?"), U("Tell me a joke."),
                  A("Why did the chicken cross the road?"), U("Why?")]},
    {"name": "multi-turn-no-system", "messages": [U("2+2?"), A("4"), U("times 3?")]},
    {"name": "ends-with-assistant", "both": True, "messages": [U("Count to three."), A("One, two,")]},
    {"name": "unicode",
     "messages": [S("Répondez en français. 🇫🇷"), U(HARD), A("d'accord « oui »\u00a0!"), U("续写：春眠不觉晓，")]},
    {"name": "whitespace",
     "messages": [S("  padded system \n"), U("\n\n  leading and trailing  \n"), A("  spaced answer \n\n"), U("   ")]},
    {"name": "empty-strings", "messages": [S(""), U(""), A(""), U("x")]},
    {"name": "look-alikes",
     "messages": [U("{{ 7*7 }} {% if x %}y{% endif %} {# c #} <|im_end|> <|eot_id|> <end_of_turn> [/INST] </s> <think>x</think>"),
                  A("<|im_start|>"), U("ok")]},
    {"name": "tools", "both": True, "vary": True, "tools": [WEATHER, SEARCH], "messages": [U("Weather in Zürich?")]},
    {"name": "tools-system", "vary": True, "tools": [WEATHER],
     "messages": [S("Use tools when useful."), U("Weather in Kyoto?")]},
    {"name": "tools-no-args", "tools": [NOARGS], "messages": [U("What time is it?")]},
    {"name": "tools-empty-list", "tools": [], "messages": [U("hello")]},
    {"name": "tool-call-dict", "both": True, "vary": True, "tools": [WEATHER, SEARCH],
     "messages": [U("Weather in Zürich?"),
                  A("", tool_calls=[call("call00001", "get_weather", {"location": "Zürich, CH", "unit": "celsius"})]),
                  result("call00001", "get_weather", "{\"temp\": 21.5, \"sky\": \"klar ☀\"}"), A("It is 21.5 °C."),
                  U("Thanks!")]},
    {"name": "tool-result-last", "both": True, "vary": True, "tools": [WEATHER],
     "messages": [U("Weather in Rome?"),
                  A("", tool_calls=[call("call00002", "get_weather", {"location": "Rome, IT"})]),
                  result("call00002", "get_weather", "rain")]},
    {"name": "tool-call-null-content", "tools": [WEATHER],
     "messages": [U("Weather in Oslo?"),
                  A(None, tool_calls=[call("call00003", "get_weather", {"location": "Oslo, NO"})]),
                  result("call00003", "get_weather", "snow"), A("Snow."), U("And tomorrow?")]},
    {"name": "tool-call-text-content", "tools": [SEARCH],
     "messages": [S("Research helper."), U("Find llamas."),
                  A("Let me look.", tool_calls=[call("call00004", "search_docs", {"query": "llamas <3 & \"alpacas\"", "limit": 3, "threshold": 0.25, "tags": ["a", "ß"], "filter": {"lang": "de"}, "fuzzy": True})]),
                  result("call00004", "search_docs", "[]"), A("Nothing found."), U("ok")]},
    {"name": "tool-call-string-args", "tools": [WEATHER],
     "messages": [U("Weather in Lima?"),
                  A(None, tool_calls=[call("call00005", "get_weather", "{\"location\": \"Lima, PE\"}")]),
                  result("call00005", "get_weather", "fog"), A("Fog."), U("Thanks")]},
    {"name": "tool-calls-parallel", "both": True, "tools": [WEATHER, SEARCH],
     "messages": [U("Compare Paris and Rome."),
                  A("", tool_calls=[call("callA0001", "get_weather", {"location": "Paris"}), call("callB0002", "get_weather", {"location": "Rome"})]),
                  result("callA0001", "get_weather", "18"), result("callB0002", "get_weather", "24")]},
    {"name": "tool-calls-sequence", "vary": True, "tools": [WEATHER, NOARGS],
     "messages": [S("Agent."), U("Is it raining in Bern now?"), A("", tool_calls=[call("callS0001", "now", {})]),
                  result("callS0001", "now", "2025-03-04"),
                  A("", tool_calls=[call("callS0002", "get_weather", {"location": "Bern"})]),
                  result("callS0002", "get_weather", "dry"), A("No, it is dry."), U("Good.")]},
    {"name": "thinking-inline-history", "vary": True,
     "messages": [U("Is 7 prime?"), A("<think>\nOnly 1 and 7 divide it.\n</think>\n\nYes."), U("Is 9?")]},
    {"name": "thinking-field-history", "vary": True,
     "messages": [U("Is 7 prime?"), A("Yes.", reasoning_content="Only 1 and 7 divide it."), U("Is 9?")]},
    {"name": "thinking-ends", "both": True, "vary": True,
     "messages": [U("Is 7 prime?"),
                  A("Yes.", reasoning_content="Only 1 and 7 divide it.", thinking="Only 1 and 7 divide it.")]},
    {"name": "thinking-with-tool", "vary": True, "tools": [NOARGS],
     "messages": [U("Time?"),
                  A("", reasoning_content="I need the clock.", thinking="I need the clock.", tool_calls=[call("callT0001", "now", {})]),
                  result("callT0001", "now", "09:05")]},
    {"name": "content-parts",
     "messages": [S("sys"),
                  {"role": "user", "content": [{"type": "text", "text": "first part"}, {"type": "text", "text": " second part"}]}]},
    {"name": "two-users", "messages": [U("one"), U("two")]},
    {"name": "assistant-first", "messages": [A("hi"), U("hello")]},
    {"name": "system-late", "messages": [U("one"), S("late system"), U("two")]},
    {"name": "unknown-role", "messages": [{"role": "narrator", "content": "once upon a time"}, U("go")]},
    {"name": "no-messages", "messages": []},
    {"name": "think-switch-in-text",
     "messages": [S("Be brief. /no_think"), U("Why is the sky blue? /think"), A("Rayleigh scattering."),
                  U("And sunsets? /no_think")]},
    {"name": "image-part",
     "messages": [{"role": "user", "content": [{"type": "text", "text": "What is this?"}, {"type": "image", "image": "a.png"},
                                               {"type": "text", "text": "Be brief."}]}, A("A cat."),
                  {"role": "user", "content": [{"type": "image_url", "image_url": {"url": "b.png"}}]}]},
    {"name": "assistant-parts", "messages": [U("Hi"), A([{"type": "text", "text": "Hello"}, {"type": "text", "text": " you"}]),
                                             {"role": "user", "content": [{"type": "audio", "audio": "c.wav"}, "tail"]}]},
    {"name": "documents", "both": True, "vary": True,
     "documents": [{"title": "Llamas", "text": "Llamas hum.\nThey also spit."}, {"title": "", "text": "Zürich ist groß."},
                   {"doc_id": 7, "content": "No title."}],
     "messages": [U("What do llamas do?")]},
    {"name": "documents-empty", "documents": [], "messages": [S("sys"), U("hello")]},
    {"name": "tools-deep", "vary": True, "tools": [DEEP, SEARCH], "messages": [S("Plan."), U("To Bern & back")]},
    {"name": "tool-call-deep", "tools": [DEEP],
     "messages": [U("Go"), A("", tool_calls=[call("callD0001", "plan_trip", {
         "legs": [{"to": "Bern", "via": [None, "Thun"], "seats": [[1, 2], []]}], "budget": 1e3, "extra": {}, "any": None})]),
                  result("callD0001", "plan_trip", {"ok": True, "price": 12.50}), A("Done."), U("Thanks")]},
    {"name": "developer-role", "messages": [{"role": "developer", "content": " Speak French. "}, U("Hello")]},
    {"name": "names", "messages": [{"role": "user", "name": "ann", "content": "I am Ann."}, A("Hi Ann.", name="bot"),
                                   {"role": "user", "name": "bob", "content": "I am Bob."}]},
    {"name": "no-content", "messages": [{"role": "user"}, A("What?"), U(None)]},
]
