// Runs one grader script in a realm of its own, and says how that ended.
//
// Standard input: one line of JSON with the lengths in bytes of the texts that follow (realm, script,
// configuration, lookups, session), then the texts. Once they are loaded, "ready\n" is written, and one
// more byte is waited for. The answer is one JSON text on standard output.
//
// Nothing but text crosses into the realm, and nothing but text comes out: an object of this side
// would hand over its constructor, and with it everything.
"use strict";

const fs = require("node:fs");
const v8 = require("node:v8");
const vm = require("node:vm");

const INPUT = 0;
const OUTPUT = 1;
const MAX_HEADER_BYTES = 4096;
const SCRIPT_NAME = "grader.js";

function readExactly(length) {
  const bytes = Buffer.allocUnsafeSlow(length);
  let filled = 0;
  while (filled < length) {
    const count = fs.readSync(INPUT, bytes, filled, length - filled, null);
    if (count === 0) throw new Error("the input ends too early");
    filled += count;
  }
  return bytes;
}

function readHeader() {
  let text = "";
  while (text.length < MAX_HEADER_BYTES) {
    const byte = readExactly(1).toString("latin1");
    if (byte === "\n") return JSON.parse(text);
    text += byte;
  }
  throw new Error("the header is too long");
}

function write(text) {
  const bytes = Buffer.from(text, "utf8");
  let written = 0;
  while (written < bytes.length) written += fs.writeSync(OUTPUT, bytes, written);
}

const lengths = readHeader();
const [realm, script, config, lookups] = lengths
  .slice(0, -1)
  .map((length) => readExactly(length).toString("utf8"));

const context = vm.createContext(vm.constants.DONT_CONTEXTIFY, {
  name: "grader",
  codeGeneration: { strings: false, wasm: false },
});
// The realm's own code is compiled there, and its functions know nothing of this side.
const start = vm.runInContext(realm, context, { filename: "realm.js" });
const load = start();
load(config, lookups, readExactly(lengths.at(-1)).toString("utf8"));

let body;
let refusal = "";
try {
  body = vm.compileFunction(`"use strict";\n${script}`, ["session", "config", "helpers"], {
    parsingContext: context,
    filename: SCRIPT_NAME,
    lineOffset: -1,
  });
} catch (error) {
  // A mistake in the script's spelling: the message is the engine's, made of text.
  const place = /^grader\.js:(\d+)/.exec(String(error.stack));
  refusal = JSON.stringify({
    error: `${error.name}: ${error.message}`,
    line: place === null ? null : Number(place[1]),
    column: null,
  });
}
// What loading left behind is not held against the script. Only contexts made from here on know `gc`.
v8.setFlagsFromString("--expose-gc");
// A usual collection keeps pages for later, which the script could use beyond its bound.
vm.runInNewContext("gc")({ type: "major", execution: "sync", flavor: "last-resort" });
write("ready\n");
readExactly(1);
write(refusal === "" ? load(body) : refusal);
// At once: whatever the script has put off, a promise say, never gets its turn.
process.reallyExit(0);
