// Functions of a library that no route leads to: what a module exports, called with texts in each of its parameters.
// Asked are patterns that get slow, checks of signatures, and what sets or merges by names that it is given. What the tree's outermost modules export goes first: they
// may look at a text before they hand it on; a changed file's own functions only where nothing of it was reached by
// them. Trusted.
import fs from "node:fs";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { computed } from "./macs.mjs";
import { leading, polluted } from "./prototypes.mjs";
import { worth } from "./request_values.mjs";
import { alsoIn } from "./signatures.mjs";
import { slowIn } from "./slow_patterns.mjs";

const MOST = 40; // functions
const PLACES = 6; // of one function
const TEXT = /^(?:undefined|["'`].*)?$/s;
const IDLE = /^(?:length|size|constructor|prototype|name)$/;

/** Functions, classes and their methods, as {name, act, places}: `act(texts)` calls with texts in some places. */
function callables(space, { calls, source }) {
  const found = [...calls.collect(space)];
  for (const [name, target] of [...found]) {
    if (!isClass(target, source)) continue;
    for (const key of Object.getOwnPropertyNames(target)) {
      const value = Object.getOwnPropertyDescriptor(target, key).value;
      if (typeof value === "function" && !IDLE.test(key)) found.push([`${name}.${key}`, value, undefined, target]);
    }
  }
  return found.slice(0, MOST);
}

const isClass = (f, source) => /^class\b/.test(source(f));

/** Parameters as places: [{at, field, name}], and which take a value of their own. */
function placesOf(target, { calls, source }) {
  const text = source(target);
  return calls.parameters(target).flatMap((parameter, at) => {
    const [shape, fallback] = parameter.split(/=(.*)/s).map((part) => part?.trim());
    if (shape.startsWith("{")) {
      const names = shape.replace(/[{}]/g, "").split(",").map((part) => part.trim().split(/[:=\s]/)[0]);
      return names.filter((name) => /^\w+$/.test(name)).map((name) => ({ at, field: name, name }));
    }
    const name = shape.replace(/^\.\.\./, "").replace(/[?:].*$/s, "").trim();
    if (!/^[\w$]+$/.test(name) || !TEXT.test(fallback ?? "")) return [];
    const read = [...text.matchAll(new RegExp(String.raw`\b${name.replaceAll("$", "\\$")}\??\.(\w+)\b(?!\s*[(\w])`, "g"))].map(([, word]) => word).filter((word) => !IDLE.test(word));
    return [{ at, name }, ...[...new Set(read)].map((field) => ({ at, field, name: field }))];
  }).slice(0, PLACES);
}

/** Arguments, plain words where no text of ours stands. */
function argumentsOf(target, places, tools, place, text) {
  const needed = tools.calls.parameters(target).filter((one) => !one.includes("=") && !one.startsWith("...")).length;
  const out = Array.from({ length: needed }, (_, at) => plainAt(at, target, places, tools, place));
  if (place !== undefined) {
    while (out.length <= place.at) out.push(plainAt(out.length, target, places, tools, place));
    if (place.field === undefined) out[place.at] = text;
    else if (text === null) delete out[place.at][place.field];
    else out[place.at][place.field] = text;
  }
  return out;
}

function plainAt(at, target, places, tools, place) {
  const fields = places.filter((one) => one.at === at && one.field !== undefined);
  const whole = places.some((one) => one.at === at && one.field === undefined);
  // A record where it is taken apart, or where one of its fields is what is asked.
  if (fields.length && (!whole || (place?.at === at && place.field !== undefined))) return Object.fromEntries(fields.map(({ field }) => [field, worth(field, tools)]));
  return worth((tools.calls.parameters(target)[at] ?? "").split(/[=:?\s]/)[0], tools);
}

/** An instance whose constructor was given plain words; one without a constructor where it takes none of them. */
function instance(owner, tools) {
  try {
    return new owner(...argumentsOf(owner, placesOf(owner, tools), tools));
  } catch {
    return tools.calls.instance(owner);
  }
}

function caller([, target, owner, self], tools) {
  const places = placesOf(target, tools);
  const call = (place, text) => apply(argumentsOf(target, places, tools, place, text));
  const apply = async (args) => {
    if (isClass(target, tools.source)) return new target(...args);
    return tools.calls.exhaust(target.apply(owner ? instance(owner, tools) : self, args));
  };
  return { places, call, apply };
}

/** What became of a call, as signatures.mjs wants it. */
async function outcomeOf(act) {
  try {
    const value = await act();
    const key = typeof value === "object" && value !== null ? JSON.stringify(value) : String(value);
    return { in: value !== false && value !== null && value !== 0 && !/"(?:ok|valid|verified|isValid|success)":false/.test(key), key };
  } catch {
    return { in: false, key: "thrown" };
  }
}

const SET = 3; // places of one function in which a path or an object may stand

/** Something that sets or merges by names that it is given: before them an object, behind them a value. Gives how many
 * calls there were. */
async function setting([name, target], apply, { tools, bounded, late, begin, tell }, reached) {
  let calls = 0;
  const parameters = tools.calls.parameters(target).filter((one) => !one.includes("="));
  for (let at = 0; at < Math.min(Math.max(parameters.length, 2), SET); at++) {
    const mark = begin("prototype");
    for (const payload of leading(mark.WORD)) {
      if (late()) return calls;
      calls += 1;
      const behind = Math.max(parameters.length - at - 1, 1);
      const args = [...Array.from({ length: at }, () => ({})), payload, ...Array.from({ length: behind }, () => mark.WORD)];
      await bounded(apply(args)).catch(() => undefined);
      if (!polluted(mark.WORD)) continue;
      reached.add("prototype");
      const field = ["parameter", (parameters[at] ?? "rest").replace(/[=:?].*$|^\.\.\./gs, "").trim()];
      tell({ entry: name }, "prototype", mark, field, JSON.stringify(payload), undefined, `every object of the process has ${mark.WORD} afterwards`);
      return calls;
    }
  }
  return calls;
}

/** Gives how many calls there were. */
async function asked(space, kit, reached) {
  const { tools, bounded, late, job, begin } = kit;
  let calls = 0;
  for (const one of callables(space, tools)) {
    const [name] = one;
    const { places, call, apply } = caller(one, tools);
    const tell = (_, weakness, mark, field, payload, __, shown, more) => {
      const request = { call: `${name}(${field[1]}: ${payload})`.slice(0, 1000) };
      kit.tell({ entry: name }, weakness, mark, field, payload, { request }, shown, { via: "call", target: name, ...more });
    };
    if (job.classes.includes("prototype") && !isClass(one[1], tools.source)) calls += await setting(one, apply, { ...kit, tell }, reached);
    for (const place of places) {
      if (late()) return calls;
      const field = ["parameter", place.name];
      const act = (text) => {
        calls += 1;
        return bounded(call(place, text));
      };
      const send = (text) => act(text).catch(() => undefined);
      if (job.classes.includes("slow-pattern")) {
        const route = { entry: name, told: () => ({}) };
        if (await slowIn({ ...kit, tell }, route, field, send)) reached.add("slow-pattern");
      }
      if (!job.classes.includes("token")) continue;
      computed.length = 0;
      await send("gate");
      if (!computed.length) continue;
      reached.add("token");
      const mark = begin("token");
      const hole = await alsoIn((text) => outcomeOf(() => act(text)), { late, absent: place.field !== undefined });
      if (hole) tell(undefined, "token", mark, field, hole.payload, undefined, hole.shown);
    }
  }
  return calls;
}

/** `job.behind`: files of the change that the module leads to. Gives how many calls there were. */
export async function functions(space, kit) {
  const reached = new Set();
  let count = await asked(space, kit, reached);
  for (const file of kit.job.behind ?? []) {
    const left = kit.job.classes.filter((weakness) => !reached.has(weakness));
    if (kit.late() || !left.length || !fs.existsSync(file)) continue;
    try {
      const inner = await import(pathToFileURL(path.resolve(file)).href);
      count += await asked(inner, { ...kit, job: { ...kit.job, classes: left } }, reached);
    } catch {
      // it cannot be loaded alone
    }
  }
  return count;
}
