// What Ajv says of instances. stdin: JSON lines {"schema", "data": [instance]}; stdout: JSON lines {"valid": [bool]} or {"error"}.
// Needed: the npm packages ajv@8.17.1 and ajv-formats@3.0.1. usage: NODE_PATH=NODE_MODULES node ajv_verdicts.cjs
"use strict";
const readline = require("readline");
const addFormats = require("ajv-formats").default;
const drafts = { "2020-12": require("ajv/dist/2020").default, "2019-09": require("ajv/dist/2019").default, "draft-07": require("ajv").default };

(async () => {
  for await (const line of readline.createInterface({ input: process.stdin, crlfDelay: Infinity })) {
    const { schema, data } = JSON.parse(line);
    const named = Object.keys(drafts).find(draft => String(schema.$schema ?? "2020-12").includes(draft));
    let out;
    try {
      if (!named) throw new Error("another draft");
      const ajv = new drafts[named]({ strict: false, logger: false });
      addFormats(ajv);
      const validate = ajv.compile(schema);
      out = { valid: data.map(instance => validate(instance)) };
    } catch (error) {
      out = { error: String(error.message ?? error).slice(0, 300) };
    }
    process.stdout.write(JSON.stringify(out) + "\n");
  }
})();
