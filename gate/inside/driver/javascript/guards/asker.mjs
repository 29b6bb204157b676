// Calls guards, each time in the world that the driver names (../../guards/javascript.py), which explores
// what they compare. Says what came of it; judges nothing. Trusted.
import fs from "node:fs";
import Module from "node:module";
import process from "node:process";
import { argumentsOf, saidBy, signatureOf } from "./making.mjs";
import { forget, listen, ran, wasSaid } from "./listening.mjs";
import { literals, LISTENER, parser, rewrite } from "./rewrite.mjs";
import { elsewhere, isThing, placeOf, thing } from "./things.mjs";
import { EnoughAsked, now, quietly, World } from "./world.mjs";

const TIMES = "*times";
const KEPT = "*kept";
const ROUNDS = 8;
const MAKES = /^(?:sign|seal|issue|make|mint|create|generate|new|encode|dumps|build|pack|encrypt|tokenFor|hash)(?:[A-Z_]|$)/;
const PRODUCERS = 3;
const OK = /^(?:ok|okay|allow(?:ed)?|valid|isValid|success|authori[sz]ed|authenticated|granted|permitted|accepted|verified|pass(?:ed)?)$/;
const CONSTANTS = 16;
const ACCIDENT = /^raised TypeError(?!.* said$)/;
const isClass = (f) => /^class\b/.test(Function.prototype.toString.call(f));

/** Before the module is loaded. False where this program cannot do it. */
export async function prepare() {
  const { hooked, inTree, rewriting } = await import("../hooks.mjs");
  if (!hooked || !parser) return false;
  rewriting.act = rewrite;
  const compile = Module.prototype._compile;
  Module.prototype._compile = function (code, file, ...rest) {
    const ours = typeof code === "string" && inTree(String(file)) && !code.includes(LISTENER);
    return compile.call(this, ours ? rewrite(code) : code, file, ...rest);
  };
  listen();
  return true;
}

