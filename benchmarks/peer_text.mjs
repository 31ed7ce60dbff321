// Node as most would write it: the file as one text, each line to JSON.parse, and nothing else.
import { readFileSync } from "node:fs";

for (const line of readFileSync(process.argv[2], "utf8").split("\n")) {
  if (line) JSON.parse(line);
}
