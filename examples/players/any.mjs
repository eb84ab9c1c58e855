// A player in JavaScript: it takes any legal action but an accusation, chosen by the seed of the request.
// It keeps the protocol of docs/protocol.md: sleuth match "exec:node examples/players/any.mjs" random random
import { createInterface } from "node:readline";

const write = (answer) => process.stdout.write(JSON.stringify(answer) + "\n");

for await (const line of createInterface({ input: process.stdin })) {
  const request = JSON.parse(line);
  if (request.type === "hello") {
    write({ type: "hello", protocol: 1, name: "any" });
  } else if (request.type === "decide") {
    const quiet = request.legal.filter((name) => !/^(accuse|final)/.test(name));
    const choices = quiet.length > 0 ? quiet : request.legal;
    write({ id: request.id, action: choices[request.seed % choices.length] });
  }
  // Whatever else comes needs no answer.
}
