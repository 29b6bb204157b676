// Which changed lines of JavaScript and TypeScript ran, by the engine's own block coverage (node:inspector, in
// Node and in Deno). Hints only, like line_recorder.py: the code shares the process and can forge them. A line ran
// when any part of it did; what it can do was done (`acted`) when no call stands in a part that did not.
import fs from "node:fs";
import Module from "node:module";
import path from "node:path";
import timers from "node:timers";
import { pathToFileURL } from "node:url";

const TYPED = /\.[mc]?ts$/;
const MARKUP = /\.[jt]sx$/;
const DIGITS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
const read = fs.readFileSync;
const { setTimeout: later, clearTimeout: never } = timers; // before they are shortened
const CALLS = /[\w$\])]\s*(?:\?\.)?[(`]/;
// In a part that did not run; blanks are left out. A word is tried at its beginning only: a bundle holds data of
// a hundred thousand letters in one.
const INERT = /(?<!\w)\w*Error\(|\breject\(|\bconsole\.\w+\(/g;
const WRAPPING = 1000; // characters, at most, before a file's own
const PATIENCE = 2000; // milliseconds: an engine that does not answer is given up, and that is told
const transform = Module.stripTypeScriptTypes;
const hooks = Module.registerHooks && !globalThis.Deno ? await import("./hooks.mjs") : undefined;

/** Records for one process. `wanted`: {tree path: [[first, last], ...]}, changed lines of the head; `own`: the
 * path of the file that is to be loaded. */
export class Seen {
  constructor(wanted, own, plain = false) {
    this.own = own;
    this.plain = plain; // a test runner makes JavaScript of it, not we
    this.files = new Map();
    for (const [name, spans] of Object.entries(wanted)) {
      const file = { name, spans, ran: new Set(), told: new Set(), records: new Map(), acted: new Set() };
      this.files.set(pathToFileURL(path.resolve(name)).href, file);
      this.files.set(path.resolve(name), file); // what some versions of Node call a CommonJS script
    }
  }

  /** Begin, before the code is loaded. */
  async start() {
    const file = this.files.get(path.resolve(this.own ?? ""));
    if (file) this.learn(file);
    try {
      const { Session } = await import("node:inspector");
      this.session = new Session();
      this.session.connect();
      await this.ask("Profiler.enable");
      await this.ask("Profiler.startPreciseCoverage", { callCount: false, detailed: true });
    } catch {
      this.session = undefined; // and that is told (`whole`)
    }
  }

  ask(method, words) {
    return new Promise((yes, no) => {
      const clock = later(() => no(new Error("no answer")), PATIENCE);
      this.session.post(method, words, (error, told) => {
        never(clock);
        if (error) no(error);
        else yes(told);
      });
    });
  }

  /** What ran and was not told before, as report fields. */
  async news() {
    if (!this.session || !this.files.size) return {};
    try {
      return this.fresh(await this.ask("Profiler.takePreciseCoverage"));
    } catch {
      this.session = undefined;
      return {};
    }
  }

  /** The same at once, for the very end: only Node answers before this is over. */
  late() {
    let told;
    if (!this.session || !this.files.size) return {};
    try {
      this.session.post("Profiler.takePreciseCoverage", undefined, (_, answer) => (told = answer));
      return told ? this.fresh(told) : {};
    } catch {
      return {};
    }
  }

  fresh(coverage) {
    for (const script of coverage.result) {
      const file = this.files.get(script.url.split("?")[0]);
      if (file) this.add(file, script);
    }
    const lines = {};
    const acted = {};
    for (const file of new Set(this.files.values())) {
      const numbers = [...file.ran].filter((n) => !file.told.has(n));
      if (numbers.length) lines[file.name] = numbers;
      numbers.forEach((n) => file.told.add(n));
      if (!file.records.size) continue;
      const done = [...actedLines(file)].filter((n) => !file.acted.has(n));
      if (done.length || numbers.length) acted[file.name] = done;
      done.forEach((n) => file.acted.add(n));
    }
    return Object.keys(lines).length + Object.keys(acted).length ? { lines, acted } : {};
  }

  /** What one script's new counts say. An engine tells each function once, so that it adds up. */
  add(file, { scriptId, functions }) {
    this.learn(file);
    if (!file.text) return;
    const root = functions.find((f) => f.functionName === "" && f.ranges[0].startOffset === 0);
    const known = file.records.get(scriptId);
    if (!known && root?.ranges[0].endOffset === file.text.length) {
      file.records.set(scriptId, { text: file.text, places: file.places });
    } else if (!known) {
      const made = this.source(scriptId, file);
      if (made) file.records.set(scriptId, made);
      else if (root) file.other = true; // such as Deno's own way from an ES module to a CommonJS one
    }
    const record = file.records.get(scriptId);
    if (!record) return;
    const lit = new Uint8Array(record.text.length); // what is not told now did not run since
    for (const { ranges } of functions) {
      for (const { startOffset, endOffset, count } of ranges) lit.fill(count ? 1 : 0, startOffset, endOffset);
    }
    record.lit ??= new Uint8Array(record.text.length);
    record.ran ??= new Set();
    record.places.forEach((line, at) => {
      if (lit[at]) record.lit[at] = 1;
      if (!lit[at] || !file.code.has(line)) return;
      record.ran.add(line);
      file.ran.add(line);
    });
  }

  /** What a test runner made of a file, by the source map at its end: text, and each character's line. */
  source(scriptId, file) {
    if (!this.session || globalThis.Deno) return undefined;
    let text;
    try {
      if (!this.asking) this.session.post("Debugger.enable");
      this.asking = true;
      this.session.post("Debugger.getScriptSource", { scriptId }, (_, told) => (text = told?.scriptSource));
      const at = text.lastIndexOf("//# sourceMappingURL=data:");
      const begin = text.indexOf(file.text); // a runner that changes nothing puts a function around it
      if (begin >= 0 && begin <= WRAPPING) return { text, places: [...Array(begin).fill(0), ...file.places] };
      if (at < 0) return undefined;
      const data = /base64,([A-Za-z0-9+/=]+)/.exec(text.slice(at))[1]; // more may follow
      const map = JSON.parse(Buffer.from(data, "base64").toString("utf8"));
      const wrapped = /^'use strict';async \([^)\n]*\)=>\{\{/.exec(text);
      return { text, places: mappedLines(text, map.mappings, wrapped ? wrapped[0].length : 0) };
    } catch {
      return undefined;
    }
  }

  /** The file's text as the engine has it, and for each character of it the line of the source. */
  learn(file) {
    if (file.text !== undefined) return;
    Object.assign(file, { text: "", places: [], code: new Set() });
    let source;
    try {
      source = read(path.resolve(file.name), "utf8").replace(/^\uFEFF/, "");
    } catch {
      return;
    }
    const within = (line) => file.spans.some(([first, last]) => first <= line && line <= last);
    const code = codeLines(source);
    let text = source;
    let places = linesOf(source);
    if (this.plain) {
      // what the runner makes of it is known when it ran
    } else if (hooks?.isMade(path.resolve(file.name))) {
      const made = hooked(path.resolve(file.name), source);
      if (!made) return;
      ({ text, places } = made);
      const mapped = new Set(places);
      for (const line of [...code]) if (!mapped.has(line)) code.delete(line);
    } else if (globalThis.Deno && (TYPED.test(file.name) || MARKUP.test(file.name))) {
      const made = MARKUP.test(file.name) ? undefined : transformed(source);
      if (!made) return;
      ({ text, places } = made);
      const mapped = new Set(places); // a line of types alone is in none
      for (const line of [...code]) if (!mapped.has(line)) code.delete(line);
    }
    Object.assign(file, { text, places, code: new Set([...code].filter(within)) });
  }

  /** At the end, as report fields: `lines`, and of the own file which changed lines hold code at all (`code`), or
   * why it is not known which of them ran (`unwatched`). */
  async whole() {
    const fields = await this.news();
    const file = this.files.get(path.resolve(this.own ?? ""));
    if (!file) return fields;
    if (!this.session) return { ...fields, unwatched: "the runtime does not tell" };
    if (!file.text || (file.other && !file.records.size)) {
      return { ...fields, unwatched: "what the runtime ran is not the text of the file" };
    }
    return { ...fields, code: { [file.name]: [...file.code] } };
  }
}

/** Lines of which in one of the file's scripts no call stayed dark. */
function actedLines(file) {
  const found = new Set();
  for (const record of file.records.values()) {
    if (!record.lit) continue;
    const dark = darkCalls(record);
    for (const line of record.ran) if (!dark.has(line)) found.add(line);
  }
  return found;
}

/** Lines with a call in a part that has not run so far. */
function darkCalls({ text, places, lit }) {
  const parts = new Map(); // each line's dark text: pieces without blanks, a blank where what ran stands between
  const take = (line, begin, end, gap) => {
    if (!parts.has(line)) parts.set(line, []);
    parts.get(line).push(gap ? " " : "", text.slice(begin, end));
  };
  let begin = -1;
  for (let at = 0, last = 0, gap = true; at <= text.length; at++) {
    const line = places[at] ?? 0;
    const dark = line && !lit[at];
    if (begin >= 0 && !(dark && line === last)) {
      take(last, begin, at, gap);
      begin = -1;
      gap = false;
    }
    if (!line) continue;
    if (line !== last || lit[at]) gap = true;
    if (dark && begin < 0) begin = at;
    last = line;
  }
  return new Set([...parts].filter(([, dark]) => CALLS.test(dark.join("").replace(INERT, ""))).map(([line]) => line));
}

/** The line number of each character, 0 for blanks. */
function linesOf(text) {
  const lines = new Array(text.length);
  for (let at = 0, line = 1; at < text.length; at++) {
    const code = text.charCodeAt(at);
    const blank = code <= 32 ? code === 32 || (code >= 9 && code <= 13) : code >= 160 && /\s/.test(text[at]);
    lines[at] = blank && code !== 10 ? 0 : line;
    if (code === 10) line += 1;
  }
  return lines;
}

/** Lines with more than a comment or a bracket. Told from the text: wrong within templates over several lines. */
function codeLines(text) {
  const found = new Set();
  let comment = false;
  text.split("\n").forEach((line, index) => {
    let rest = line.trim();
    for (;;) {
      if (comment || rest.startsWith("/*")) {
        const end = rest.indexOf("*/", comment ? 0 : 2);
        comment = end < 0;
        rest = comment ? "" : rest.slice(end + 2).trim();
      } else break;
      if (!rest) break;
    }
    if (rest && !/^(\/\/|#!)/.test(rest) && !/^([\s{}()[\];,]|else|try|finally|do)*(\/\/.*)?$/.test(rest)) {
      found.add(index + 1);
    }
  });
  return found;
}

/** What Deno makes of TypeScript, and the source's line for each character of it. */
function transformed(source) {
  try {
    const whole = transform(source, { mode: "transform", sourceMap: true });
    const at = whole.lastIndexOf("//# sourceMappingURL=");
    const map = JSON.parse(Buffer.from(whole.slice(at).split("base64,")[1], "base64").toString("utf8"));
    const text = whole.slice(0, at);
    return { text, places: mappedLines(text, map.mappings) };
  } catch {
    return undefined;
  }
}

/** A module's text as the engine has it, for telling which functions are its own; empty where that is not known. */
export function textOf(name) {
  try {
    const source = read(path.resolve(name), "utf8");
    const made = hooks ? hooks.isMade(path.resolve(name)) : TYPED.test(name) || MARKUP.test(name);
    if (!made) return source;
    if (hooks) return hooks.make(path.resolve(name), source.replace(/^\uFEFF/, "")).text;
    return globalThis.Deno && !MARKUP.test(name) ? (transformed(source)?.text ?? "") : "";
  } catch {
    return "";
  }
}

/** The source's line of a place that a stack names; the same line where nothing was made of the file. */
export function lineOf(name, line, column) {
  if (!hooks?.isMade(path.resolve(name))) return line;
  const made = hooked(path.resolve(name), read(path.resolve(name), "utf8").replace(/^\uFEFF/, ""));
  if (!made) return line;
  let at = 0;
  for (let n = 1; n < line; n++) at = made.text.indexOf("\n", at) + 1;
  return made.places[at + column - 1] || line;
}

/** The same of what our hooks make of it in Node. */
function hooked(name, source) {
  try {
    const { text, map, under } = hooks.make(name, source);
    if (!map) return undefined;
    const places = mappedLines(text, map.mappings);
    return { text, places: under?.map ? through(places, under) : places };
  } catch {
    return undefined;
  }
}

/** Places in what lies between, as lines of the source: it has a map of its own. */
function through(places, { text, map }) {
  const between = linesOf(text);
  const lines = [];
  mappedLines(text, map.mappings).forEach((line, at) => {
    if (line && between[at]) lines[between[at]] ??= line;
  });
  return places.map((line) => lines[line] ?? 0);
}

function mappedLines(text, mappings, shift = 0) {
  const places = [];
  const state = [0, 0, 0];
  const shown = linesOf(text);
  mappings.split(";").reduce((start, group) => {
    let column = start === 0 ? shift : 0;
    const marks = [];
    for (const segment of group ? group.split(",") : []) {
      const [right, ...rest] = numbers(segment);
      column += right;
      rest.slice(0, 3).forEach((step, n) => (state[n] += step));
      marks.push([column, rest.length ? state[1] + 1 : 0]);
    }
    const end = text.indexOf("\n", start) < 0 ? text.length : text.indexOf("\n", start) + 1;
    marks.forEach(([from, line], n) => {
      for (let at = start + from; at < Math.min(end, start + (marks[n + 1]?.[0] ?? end)); at++) {
        places[at] = shown[at] ? line : 0;
      }
    });
    return end;
  }, 0);
  return places;
}

/** Base 64 VLQ, as source maps have it. */
function numbers(segment) {
  const out = [];
  let value = 0;
  let shift = 0;
  for (const digit of segment) {
    const bits = DIGITS.indexOf(digit);
    value += (bits & 31) << shift;
    shift += 5;
    if (bits & 32) continue;
    out.push(value & 1 ? -(value >> 1) : value >> 1);
    value = shift = 0;
  }
  return out;
}
