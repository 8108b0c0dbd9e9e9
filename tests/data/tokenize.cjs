// Asks Hugging Face's tokenizers, the Rust library and the one in JavaScript, for ids and for texts of ids.
// usage: NODE_PATH=FOLDER node tokenize.cjs < JOBS
// A job is a line of JSON, {"tokenizer": a tokenizer.json, "config": a tokenizer_config.json, "texts": [...]}. The answer is a
// line of JSON, {"rust": [...], "js": [...]}, with an entry for each text: {"ids", "special", "decoded", "skipped"} or {"error"}.
// `special` are the ids with what the tokenizer adds; `skipped` is decoded without special tokens.
const readline = require('readline');
const rust = require('tokenizers');
const js = require('@huggingface/tokenizers');

const safely = async (work) => {
  try {
    return await work();
  } catch (error) {
    return { error: String((error && error.message) || error).slice(0, 200) };
  }
};

async function withRust(tokenizer, text) {
  const ids = (await tokenizer.encode(text, null, { addSpecialTokens: false })).getIds();
  const special = (await tokenizer.encode(text, null, { addSpecialTokens: true })).getIds();
  return { ids, special, decoded: await tokenizer.decode(ids, false), skipped: await tokenizer.decode(ids, true) };
}

function withJs(tokenizer, text) {
  const ids = Array.from(tokenizer.encode(text, { add_special_tokens: false }).ids, Number);
  const special = Array.from(tokenizer.encode(text, { add_special_tokens: true }).ids, Number);
  const decode = (list, skip) =>
    list.length === 0 ? '' : tokenizer.decode(list, { skip_special_tokens: skip, clean_up_tokenization_spaces: false });
  return { ids, special, decoded: decode(ids, false), skipped: decode(ids, true) };
}

async function answer(job) {
  const one = await safely(() => rust.Tokenizer.fromString(JSON.stringify(job.tokenizer)));
  const two = await safely(() => new js.Tokenizer(job.tokenizer, job.config || {}));
  const out = { rust: [], js: [] };
  for (const text of job.texts) {
    out.rust.push(one.error ? one : await safely(() => withRust(one, text)));
    out.js.push(two.error ? two : await safely(() => withJs(two, text)));
  }
  return out;
}

(async () => {
  for await (const line of readline.createInterface({ input: process.stdin, crlfDelay: Infinity })) {
    if (line) process.stdout.write(JSON.stringify(await answer(JSON.parse(line))) + '\n');
  }
})();
