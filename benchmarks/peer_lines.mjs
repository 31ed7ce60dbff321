// Node with its own line reader, which does not hold the file: each line to JSON.parse.
import { createReadStream } from "node:fs";
import { createInterface } from "node:readline";

for await (const line of createInterface({ input: createReadStream(process.argv[2]) })) {
  if (line) JSON.parse(line);
}
