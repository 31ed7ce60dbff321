// The peer: Node parsing each line, and nothing else. Lines are cut from the buffer, which is its
// quickest way to do so.
import { readFileSync } from "node:fs";

const content = readFileSync(process.argv[2]);
let start = 0;
let end;
while ((end = content.indexOf(10, start)) >= 0) {
  JSON.parse(content.toString("utf8", start, end));
  start = end + 1;
}
