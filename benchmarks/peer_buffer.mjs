// Node tuned by hand: lines are cut from the bytes and only then made into text for JSON.parse.
import { readFileSync } from "node:fs";

const content = readFileSync(process.argv[2]);
let start = 0;
let end;
while ((end = content.indexOf(10, start)) >= 0) {
  JSON.parse(content.toString("utf8", start, end));
  start = end + 1;
}
