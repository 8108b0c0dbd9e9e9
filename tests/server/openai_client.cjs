// OpenAI's client for Node.js against a server. Usage: node openai_client.cjs URL KEY
"use strict";
const assert = require("node:assert/strict");
const OpenAI = require("openai").default ?? require("openai");

const messages = [{ role: "system", content: "Mira is a kind innkeeper at an inn in Oakvale." }, { role: "user", content: "Do you have a room?" }];
const model = "tales";

async function chats(client) {
  const whole = await client.chat.completions.create({ model, messages, temperature: 0 });
  assert.equal(whole.choices[0].finish_reason, "stop");
  assert.ok(whole.choices[0].message.content.length > 10);
  assert.equal(whole.usage.total_tokens, whole.usage.prompt_tokens + whole.usage.completion_tokens);

  let text = "", usage = null, n = 0;
  for await (const chunk of await client.chat.completions.create({ model, messages, temperature: 0, stream: true, stream_options: { include_usage: true } })) {
    text += chunk.choices[0]?.delta?.content ?? "";
    usage = chunk.usage ?? usage;
    n += 1;
  }
  assert.equal(text, whole.choices[0].message.content);
  assert.equal(usage.completion_tokens, whole.usage.completion_tokens);
  assert.ok(n >= 4);  // the role, text, the end, the usage

  const runner = client.chat.completions.stream({ model, messages, temperature: 0, logprobs: true });
  const final = await runner.finalChatCompletion();
  assert.equal(final.choices[0].message.content, text);
  assert.equal(final.choices[0].logprobs.content.map(token => token.token).join("").trim(), text);
}

async function completions(client) {
  const asked = { model, prompt: "Once upon a time", temperature: 0, max_tokens: 20 };
  const whole = await client.completions.create(asked);
  let text = "";
  for await (const chunk of await client.completions.create({ ...asked, stream: true })) text += chunk.choices[0].text;
  assert.equal(text, whole.choices[0].text);
  assert.equal(whole.usage.completion_tokens, 20);
}

async function embeddings(client) {
  const input = ["The dog saw a fox.", "Two and two are four.", "The dog saw the fox."];
  const coded = (await client.embeddings.create({ model, input })).data.map(entry => entry.embedding);  // as base64, which the client decodes
  const plain = (await client.embeddings.create({ model, input, encoding_format: "float" })).data.map(entry => entry.embedding);
  const dot = (a, b) => a.reduce((sum, x, i) => sum + x * b[i], 0);
  for (let i = 0; i < 3; i++) assert.ok(Math.abs(dot(coded[i], plain[i]) - 1) < 1e-4);
  assert.ok(dot(plain[0], plain[2]) > dot(plain[0], plain[1]));
}

async function others(client) {
  const ids = [];
  for await (const entry of client.models.list()) ids.push(entry.id);
  assert.deepEqual(ids, [model]);
  assert.equal((await client.models.retrieve(model)).id, model);
}

async function refusals(client, url) {
  const refused = (promise, type, status, param) => assert.rejects(promise, error => {
    assert.ok(error instanceof type, String(error));
    assert.deepEqual([error.status, error.param], [status, param]);
    return true;
  });
  await refused(client.chat.completions.create({ model, messages, n: 2 }), OpenAI.BadRequestError, 400, "n");
  await refused(client.chat.completions.create({ model, messages, tools: [{ type: "function", function: { name: "f" } }] }), OpenAI.BadRequestError, 400, "tools");
  await refused(client.chat.completions.create({ model: "gpt-4o", messages }), OpenAI.NotFoundError, 404, "model");
  await refused(new OpenAI({ baseURL: url, apiKey: "wrong", maxRetries: 0 }).models.list(), OpenAI.AuthenticationError, 401, null);
}

async function leaves(client) {
  const stream = await client.chat.completions.create({ model, messages, stream: true });
  for await (const _ of stream) break;
  stream.controller.abort();
}

async function main() {
  const [url, apiKey] = process.argv.slice(2);
  const client = new OpenAI({ baseURL: url, apiKey, maxRetries: 0 });
  await chats(client);
  await completions(client);
  await embeddings(client);
  await others(client);
  await refusals(client, url);
  await leaves(client);
  await Promise.all(Array.from({ length: 24 }, () => completions(client)));
  console.log("openai: chats, completions, embeddings, models, refusals, a stream that is left");
}

main();
