// Files that a request brings along: their names lead out of the folder where they are kept. What was written is seen by
// the trace. Trusted.
import { TEXTS } from "./payloads.mjs";
import { now } from "./stands.mjs";
import { ask, bodyOf, quietly } from "./ways.mjs";

const READS = /\bformData\s*\(|\bparseBody\s*\(|\bmulter\b|\bbusboy\b|\bformidable\b|fileupload|multipart/i;
const NAMES = [
  /\.(?:single|array)\(\s*["'`]([\w-]{1,40})/g,
  /\.(?:get|getAll)\(\s*["'`]([\w-]{1,40})["'`]/g,
  /\bfiles?\??\.([a-z]\w{1,30})\b(?!\s*\()/g,
  /\{([^{}]{1,200})\}\s*=\s*await\s+[\w.]*\bparseBody\b/g,
  /\bbody\[["'`]([\w-]{1,40})["'`]\]/g,
];
const FIELDS = 6;
const BOUNDARY = "gate-boundary-1a2b3c";
/** Names of files that are taken, with how they begin. */
const KINDS = [["gate.txt", "text/plain", "gate\n"], ["gate.png", "image/png", "\u0089PNG\r\n\u001a\n gate"], ["gate.csv", "text/csv", "a,b\n1,2\n"]];

const namesOf = (code) => [...new Set([...NAMES.flatMap((one) => [...code.matchAll(one)].flatMap(([, words]) => words.split(",").map((word) => word.split(/[:=]/)[0].trim()))), "file"])].filter((name) => /^[\w-]+$/.test(name)).slice(0, FIELDS);

/** The body of a form with that file, as text. */
function formWith(fields, name, [filename, type, text]) {
  const part = (head, value) => `--${BOUNDARY}\r\n${head}\r\n\r\n${value}\r\n`;
  const plain = Object.entries(fields).filter(([key, value]) => key !== name && (typeof value === "string" || typeof value === "number"));
  const texts = plain.map(([key, value]) => part(`Content-Disposition: form-data; name="${key}"`, value));
  return `${texts.join("")}${part(`Content-Disposition: form-data; name="${name}"; filename="${filename}"\r\nContent-Type: ${type}`, text)}--${BOUNDARY}--\r\n`;
}

export async function uploads({ asked, tools, bounded, late, begin, tell }) {
  if (!READS.test(tools.tree.code)) return;
  const names = namesOf(`${tools.own}\n${tools.tree.code}`);
  for (const [route, [way]] of asked.filter(([one]) => /^(?:POST|PUT|PATCH)\b/.test(one.entry))) {
    const how = (name, file) => ask(route, way.known, way.values, tools, { raw: formWith(bodyOf(way.known, way.values, tools), name, file), headers: { "content-type": `multipart/form-data; boundary=${BOUNDARY}` } });
    const send = (name, file) => quietly(() => bounded(route.send(how(name, file))));
    for (const name of names) {
      if (late()) return;
      now.making = true; // the folder, where only a deployment has it
      let kind;
      for (const one of KINDS) if (!kind && (await send(name, one))?.status < 400) kind = one;
      now.making = false;
      if (!kind) continue;
      const [plain, type, text] = kind;
      const end = plain.slice(plain.lastIndexOf("."));
      const payloads = TEXTS["path-write"].filter((one) => !/["\r\n]/.test(one));
      for (const payload of payloads.flatMap((one) => (end === ".txt" ? [one] : [one, one + end]))) {
        if (late()) return;
        const mark = begin("path-write");
        const file = payload.replace(/@([A-Z]+)@/g, (all, word) => mark[word] ?? all);
        const reply = (await send(name, [file, type, text])) ?? { request: route.told(how(name, [file, type, text])) };
        if (!now.hit) continue;
        tell(route, "path-write", mark, ["file", name], payload, reply, "");
        break;
      }
      break;
    }
  }
}
