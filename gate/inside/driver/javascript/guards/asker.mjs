// Calls guards, each time in the world that the driver names (../../guards/javascript.py), which explores
// what they compare. Says what came of it; judges nothing. Trusted.
import fs from "node:fs";
import Module from "node:module";
import process from "node:process";
import { meaning, refusal } from "./answers.mjs";
import { listen } from "./builtins.mjs";
import { forget, ran } from "./listening.mjs";
import { argumentsOf, signatureOf } from "./making.mjs";
import { changed, MAKES } from "./proofs.mjs";
import { literals, LISTENER, parser, rewrite } from "./rewrite.mjs";
import { elsewhere, isThing, thing } from "./things.mjs";
import { EnoughAsked, now, quietly, World } from "./world.mjs";

const TIMES = "*times";
const KEPT = "*kept";
const ROUNDS = 8;
const PRODUCERS = 3;
const CONSTANTS = 16;
const ACCIDENT = /^raised TypeError(?!.* said$)/;
const isClass = (f) => /^class\b/.test(Function.prototype.toString.call(f));

/** Is it a value to try? A text of many words is for people. */
function isPlain(value) {
  if (typeof value === "number") return Math.abs(value) > 1;
  return typeof value === "string" && /^[^\n]{1,120}$/.test(value) && value.split(" ").length <= 4;
}

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
export function missing(name) {
  const last = name.replace(/^@[^/]+\//, "").split("/").at(-1);
  return elsewhere(last.replace(/\.\w+$/, "").replace(/\W+/g, "_") || "module");
}

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
    const given = typeof target === "function" ? signatureOf(target) : "";
    return { found: true, given, producers: [...this.producers.keys()] };
  }

  find(name) {
    const [first, ...rest] = name.split(".");
    const holders = [this.space, this.space.default, this.space.default?.default].filter((one) => one && !isThing(one));
    const bare = holders.filter((one) => typeof one === "function").at(-1);
    const named = holders.find((one) => one !== bare && one[first] !== undefined)?.[first];
    let target = named ?? bare?.[first] ?? bare; // what is exported without a name
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
      const wanted = key !== this.name && MAKES.test(key) && !this.producers.has(key);
      if (wanted && this.producers.size < PRODUCERS) this.producers.set(key, make);
    };
    if (owner && !factory) {
      for (const key of Object.getOwnPropertyNames(owner.prototype)) {
        const f = Object.getOwnPropertyDescriptor(owner.prototype, key).value;
        const make = (world) => f.apply(this.instance(world), argumentsOf(f, this.bare(world)));
        if (typeof f === "function") add(key, make);
      }
    }
    for (const holder of [this.space, this.space.default]) {
      for (const [key, f] of holder && typeof holder === "object" ? Object.entries(holder) : []) {
        const other = typeof f === "function" && !isClass(f) && f !== this.found.target && f !== owner;
        if (other) add(key, (world) => f(...argumentsOf(f, this.bare(world))));
      }
    }
  }

  /** The same world without proofs. */
  bare(world) {
    const isMade = ([, told]) => Array.isArray(told) && told[0] === "made";
    const given = Object.fromEntries(Object.entries(world.given).filter((one) => !isMade(one)));
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
    const isBelow = (one, path) => one.startsWith(path) && /^[.[(]/.test(one.slice(path.length));
    const below = (path) => answer.asked.some((one) => isBelow(one, path) && one !== `${path}.name`);
    for (const path of answer.asked) {
      if (!this.shapes.has(path) && !(path in given) && !below(path)) this.shapes.set(path, "text");
    }
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
    const spent = process.cpuUsage().user / 1e6;
    const [facts, asked, trail] = [[...world.facts.values()], [...world.asked.keys()], [...world.trail]];
    return { word, facts, asked, trail, spent, constants: this.constants() };
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
      const isGiven = (one) => typeof one === "function" && !isThing(one) && !isClass(one);
      for (let n = 0; n < 2 && !world.passed && isGiven(value); n++) {
        value = await this.settled(value(...argumentsOf(value, world)));
      }
      return meaning(value, world);
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

  constants() {
    const found = new Map();
    for (const one of ran) {
      for (const value of literals.get(one) ?? []) {
        if (isPlain(value) && found.size < CONSTANTS) found.set(JSON.stringify(value), value);
      }
    }
    return [...found.values()];
  }
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
