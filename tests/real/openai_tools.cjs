// A conversation of three turns through OpenAI's client for Node.js, in each of which the model must call a tool: its transcript as lines of JSON.
// Usage: node openai_tools.cjs URL MODEL TOOL, TOOL as JSON
"use strict";
const OpenAI = require("openai").default ?? require("openai");

const questions = ["How will the weather in Paris be for the next 3 days?", "And in Rome for 2 days?", "Now tell me about London, for 5 days."];

async function main() {
  const [url, model, tool] = process.argv.slice(2);
  const client = new OpenAI({ baseURL: url, apiKey: "none", maxRetries: 0 });
  const messages = [];
  const say = message => {
    messages.push(message);
    console.log(JSON.stringify(message));
  };
  for (const [turn, content] of questions.entries()) {
    say({ role: "user", content });
    const asked = { model, messages, tools: [JSON.parse(tool)], tool_choice: "required", parallel_tool_calls: false, temperature: 0.3, seed: 1, max_tokens: 100 };
    // The last turn as a stream, which the client puts together.
    const answer = turn < 2 ? await client.chat.completions.create(asked) : await client.chat.completions.stream(asked).finalChatCompletion();
    const { message, finish_reason } = answer.choices[0];
    if (finish_reason !== "tool_calls" || message.tool_calls.length !== 1) throw new Error(`${finish_reason}: ${JSON.stringify(message)}`);
    const [{ id, type, function: { name, arguments: given } }] = message.tool_calls;
    say({ role: "assistant", content: null, tool_calls: [{ id, type, function: { name, arguments: given } }] });
    say({ role: "tool", tool_call_id: id, content: JSON.stringify({ forecast: Array(JSON.parse(given).days).fill("sunny") }) });
  }
}

main().catch(error => {
  console.error(error);
  process.exit(1);
});
