// What a rewritten copy of a module calls (`__gate__`, gate/languages/forcing/javascript/copy.py) so that nothing in it
// fails: an operation that fails gives a stand-in, and what follows happens all the same. Functions around the place
// are noted while the module is loaded, and called afterwards. Trusted, no packages; all it says is a hint.
import process from "node:process";
import zlib from "node:zlib";
import { pathToFileURL } from "node:url";
import { hooked, replaced } from "./hooks.mjs";

export { hooked };

const MOST_TURNS = 5000;
const MOST_CALLS = 60;
const TWICE = 2;
const WAIT = 600; // milliseconds
const { setTimeout: later } = globalThis;
const marks = new WeakSet();
let word = "gforced";
let number = 3;
let reached = false;
let concrete = false;
const queue = [];
const turns = new Map();

/** A stand-in: callable, constructible, its text the word of this run. `client` is called in its place. */
export function mark(client) {
  const self = new Proxy(function () {}, {
    get(target, name) {
      if (name === Symbol.toPrimitive) return (hint) => (hint === "number" ? number : word);
      if (name === Symbol.iterator) return () => [self][Symbol.iterator]();
      if (name === "toString" || name === "toJSON" || name === "valueOf") return () => word;
      if (name === "length") return word.length;
      if (name === "prototype") return target.prototype;
      if (typeof name === "symbol" || name === "then") return undefined;
      return self;
    },
    has: () => false,
    apply: (_, __, args) => (client ? client(args) : self),
    construct: (_, __, as) => (as && !marks.has(as) ? Reflect.construct(Object, [], as) : self),
    set: () => true,
    defineProperty: () => true,
    ownKeys: (target) => Reflect.ownKeys(target),
  });
  marks.add(self);
  return self;
}

const isObject = (v) => v !== null && (typeof v === "object" || typeof v === "function");
/** Is a value of our making, in whole or in part? */
function tainted(value, depth = 3) {
  if (typeof value === "string") return value.includes(word);
  if (!isObject(value)) return false;
  if (marks.has(value)) return true;
  if (Buffer.isBuffer(value)) return value.includes(word);
  if (!depth || typeof value === "function") return false;
  try {
    return Object.values(value).slice(0, 50).some((v) => tainted(v, depth - 1));
  } catch {
    return false;
  }
}
/** Stand-ins as the plain values that they stand for. */
function plain(value, name = "", depth = 3) {
  if (!isObject(value)) return value;
  if (marks.has(value)) return /port/i.test(name) ? number : word;
  const prototype = depth ? Object.getPrototypeOf(value) : null;
  if (Array.isArray(value)) return value.map((v) => plain(v, name, depth - 1));
  if (prototype !== Object.prototype) return value;
  return Object.fromEntries(Object.entries(value).map(([k, v]) => [k, plain(v, k, depth - 1)]));
}
const says = (v) => v !== undefined && v !== null && v !== "" && typeof v !== "function";

function act(apply, args, aim) {
  if (aim) {
    reached = true;
    args = args.map((v) => v ?? mark());
    concrete ||= args.some(says) && !tainted(args);
  }
  try {
    return apply(args);
  } catch {
    if (!tainted(args)) return mark();
  }
  try {
    return apply(args.map((v) => plain(v)));
  } catch {
    return mark();
  }
}
function bounded(promise, ms = WAIT) {
  return Promise.race([
    Promise.resolve(promise).catch(() => mark()),
    new Promise((done) => later(() => done(mark()), ms)),
  ]);
}