/** In place of a module that cannot be found. */
export const missing = (name) => elsewhere(name.replace(/^@[^/]+\//, "").split("/").at(-1).replace(/\.\w+$/, "").replace(/\W+/g, "_") || "module");

export class Asker {
  /** `space`: what the module exports; `clock`: seconds since 1970. */
  constructor(space, { clock, bounded }) {
    Object.assign(this, { space, clock, bounded });
    this.kept = new Map();
  }

  /** Begin with a guard: what it is called with, and the names of what makes proofs. */
  open(name) {
    this.shapes = new Map();
    this.kept = new Map();
    this.found = this.find(name);
    this.name = name.split(".").at(-1);
    ran.clear();
    this.producers = new Map();
    if (!this.found) return { found: false };
    this.takeProducers();
    const { target } = this.found;
    return { found: true, given: typeof target === "function" ? signatureOf(target) : "", producers: [...this.producers.keys()] };
  }

  find(name) {
    const [first, ...rest] = name.split(".");
    const holders = [this.space, this.space.default, this.space.default?.default].filter((one) => one && !isThing(one));
    const bare = holders.filter((one) => typeof one === "function").at(-1);
    let target = holders.find((one) => one !== bare && one[first] !== undefined)?.[first] ?? bare?.[first] ?? bare; // what is exported without a name
    let owner;
    for (const step of rest) {
      if (target === undefined || target === null) return undefined;
      if (typeof target === "function" && !isClass(target) && !(step in target)) {
        if (owner) return undefined;
        owner = target; // a factory: its parts are of what it gives
        return rest.length === 1 ? { owner, factory: true, target: undefined, step } : undefined;
      }
      if (typeof target === "function" && isClass(target)) {
        const slot = Object.getOwnPropertyDescriptor(target.prototype, step);
        if (slot) return { owner: target, target: slot.value ?? slot.get, step, get: Boolean(slot.get) };
        if (!(step in target)) return { owner: target, target: undefined, step };
      }
      this.holder = target;
      target = target[step];
    }
    return typeof target === "function" ? { target, self: rest.length ? this.holder : undefined } : undefined;
  }

  takeProducers() {
    const { owner, factory } = this.found;
    const add = (key, make) => {
      if (this.producers.size < PRODUCERS && key !== this.name && MAKES.test(key) && !this.producers.has(key)) this.producers.set(key, make);
    };
    if (owner && !factory) {
      for (const key of Object.getOwnPropertyNames(owner.prototype)) {
        const f = Object.getOwnPropertyDescriptor(owner.prototype, key).value;
        if (typeof f === "function") add(key, (world) => f.apply(this.instance(world), argumentsOf(f, this.bare(world))));
      }
    }
    for (const holder of [this.space, this.space.default]) {
      for (const [key, f] of holder && typeof holder === "object" ? Object.entries(holder) : []) {
        if (typeof f === "function" && !isClass(f) && f !== this.found.target && f !== owner) add(key, (world) => f(...argumentsOf(f, this.bare(world))));
      }
    }
  }

  /** The same world without proofs. */
  bare(world) {
    const given = Object.fromEntries(Object.entries(world.given).filter(([, told]) => !(Array.isArray(told) && told[0] === "made")));
    const inner = new World(given, this.clock, this.shapes, new Map());
    return inner;
  }

  /** One question: {word, facts, asked, trail, constants}. Asked again where the code wants other kinds of values. */
  async call(given) {
    let answer = await this.settle(given);
    if (!ACCIDENT.test(answer.word)) return answer;
    // What the language's own functions want a text for says so by an exception alone.
    const before = new Map(this.shapes);
    // Its message asks for the name of what it was given.
    const below = (path) => answer.asked.some((one) => one.startsWith(path) && /^[.[(]/.test(one.slice(path.length)) && one !== `${path}.name`);
    for (const path of answer.asked) if (!this.shapes.has(path) && !(path in given) && !below(path)) this.shapes.set(path, "text");
    if (this.shapes.size === before.size) return answer;
    const again = await this.settle(given);
    if (!ACCIDENT.test(again.word)) return again;
    this.shapes = before;
    return answer;
  }

  async settle(given) {
    let answer;
    for (let n = 0; n < ROUNDS; n++) {
      const world = new World(given, this.clock, this.shapes, new Map());
      for (const [key, make] of this.producers) {
        world.producers.set(key, (of, how) => changed(make(of), how));
      }
      answer = await this.once(world);
      if (!world.news || answer.word === "late") break;
    }
    return answer;
  }

  async once(world) {
    forget();
    const word = await this.word(world);
    const path = (one) => [one, ...world.facts.values()].slice(1);
    return { word, facts: path(), asked: [...world.asked.keys()], spent: process.cpuUsage().user / 1e6, trail: [...world.trail], constants: this.constants() };
  }

  async word(world) {
    let value;
    try {
      now.world = world;
      for (let n = (world.given[TIMES] ?? 1) - 1; n > 0; n--) {
        try {
          await this.settled(this.called(world));
        } catch (error) {
          if (error instanceof EnoughAsked || error?.name === "timed-out") return "late";
        }
        world.passed = undefined;
      }
      value = await this.settled(this.called(world));
      for (let n = 0; n < 2 && !world.passed && typeof value === "function" && !isThing(value) && !isClass(value); n++) {
        value = await this.settled(value(...argumentsOf(value, world)));
      }
      return this.meaning(value, world);
    } catch (error) {
      if (error instanceof EnoughAsked || error?.name === "timed-out") return "late";
      return quietly(() => refusal(error));
    } finally {
      now.world = undefined;
    }
  }

  settled(value) {
    if (value === null || typeof value !== "object" || typeof value.then !== "function") return value;
    return this.bounded(value);
  }

  called(world) {
    const { owner, factory, target, self, step, get } = this.found;
    if (!owner) return target.apply(self, argumentsOf(target, world));
    const made = this.instance(world);
    if (get) return made[step];
    const f = factory || !target ? made?.[step] : target;
    if (typeof f !== "function") throw new TypeError("no function");
    return f.apply(made, argumentsOf(f, world));
  }

  instance(world) {
    if (KEPT in world.given && this.kept.has(this.found.owner)) return this.kept.get(this.found.owner);
    if (world.made) return world.made;
    const made = this.newInstance(world);
    world.made = made;
    if (KEPT in world.given) this.kept.set(this.found.owner, made);
    return made;
  }

  newInstance(world) {
    const { owner, factory } = this.found;
    if (factory) return owner(...argumentsOf(owner, world, "self."));
    try {
      return new owner(...argumentsOf(owner, world, "self."));
    } catch (error) {
      if (error instanceof EnoughAsked) throw error;
      const parts = thing(world, "self");
      return new Proxy(Object.create(owner.prototype), {
        get: (at, key, self) => (key in at || typeof key === "symbol" ? Reflect.get(at, key, self) : parts[key]),
      });
    }
  }

  meaning(value, world) {
    return quietly(() => {
      if (world.passed?.error) return refusal(world.passed.error);
      if (world.passed?.through) return "through";
      if (world.passed?.status) return statusWord(world.passed.status);
      const status = statusOf(value);
      if (status) return statusWord(status, value);
      const said = world.context ? saidBy(world.context) : undefined;
      if (said) return statusWord(said);
      if (value === undefined || value === null) return "none";
      if (typeof value === "boolean") return String(value);
      if (value === 0 || value === 1) return String(Boolean(value));
      if (Number.isInteger(value) && value >= 200 && value <= 599) return `status ${value}`;
      if (typeof value === "object") {
        for (const key of Object.keys(value)) if (OK.test(key) && typeof value[key] === "boolean") return String(value[key]);
      }
      return "value";
    });
  }

  constants() {
    const found = new Map();
    for (const one of ran) {
      for (const value of literals.get(one) ?? []) {
        const fits = typeof value === "string" ? value.length > 0 && value.length <= 120 && !/\n/.test(value) && value.split(" ").length <= 4 : typeof value === "number" && Math.abs(value) > 1;
        if (fits && found.size < CONSTANTS) found.set(JSON.stringify(value), value);
      }
    }
    return [...found.values()];
  }
}

function statusOf(value) {
  if (value === null || typeof value !== "object") return 0;
  if (typeof value.gateStatus === "number") return value.gateStatus;
  const status = value.status ?? value.statusCode;
  if (typeof status === "function" || !Number.isInteger(status) || status < 100 || status > 599) return 0;
  if (value.headers?.get?.("x-middleware-next") === "1") return -1;
  return status;
}
function statusWord(status, value) {
  if (status < 0) return "through";
  if (status >= 300 && status < 400) {
    const to = value?.headers?.get?.("location") ?? "";
    return /log-?in|sign-?in|auth|denied|forbidden|unauthor/i.test(to) ? "status 401" : `status ${status}`;
  }
  return `status ${status}`;
}

function refusal(error) {
  if (isThing(error)) return `raised ${placeOf(error)}`.slice(0, 80);
  const names = [];
  if (error !== null && typeof error === "object") {
    for (let at = error; at && at !== Object.prototype && names.length < 5; at = Object.getPrototypeOf(at)) {
      const own = Object.hasOwn(at, "name") ? at.name : at.constructor?.name;
      if (typeof own === "string" && /^[\w$]+$/.test(own) && !names.includes(own)) names.push(own);
    }
    if (typeof error.code === "string" && /^[A-Z][A-Z_]{2,40}$/.test(error.code)) names.push(error.code);
  }
  if (!names.length) names.push("Error");
  let status = error?.status ?? error?.statusCode ?? error?.getStatus?.();
  if (!Number.isInteger(status) || status < 100 || status > 599) status = undefined;
  return `raised ${names.join(" ")}${status ? ` status ${status}` : ""}${wasSaid(error) ? " said" : ""}`;
}

/** A proof that is no longer the one that was made; as in ../../guards/world.py. */
function changed(proof, how) {
  if (Buffer.isBuffer(proof)) return Buffer.from(changed(proof.toString("latin1"), how), "latin1");
  const text = String(proof);
  const mark = text.includes(".") ? "." : text.includes(":") ? ":" : "";
  const at = mark ? text.lastIndexOf(mark) : 0;
  const swapped = [...text].map((c) => (c === c.toLowerCase() ? c.toUpperCase() : c.toLowerCase())).join("");
  const made = {
    last: text.slice(0, -1) + (text.at(-1) !== "0" ? "0" : "1"),
    cut: text.slice(0, text.length >> 1),
    "no-end": mark ? text.slice(0, at + 1) : "",
    upper: swapped,
    longer: `${text}x`,
    "first-part": mark ? text.slice(0, text.indexOf(mark)) : text.slice(0, 8),
    reversed: `gate${text.slice(4)}`,
  };
  return made[how] ?? text;
}

/** Answers the driver's questions, one line each, until there are no more. `load` gives a module by its path. */
export async function serve({ inlet, outlet, clock, addresses, bounded, load, describe }) {
  now.addresses = addresses;
  const askers = new Map();
  let asker;
  const open = async ({ open: name, path }) => {
    try {
      if (!askers.has(path)) askers.set(path, new Asker(await load(path), { clock, bounded }));
    } catch (error) {
      return { found: false, report: describe(error) };
    }
    asker = askers.get(path);
    return asker.open(name);
  };
  const buffer = Buffer.alloc(1 << 16);
  let rest = "";
  const line = () => {
    for (;;) {
      const at = rest.indexOf("\n");
      if (at >= 0) {
        const one = rest.slice(0, at);
        rest = rest.slice(at + 1);
        return one;
      }
      const size = fs.readSync(inlet, buffer);
      if (!size) return undefined;
      rest += buffer.toString("utf8", 0, size);
    }
  };
  const say = (fields) => fs.writeSync(outlet, `${JSON.stringify(fields)}\n`);
  say({ ready: true });
  for (let text = line(); text !== undefined; text = line()) {
    const asked = JSON.parse(text);
    say(asked.open ? await open(asked) : await asker.call(asked.given));
  }
}
