// Runs one JavaScript or TypeScript module inside the sandbox: imports it, calls what it exports.
// Node 18+ or Deno 2; trusted, no packages. The job is JSON on standard input (runner.py); messages
// of the driver's kind (item_process.py) go to the descriptor that the job names. All of it is a hint that the
// code can forge; that this process ended early is seen by the driver's parent.
import fs from "node:fs";
import Module from "node:module";
import net from "node:net";
import path from "node:path";
import process from "node:process";
import timers from "node:timers";
import { pathToFileURL } from "node:url";
import { shift, shorten } from "./clock.mjs";
import { Seen, textOf } from "./coverage.mjs";
import { listen as listenToRoutes, requests } from "./routes.mjs";
import { stand } from "./sqlite.mjs";
import { drawer, isView } from "./views.mjs";

const job = JSON.parse(fs.readFileSync(0, "utf8"));
const guards = job.guards ? await import("./guards/asker.mjs") : undefined;
const forced = job.force ? await import("./forced.mjs") : undefined;
const { setTimeout: later, clearTimeout: never } = globalThis;
const { setTimeout: inTheEnd } = timers;
const leave = process.exit.bind(process);
const TAKE = 20;
const MOST = 60;
const MADE = 40; // calls of what one function gave back
let missing = "";
let bound = false;
let draw; // what draws components, where the project has React

let outlet = job.fd;
const write = fs.writeSync;
try {
  write(outlet, "\n");
} catch {
  outlet = fs.openSync(`/proc/self/fd/${job.fd}`, "a"); // Deno numbers its files by itself
}
function say(kind, fields = {}) {
  try {
    write(outlet, `${JSON.stringify({ m: kind, ...fields })}\n`);
  } catch {
    // the driver's parent notices an early end by itself
  }
}
const seen = new Seen(job.lines, job.own);
function tell(news) {
  if (news.lines) say("seen", news);
}
process.on("exit", () => {
  tell(seen.late());
  say("end");
});

// What every import asks for by itself, so that it is part of the runtime's own baseline: settings of the
// folders above, packages that are nowhere, and the caches that Deno cannot keep.
const attempt = (act) => {
  try {
    act();
  } catch {
    // all of it fails, mostly
  }
};
for (let folder = process.cwd(); ; folder = path.dirname(folder)) {
  for (const name of ["package.json", "deno.json", "deno.jsonc"]) {
    attempt(() => fs.readFileSync(path.join(folder, name)));
  }
  attempt(() => fs.statSync(path.join(folder, "node_modules")));
  if (folder === path.dirname(folder)) break;
}
attempt(() => Module.createRequire(path.join(process.cwd(), "any.js"))("gate-no-such-package"));
attempt(() => fs.realpathSync(process.execPath));
if (globalThis.Deno && process.env.DENO_DIR) {
  attempt(() => fs.writeFileSync(path.join(process.env.DENO_DIR, "any"), ""));
}

// -- the same on every run and on both sides ------------------------------------------------------
let seed = 1;
Math.random = () => {
  seed = (Math.imul(seed, 1103515245) + 12345) >>> 0;
  return seed / 4294967296;
};

// -- what makes code show itself in time ----------------------------------------------------------
class Left extends Error {}
process.exit = (code) => {
  throw new Left(`exit ${code ?? 0}`); // what follows an early exit is still looked at
};
for (const end of ["reallyExit", "abort", "kill"]) {
  const real = process[end];
  process[end] = (...words) => {
    tell(seen.late()); // there is no event that could
    return real.apply(process, words);
  };
}
process.on("uncaughtException", () => {});
process.on("unhandledRejection", () => {});
shorten(job.nap);
if (job.clock) shift(job.clock);
Object.assign(process.env, job.started); // what it starts has its clock moved by libfaketime, where there is one
const listen = net.Server.prototype.listen;
net.Server.prototype.listen = function (...rest) {
  bound = true;
  return listen.apply(this, rest);
};