const gate = {
  mark: () => mark(),
  hit() {
    reached = true;
  },
  error() {},
  name(read) {
    try {
      return read();
    } catch {
      return mark();
    }
  },
  keep: (make) => gate.name(make),
  async keepAsync(make) {
    try {
      return await make();
    } catch {
      return mark();
    }
  },
  object: (value) => value ?? mark(),
  get(owner, name) {
    try {
      if (owner === undefined || owner === null) return mark();
      const value = owner[name];
      return value === undefined && owner === process.env ? word : value;
    } catch {
      return mark();
    }
  },
  put(owner, name, value) {
    try {
      owner[name] = value;
    } catch {
      // nothing to put it into
    }
    return value;
  },
  send(owner, name, args, aim) {
    const found = gate.get(owner, name);
    if (typeof found !== "function") {
      if (aim) reached = true;
      return mark();
    }
    return act((words) => Reflect.apply(found, owner, words), args, aim);
  },
  call(found, args, aim) {
    if (typeof found !== "function") return mark();
    return act((words) => found(...words), args, aim);
  },
  make(found, args, aim) {
    if (typeof found !== "function") return mark();
    return act((words) => new found(...words), args, aim);
  },
  test(sign, left, right) {
    try {
      return sign === "in" ? left in right : left instanceof right;
    } catch {
      return false;
    }
  },
  wait: (value) => (isObject(value) && !marks.has(value) && typeof value.then === "function" ? bounded(value) : value),
  turn(loop, way, value) {
    const count = (turns.get(loop) ?? 0) + 1;
    turns.set(loop, count);
    return (way && count === 1) || (Boolean(value) && !marks.has(value) && count < MOST_TURNS);
  },
  some(values, way) {
    const found = [];
    try {
      for (const value of values) if (found.push(value) >= (way ? 50 : MOST_TURNS)) break;
    } catch {
      // what came until then
    }
    return found.length || !way ? found : [mark()];
  },
  async someAsync(values, way) {
    const found = [];
    try {
      const turn = (values[Symbol.asyncIterator] ?? values[Symbol.iterator]).call(values);
      for (let n = 0; n < 20; n++) {
        const { done, value } = (await bounded(turn.next())) ?? {};
        if (done || marks.has(value)) break;
        found.push(value);
      }
    } catch {
      // what came until then
    }
    return found.length || !way ? found : [mark()];
  },
  keys(value, way) {
    if (isObject(value) && !marks.has(value) && (!way || Object.keys(value).length)) return value;
    return way ? { [word]: mark() } : {};
  },
  failure: () => Object.assign(new Error(word), { code: word }),
  kind(value, name) {
    if (typeof value === name) return value;
    const known = { string: word, number, boolean: true, function: () => mark(), object: {}, undefined };
    return name in known ? known[name] : value;
  },
  jsx: (parts) => Object(parts),
  async load(get) {
    let space;
    try {
      space = await bounded(get(), 4000);
    } catch {
      return mark();
    }
    if (marks.has(space)) return space;
    const read = (_, name) => (name in space ? space[name] : name === "default" ? space : space.default?.[name]);
    return new Proxy({}, { get: read });
  },
  // -- functions that hold the place ------------------------------------------------------------
  later(get) {
    queue.push({ get });
  },
  fn(f) {
    queue.push({ get: () => f });
    return f;
  },
  holder(object, kind, member) {
    queue.push({ get: () => member, kind, owner: () => object });
    return object;
  },
  member(owner, own, kind, member) {
    queue.push({ get: () => member, kind, owner: own ? () => owner : undefined, made: owner });
  },
  made(owner) {
    queue.push({ get: () => owner, kind: "new", made: owner });
  },
};

/** Put the copy in the file's place, before it is loaded. */
export function lay(job, text) {
  ({ word, number } = job.force);
  globalThis.__gate__ = gate;
  const edits = JSON.parse(zlib.inflateSync(Buffer.from(job.force.edits, "base64")).toString("utf8"));
  const parts = [];
  let at = 0;
  for (const [start, end, made] of edits) {
    parts.push(text.subarray(at, start), Buffer.from(made, "utf8"));
    at = end;
  }
  const copy = Buffer.concat([...parts, text.subarray(at)]).toString("utf8");
  replaced.set(pathToFileURL(job.path).href, { text: copy, module: job.force.module });
  return copy;
}

function acts(entry, tools) {
  const { sets, instance } = tools;
  const { kind = "call", made } = entry;
  if (kind === "new") return sets(made).slice(0, 3).map((args) => () => new made(...args));
  const target = entry.get();
  if (!entry.owner && !made) {
    if (typeof target !== "function") return [];
    return sets(target).slice(0, 3).map((args) => () => target.apply(mark(), args));
  }
  const owner = entry.owner ? entry.owner() : instance(made);
  if (kind === "set") return [() => target(owner, mark())];
  const member = target(owner); // a getter runs by this
  if (kind === "get" || typeof member !== "function") return [() => member];
  return sets(member).slice(0, 3).map((args) => () => member.apply(owner, args));
}

/** Call what was noted, and what is noted by that. Returns how far it came. */
export async function drain(tools) {
  const known = new Map();
  for (let n = 0; n < queue.length && n < MOST_CALLS; n++) {
    let todo = [];
    try {
      const text = String(queue[n].get());
      known.set(text, (known.get(text) ?? 0) + 1);
      todo = known.get(text) > TWICE ? [] : acts(queue[n], tools);
    } catch {
      continue;
    }
    for (const one of todo) {
      try {
        await tools.exhaust(one());
      } catch {
        // the next one
      }
    }
  }
  return reached ? (concrete ? "reached" : "reached with made-up values") : "not reached";
}
