// Renders templates with the npm package @huggingface/jinja.
// stdin: JSON lines {"template", "context", "now": "2025-03-04T09:05:07"}; stdout: JSON lines {"text"} or {"error"}.
// usage: TZ=UTC NODE_PATH=NODE_MODULES node second_opinion.cjs
const readline = require('readline');
const { Template } = require('@huggingface/jinja');
const RealDate = Date;
let now = 0;
globalThis.Date = class extends RealDate {
  constructor(...parts) {
    if (parts.length) super(...parts);
    else super(now);
  }
  static now() { return now; }
};
const parsed = new Map();
(async () => {
  for await (const line of readline.createInterface({ input: process.stdin, crlfDelay: Infinity })) {
    if (!line) continue;
    const job = JSON.parse(line);
    now = RealDate.parse(job.now + 'Z');
    let out;
    try {
      if (!parsed.has(job.template)) parsed.set(job.template, new Template(job.template));
      out = { text: parsed.get(job.template).render(job.context) };
    } catch (e) {
      out = { error: String((e && e.message) || e).slice(0, 300) };
    }
    process.stdout.write(JSON.stringify(out) + '\n');
  }
})();
