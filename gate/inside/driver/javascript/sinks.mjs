// Which calls of the program's own a value reached: the ordinary one, and a payload's. Where the ordinary one reached a
// call and no payload did, a check in front of it held. Files that only a deployment has are made, so that what asks
// for them first goes on. Trusted.
import fs from "node:fs";
import Module from "node:module";
import path from "node:path";
import process from "node:process";
import { lineOf } from "./coverage.mjs";
import { listed, looked } from "./folders.mjs";

const PLAIN = "gate";
const READS = ["readFile", "readFileSync", "createReadStream", "open", "openSync", "readdir", "readdirSync", "copyFile", "copyFileSync"];
const WRITES = ["writeFile", "writeFileSync", "createWriteStream", "appendFile", "appendFileSync", "unlink", "unlinkSync", "rm", "rmSync", "rename", "renameSync"];
const LOOKS = ["stat", "statSync", "lstat", "lstatSync", "access", "accessSync", "existsSync", "realpath", "realpathSync"];
const top = process.cwd() + path.sep;
const AT = /(?:file:\/\/)?(\/[^\s()]+?)(?:\?[^\s():]*)?:(\d+):(\d+)\)?$/;
/** "weakness path line column" -> whether it was met by the ordinary value and by a payload. */
const met = new Map();

/** Lines of the tree's own code on the stack, the innermost first: [function, path, line, column]. */
function frames() {
  const { stackTraceLimit } = Error;
  Error.stackTraceLimit = 30;
  const lines = String(new Error().stack).split("\n");
  Error.stackTraceLimit = stackTraceLimit;
  const found = [];
  for (const line of lines) {
    const [, file, at, column] = AT.exec(line.trim()) ?? [];
    if (file?.startsWith(top) && !file.includes("/node_modules/")) found.push([/\bat (?:async )?([\w$.<>]+) \(/.exec(line)?.[1] ?? "", file.slice(top.length), Number(at), Number(column)]);
  }
  return found;
}

/** The innermost of them, as a text. */
const place = () => frames()[0]?.slice(1).join(" ") ?? "";
/** The same with lines of the sources: [function, path, line]. */
export const treeFrames = () => frames().map(([name, file, line, column]) => [name, file, lineOf(file, line, column)]);

/** Does it lead where the payload wants to: out of the tree, or to its host? */
function leads(weakness, text, [word, address]) {
  if (weakness.startsWith("path-")) return !path.resolve(text).startsWith(top);
  if (weakness !== "request-forgery") return true;
  try {
    const { host, hostname } = new URL(text);
    return host === address || hostname.includes(word);
  } catch {
    return false;
  }
}

/** A text arrived there. `now` has the words of the payload that is under way, and its weakness. */
export function arrived(weakness, text, now) {
  const { marks, weakness: tried } = now;
  const marked = marks.some((mark) => text.toLowerCase().includes(mark));
  const hostile = marked && tried === weakness; // of another weakness, it is but a text
  if (hostile && leads(weakness, text, marks)) now.hit = true;
  if (now.word && text.includes(now.word)) now.met = true;
  if (now.aside) return; // a route that is asked for its effects alone
  if (!hostile && (marked || !text.includes(PLAIN))) return;
  const at = place();
  if (!at) return;
  if (hostile) now.at ??= placed(at);
  const one = met.get(`${weakness} ${at}`) ?? { plain: false, hostile: false };
  met.set(`${weakness} ${at}`, hostile ? { ...one, hostile } : { ...one, plain: true });
}

/** Listen at files. `now` is stands.mjs's: marks of the attempt, and whether files are made. */
export function listen(now) {
  const text = (value) => (typeof value === "string" ? value : value instanceof URL ? value.pathname : Buffer.isBuffer(value) ? value.toString() : "");
  const { existsSync, mkdirSync, writeFileSync } = fs;
  const make = (name) => {
    const whole = path.resolve(name);
    if (!now.making || !whole.startsWith(top) || !path.basename(whole).includes(PLAIN) || existsSync(whole)) return;
    try {
      mkdirSync(path.dirname(whole), { recursive: true });
      writeFileSync(whole, "gate\n");
    } catch {
      // no place for it
    }
  };
  for (const at of [fs, fs.promises]) {
    for (const [names, weakness] of [[READS, "path-read"], [WRITES, "path-write"], [LOOKS, ""]]) {
      for (const name of names) {
        const real = at[name];
        if (typeof real !== "function") continue;
        at[name] = Object.assign(function (...words) {
          const file = text(words[0]);
          if (file && weakness !== "path-write") make(file);
          if (file && now.making && /^readdir/.test(name)) listed(file);
          if (file && now.making && /[\\/]\.git(?:[\\/]|$)/.test(file)) looked(file);
          if (file && weakness) arrived(weakness, file, now);
          return real.apply(this, words);
        }, real);
      }
    }
  }
  Module.syncBuiltinESMExports?.();
}

/** What ordinary values reached and no payload did: [[weakness, path, line]]. */
export function held() {
  return [...met].filter(([, { plain, hostile }]) => plain && !hostile).map(([key]) => {
    const [weakness, ...rest] = key.split(" ");
    return [weakness, ...placed(rest.join(" "))];
  });
}

/** [path, line] in the source of a place. */
function placed(text) {
  const words = text.split(" ");
  const [line, column] = words.slice(-2).map(Number);
  const name = words.slice(0, -2).join(" ");
  return [name, lineOf(name, line, column)];
}