// -- a stand-in for what is missing or unknown ----------------------------------------------------
const CLIENTS = /^(axios|got|node-fetch|cross-fetch|request|undici|superagent|needle|ky|phin|bent)$/;
function request(args) {
  const words = args.flatMap((a) => (a && typeof a === "object" ? [a.url, a.uri, a.baseURL] : [a]));
  const url = words.find((w) => typeof w === "string" && w.includes("://"));
  if (!url) return ghost("gate", true);
  const body = args.slice(1).find((a) => a !== undefined) ?? args[0]?.data ?? args[0]?.body;
  const data = body === undefined ? undefined : typeof body === "string" ? body : JSON.stringify(body);
  return fetch(url, { method: data ? "POST" : "GET", body: data, signal: AbortSignal.timeout(2000) }).then(() => ghost());
}
function ghost(text = "gate", client = false) {
  if (forced) return forced.mark(client ? request : undefined);
  const self = new Proxy(function () {}, {
    get(_, name) {
      if (name === Symbol.toPrimitive) return (hint) => (hint === "number" ? 3 : text);
      if (name === Symbol.iterator) return () => [self][Symbol.iterator]();
      if (name === "toString") return () => text;
      if (name === "length") return 1;
      if (typeof name === "symbol" || name === "then" || name === "toJSON") return undefined;
      return self; // of a client too: axios.post is a client
    },
    has: () => false,
    apply: (_, __, args) => {
      if (client) return request(args);
      args.forEach(handOver);
      return self;
    },
    construct: () => self,
    set: () => true,
    defineProperty: () => true,
    ownKeys: (target) => Reflect.ownKeys(target),
  });
  return self;
}
// A function that a call gives to a stand-in is called once, as what it stands for would: `knex.table("t", f)`.
// What is given while the module loads (a route's handler) does not run by itself, and is not called.
const handed = new WeakSet();
let hands = 0;
function handOver(f) {
  if (typeof f !== "function" || handed.has(f) || hands-- <= 0) return;
  handed.add(f);
  queueMicrotask(() => {
    try {
      Promise.resolve(f(...sets(f)[0])).catch(() => {});
    } catch {
      // what it needs is not there
    }
  });
}
const HANDS = 200;
const load = Module._load;
Module._load = function (name, ...rest) {
  try {
    return load.call(this, name, ...rest);
  } catch (error) {
    if (/[\\/]node_modules[\\/]/.test(rest[0]?.filename ?? "")) throw error; // a package knows what it can do without
    const bare = typeof name === "string" && !/^(\.|\/|node:|file:)/.test(name);
    if (error?.code !== "MODULE_NOT_FOUND" || !(bare || guards)) throw error;
    missing ||= name;
    return guards ? guards.missing(name) : ghost("gate", CLIENTS.test(name));
  }
};
globalThis[Symbol.for("gate.stand-in")] = (name) => {
  missing ||= name;
  return guards ? guards.missing(name) : ghost("gate", CLIENTS.test(name));
};
if (Module.syncBuiltinESMExports) Module.syncBuiltinESMExports();

