// The page at /: a conversation with the model, whose answers come as they are written.
"use strict";

const find = id => document.getElementById(id);
const messages = [];
let running = null;  // the AbortController of the answer that comes

function add(kind, text) {
  const box = document.createElement("div");
  box.className = kind;
  box.textContent = text;
  find("log").append(box);
  box.scrollIntoView({ block: "end" });
  return box;
}

function headers() {
  const key = find("key").value;
  return { "Content-Type": "application/json", ...(key ? { Authorization: "Bearer " + key } : {}) };
}

// The JSON of each event of a stream; throws what the server refuses with.
async function* events(response) {
  if (!response.ok) throw new Error((await response.json()).error.message);
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    const parts = (rest + value).split("\n\n");
    rest = parts.pop();
    for (const part of parts) {
      if (part === "data: [DONE]") return;
      const event = JSON.parse(part.slice("data: ".length));
      if (event.error) throw new Error(event.error.message);
      yield event;
    }
  }
}

async function answer(box, state, signal) {
  const system = find("system").value.trim();
  const body = {
    messages: [...(system ? [{ role: "system", content: system }] : []), ...messages],
    temperature: Number(find("temperature").value), stream: true, stream_options: { include_usage: true },
  };
  const response = await fetch("v1/chat/completions", { method: "POST", headers: headers(), body: JSON.stringify(body), signal });
  if (response.status === 401) find("key-label").hidden = false;
  for await (const event of events(response)) {
    signal.throwIfAborted();
    if (event.usage) state.usage = event.usage;
    const piece = event.choices[0]?.delta?.content;
    if (!piece) continue;
    state.first ??= performance.now();
    state.last = performance.now();
    state.pieces += 1;
    state.text += piece;
    box.textContent = state.text;
    box.scrollIntoView({ block: "end" });
  }
}

function note(state, stopped) {
  const tokens = state.usage ? state.usage.completion_tokens : state.pieces;
  const inPieces = state.last - state.first >= 1;  // else from when it was asked for
  const seconds = (state.last - (inPieces ? state.first : state.asked)) / 1000;
  const speed = tokens > 1 && seconds > 0 ? `, ${((tokens - 1) / seconds).toFixed(1)} tokens/s` : "";
  const cached = state.usage ? `, prompt of ${state.usage.prompt_tokens}` : "";
  add("note", `${stopped ? "stopped: " : ""}${tokens} tokens${speed}${cached}`);
}

function setRunning(controller) {
  running = controller;
  find("send").hidden = Boolean(controller);
  find("stop").hidden = !controller;
}

async function send(text) {
  messages.push({ role: "user", content: text });
  add("user", text);
  const box = add("assistant", "");
  const state = { text: "", pieces: 0, usage: null, asked: performance.now(), first: null, last: null };
  const own = new AbortController();
  setRunning(own);
  try {
    await answer(box, state, own.signal);
    note(state, false);
  } catch (problem) {
    if (own.signal.aborted) note(state, true);
    else add("note error", problem.message);
  }
  if (state.text) messages.push({ role: "assistant", content: state.text });
  else { messages.pop(); box.remove(); }
  if (running === own) setRunning(null);
}

find("form").addEventListener("submit", event => {
  event.preventDefault();
  const text = find("line").value.trim();
  if (!text || running) return;
  find("line").value = "";
  send(text);
});
find("line").addEventListener("keydown", event => {
  if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
  event.preventDefault();
  find("form").requestSubmit();
});
find("stop").addEventListener("click", () => running?.abort());
find("new").addEventListener("click", async () => {
  running?.abort();
  await new Promise(done => setTimeout(done));
  messages.length = 0;
  find("log").replaceChildren();
  find("line").focus();
});

async function begin() {
  const response = await fetch("v1/models", { headers: headers() });
  if (response.status === 401) find("key-label").hidden = false;
  else if (response.ok) find("model").textContent = (await response.json()).data[0].id;
}
begin();
find("key").addEventListener("change", begin);