// -- arguments ------------------------------------------------------------------------------------
const source = (f) => Function.prototype.toString.call(f);
function parameters(f) {
  const text = source(f);
  const single = /^(?:async\s+)?([A-Za-z_$][\w$]*)\s*=>/.exec(text);
  if (single) return [single[1]];
  let start = text.indexOf("(");
  if (/^class\b/.test(text)) {
    const at = /\bconstructor\s*\(/.exec(text);
    if (!at) return [];
    start = at.index + at[0].length - 1;
  }
  const out = [];
  let depth = 0;
  let word = "";
  for (let n = start; n >= 0 && n < text.length; n++) {
    const c = text[n];
    if ("([{".includes(c)) depth += 1;
    if (")]}".includes(c)) depth -= 1;
    if (depth === 0) break;
    if (depth === 1 && c === ",") {
      out.push(word);
      word = "";
    } else if (!(depth === 1 && c === "(" && n === start)) word += c;
  }
  if (word.trim()) out.push(word);
  return out.map((p) => p.trim());
}
function byName(name) {
  const words = name.replace(/([a-z0-9])([A-Z])/g, "$1 $2").toLowerCase().match(/[a-z0-9]+/g) ?? [];
  for (const word of words.reverse()) {
    if (/^(cb|callback|done|next|fn|func|handler|resolve|reject|listener)$/.test(word)) return (...a) => a[0];
    if (Object.hasOwn(job.words, word)) return structuredClone(job.words[word]);
  }
  return ghost();
}
function value(parameter) {
  const [shape, fallback] = parameter.split(/=(.*)/s).map((p) => p?.trim());
  if (shape.startsWith("...")) return [];
  if (shape.startsWith("{")) {
    const names = shape.replace(/[{}]/g, "").split(",").map((p) => p.split(/[:=]/)[0].trim());
    return Object.fromEntries(names.filter((n) => /^[\w$]+$/.test(n)).map((n) => [n, byName(n)]));
  }
  if (shape.startsWith("[")) return [ghost()];
  if (/^(true|false)$/.test(fallback ?? "")) return fallback !== "true";
  if (/^-?\d+(\.\d+)?$/.test(fallback ?? "")) return Number(fallback);
  return byName(shape);
}
// A constant may take the place of plain words, never of a path, an address or a command.
const plain = (v) =>
  typeof v === "function" || (typeof v === "string" && v !== "true" && !/[/.]/.test(v));
function sets(f) {
  const names = parameters(f);
  const needed = names.filter((p) => !p.includes("=") && !p.startsWith("..."));
  const out = [needed.map(value)];
  if (needed.length < names.length) out.push(names.map(value));
  for (const [, , word] of source(f).matchAll(/([=!]==?\s*|case\s+)["'`]([A-Za-z0-9_-]{1,40})["'`]/g)) {
    if (out.length >= 5) break;
    const full = names.map((p) => (plain(value(p)) ? word : value(p)));
    if (full.includes(word)) out.push(full);
  }
  return out;
}

// -- calling --------------------------------------------------------------------------------------
async function bounded(promise) {
  let clock;
  const over = new Promise((_, no) => {
    clock = later(() => no(Object.assign(new Error("too long"), { name: "timed-out" })), job.each * 1000);
  });
  try {
    return await Promise.race([promise, over]);
  } finally {
    never(clock);
  }
}
/** What comes of it in the end: promises are awaited, generators drained. */
async function exhaust(result) {
  if (result === null || (typeof result !== "object" && typeof result !== "function")) return result;
  if (typeof result.then === "function") return exhaust(await bounded(result));
  if (typeof result[Symbol.asyncIterator] === "function" && typeof result.next === "function") {
    for (let n = 0; n < TAKE; n++) if ((await bounded(result.next())).done) break;
  } else if (typeof result[Symbol.iterator] === "function" && typeof result.next === "function") {
    for (let n = 0; n < TAKE; n++) if (result.next().done) break;
  }
  return result;
}
// What a factory of the module gives back, a middleware or the methods of a driver, is called, too: as far as the
// module's own text holds it. What others made is theirs.
let own = "";
const used = new Set();
function given(result) {
  if (typeof result === "function") return [[result, undefined]];
  if (result === null || typeof result !== "object") return [];
  const found = [];
  for (let at = result, n = 0; at && at !== Object.prototype && n < 3; at = Object.getPrototypeOf(at), n++) {
    for (const slot of Object.values(Object.getOwnPropertyDescriptors(at))) {
      for (const f of [slot.value, slot.get]) if (typeof f === "function") found.push([f, result]);
    }
  }
  return found;
}
async function use(result, budget, depth = 0) {
  for (const [f, self] of given(result)) {
    if (used.has(f) || isClass(f) || !own.includes(source(f))) continue;
    used.add(f);
    for (const args of sets(f)) {
      if ((budget.left -= 1) < 0) return;
      try {
        const next = await exhaust(f.apply(self, args));
        if (depth < 2) await use(next, budget, depth + 1);
      } catch (error) {
        if (error?.name === "timed-out") return;
      }
    }
  }
}
const isClass = (f) => /^class\b/.test(source(f));
function instance(owner) {
  for (const args of sets(owner)) {
    try {
      return new owner(...args);
    } catch {
      // the next set, then without its constructor
    }
  }
  return Object.create(owner.prototype);
}
function acts(target, owner) {
  if (owner) {
    return sets(target).map((args) => () => target.apply(instance(owner), args));
  }
  if (isClass(target)) return sets(target).map((args) => () => new target(...args));
  return sets(target).map((args) => () => target(...args));
}
function collect(space) {
  const found = [];
  const known = new Set();
  const add = (name, get, owner) => {
    let target;
    try {
      target = get();
    } catch {
      target = undefined;
    }
    if (typeof target !== "function") return target;
    if (known.has(target)) return undefined;
    known.add(target);
    found.push([name, target, owner]);
    for (const key of Object.getOwnPropertyNames(target.prototype ?? {}).sort()) {
      const slot = Object.getOwnPropertyDescriptor(target.prototype, key);
      if (key === "constructor") continue;
      for (const f of [slot.value, slot.get]) {
        if (typeof f === "function" && !known.has(f)) {
          known.add(f);
          found.push([`${name}.${key}`, f, target]);
        }
      }
    }
    return target;
  };
  const walk = (object, prefix, depth) => {
    for (const key of Object.keys(object).sort()) {
      const target = add(prefix + key, () => object[key]);
      const deeper = target && (typeof target === "object" || typeof target === "function") && depth < 2;
      // What CommonJS exports comes as the default: its names are the module's.
      const below = depth === 0 && key === "default" ? "" : `${prefix}${key}.`;
      if (deeper && !Array.isArray(target)) walk(target, below, depth + 1);
    }
  };
  walk(space, "", 0);
  return found.slice(0, MOST);
}
const told = (error) => (error instanceof Left ? "exited" : String(error?.name ?? "thrown").slice(0, 100));
/** All that is to be called: [name, () => acts]. Components are drawn before they are called as what they are not. */
async function work(space) {
  const tools = { value: byName, source, own };
  const asked = (await requests(space, job.path, tools)).map(([name, act]) => [name, () => [act]]);
  const called = collect(space).map(([name, target, owner]) => [name, () => [...drawn(target), ...acts(target, owner)]]);
  const views = isView(space.default, job.path) && typeof space.default === "object" ? [["default", () => drawn(space.default)]] : [];
  return [...asked, ...views, ...called]; // routes first: a call of `app.post` would make others
}
function drawn(target) {
  return draw && isView(target, job.path) ? [() => draw(target, typeof target === "function" ? (sets(target)[0][0] ?? {}) : {})] : [];
}
async function call(space) {
  const found = await work(space);
  for (let index = job.start; index < found.length; index++) {
    const [name, given] = found[index];
    tell(await seen.news());
    say("call", { name, index, of: found.length });
    let outcome = "";
    const budget = { left: MADE };
    for (const act of given()) {
      let one = "returned";
      try {
        await use(await exhaust(act()), budget);
      } catch (error) {
        one = told(error);
      }
      outcome ||= one;
      if (one === "timed-out") break;
    }
    say("called", { name, outcome });
  }
}

// -- the whole ------------------------------------------------------------------------------------
function describe(error) {
  const text = String(error?.message ?? error).replace(/\s*\n\s*/g, " ").slice(0, 300);
  if (error instanceof Left) return { outcome: "completed" };
  if (error?.code === "ERR_UNKNOWN_FILE_EXTENSION") return { outcome: "missing", missing: "deno" };
  const name = /(?:Cannot find (?:package|module)|Import|Module not found|for package|manifest for) ["']([^"']+)["']/.exec(
    text,
  )?.[1];
  if (/MODULE_NOT_FOUND/.test(error?.code ?? "") || / not a dependency/.test(text)) {
    return { outcome: "missing", missing: (name ?? "a module").replace(/^.*\/work\/tree\//, "").slice(0, 100) };
  }
  return { outcome: "exception", exception: told(error), message: text };
}
async function force() {
  if (!fs.existsSync(job.path)) return { outcome: "absent" };
  if (!forced.hooked) return { outcome: "missing", missing: "node" };
  process.argv[1] = job.path;
  forced.lay(job, fs.readFileSync(job.path));
  try {
    await bounded(import(pathToFileURL(job.path).href));
  } catch {
    // what was noted until then is called all the same
  }
  const told = await forced.drain({ sets, instance, exhaust });
  return { outcome: "completed", forced: [[job.force.line, told]] };
}
async function main() {
  if (job.watch) await seen.start(); // also where there is nothing to run: part of the runtime's own baseline
  if (!job.path) return { outcome: "completed" };
  if (forced) return force();
  if (!fs.existsSync(job.path)) return { outcome: "absent" };
  process.argv[1] = job.path;
  let report = { outcome: "completed" };
  try {
    const attacks = job.attack ? await import("./attacks.mjs") : undefined;
    stand(job.path);
    if (guards && !(await guards.prepare())) return { outcome: "missing", missing: "node" };
    const tools = { value: byName, source, own: "", all: true, calls: { collect, parameters, instance, exhaust } };
    if (attacks) {
      (await import("./statements.mjs")).listen(job.path);
      (await import("./queries.mjs")).listen(job.path);
      await attacks.prepare(job.path, tools, job.attack.classes);
    }
    if (job.attack || job.call) await listenToRoutes(job.path, attacks && tools);
    if (job.bundled) globalThis[Symbol.for("gate.bundled")] = true; // hooks.mjs
    if (job.page) (await import("./page.mjs")).layPage(ghost);
    if (!attacks) draw = await drawer(job.path); // a page before what asks whether there is one
    if (guards) {
      const load = (file) => import(pathToFileURL(path.resolve(file)).href);
      await guards.serve({ ...job.guards, outlet, bounded, load, describe });
      return report;
    }
    const space = await import(pathToFileURL(job.path).href);
    if (attacks) {
      tools.own = textOf(job.path);
      say("call", { name: job.attack.name, index: 0, of: 1 });
      const outcome = await attacks.attack(space, job.path, tools, job.attack, say, bounded);
      say("called", { name: job.attack.name, outcome });
    } else if (job.call) {
      for (const [, f] of collect(space)) used.add(f);
      own = textOf(job.path);
      hands = HANDS;
      await call(space);
    }
  } catch (error) {
    report = describe(error);
  }
  if (missing) report = { ...report, outcome: "missing", missing: missing.slice(0, 100), stand_in: true };
  return report;
}
const report = await main();
if (job.clock) report.clock_moved_in = "javascript";
Object.assign(report, await seen.whole());
say("report", report);
process.once("beforeExit", async () => tell(await seen.news()));
const last = inTheEnd(async () => {
  tell(await seen.news());
  say("report", bound ? { ...report, outcome: "stopped" } : { ...report, threads: 1 });
  leave(0);
}, job.grace * 1000);
last.unref?.();
