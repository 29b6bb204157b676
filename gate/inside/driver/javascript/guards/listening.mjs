// What a call compares, branches on and looks up, as the rewritten code (rewrite.mjs) and the language's own functions
// tell it. Everything answers as ever; a thing is taken for the plain value that it is compared with. Trusted.
import { Buffer } from "node:buffer";
import crypto from "node:crypto";
import Module from "node:module";
import net from "node:net";
import { isThing, part, placeOf, plainOf } from "./things.mjs";
import { fitting } from "../pattern_texts.mjs";
import { holder, LISTENER } from "./rewrite.mjs";
import { EnoughAsked, now, quietly, Same } from "./world.mjs";

const TABLE = 12;
const said = new WeakSet();
let saidPlain;
/** Did the code itself throw it? */
export const wasSaid = (error) => (error !== null && typeof error === "object" ? said.has(error) : saidPlain === error);
export const forget = () => (saidPlain = undefined);
/** Functions that ran, by their numbers. */
export const ran = new Set();

function step(site, way) {
  const world = now.world;
  if (!world) return undefined;
  quietly(() => {
    if (world.trail.size < 5000) world.trail.add(4 * site + way);
    ran.add(holder[site]);
  });
  return world;
}

const kindOf = (value) => (value instanceof Date ? "time" : typeof value === "number" || typeof value === "bigint" ? "number" : typeof value === "boolean" ? "flag" : Buffer.isBuffer(value) ? "bytes" : "text");
/** Both sides as plain values, after what one says of the other was noted. */
function met(left, right, how) {
  const world = now.world;
  if (!world) return [left, right];
  const ordered = how === "<";
  const sides = [left, right];
  const out = sides.map((one, n) => {
    const other = sides[1 - n];
    if (!isThing(one)) return one;
    world.count += 1;
    if (isThing(other)) {
      if (other === one) return one;
      world.note(placeOf(one), how, new Same(placeOf(other)));
      return plainOf(one, ordered ? "number" : "text");
    }
    world.note(placeOf(one), how, other);
    if (other === null || other === undefined || typeof other === "boolean" || (typeof other === "object" && !(other instanceof Date) && !Buffer.isBuffer(other))) return one;
    return plainOf(one, kindOf(other));
  });
  sides.forEach((one, n) => {
    const other = out[1 - n];
    if (isThing(one)) return;
    const theirs = isThing(sides[1 - n]) ? [[placeOf(sides[1 - n])]] : world.origins(other, one);
    for (const [path, told] of world.origins(one, other)) {
      if (ordered && typeof one === "string" && (typeof other === "number" || other instanceof Date)) world.wantNumber(path);
      const same = theirs.find(([place]) => place !== path);
      if (same && !theirs.some(([place]) => place === path)) world.note(path, how, new Same(same[0]));
      else if (!same) world.note(path, how, told);
    }
  });
  return out;
}
/** One value against several: what a table holds. */
function looked(value, keys) {
  const world = now.world;
  if (!world) return value;
  const plain = isThing(value) ? plainOf(value) : value;
  for (const [path] of isThing(value) ? [[placeOf(value)]] : world.origins(plain)) world.note(path, "hash", null);
  let left = TABLE;
  for (const one of keys) {
    if ((left -= 1) < 0) break;
    met(plain, one, "==");
  }
  return plain;
}

const SHAPES = { string: "text", number: "number", boolean: "flag", object: "object" };
const ACTS = {
  "===": (a, b) => a === b, "!==": (a, b) => a !== b, "==": (a, b) => a == b, "!=": (a, b) => a != b,
  "<": (a, b) => a < b, ">": (a, b) => a > b, "<=": (a, b) => a <= b, ">=": (a, b) => a >= b,
};
const KINDS = new Map([[Date, "time"], [Array, "list"], [String, "text"], [Number, "number"], [Buffer, "bytes"], [Uint8Array, "bytes"]]);

function compared(sign, left, right, typed) {
  if (sign === "in") return isThing(right) ? left in right : (looked(left, Object.keys(right ?? {})), plainOf(left) in right);
  if (sign === "instanceof") {
    if (!isThing(left)) return left instanceof right;
    if (KINDS.has(right)) now.world?.want(placeOf(left), KINDS.get(right));
    return !/Error$/.test(right?.name ?? "");
  }
  if (typed) {
    const word = [left, right].find((one) => typeof one === "string" && one !== "function") ?? "function";
    const wanted = left === "function" && right !== "function" ? right : right === "function" && left !== "function" ? left : undefined;
    const value = wanted === undefined ? undefined : typed();
    if (isThing(value)) {
      const shape = now.world?.shapes.get(placeOf(value));
      const fits = !shape || shape === SHAPES[word] ? word !== "undefined" && word in SHAPES : false;
      if (fits) now.world?.want(placeOf(value), SHAPES[word]);
      return sign.startsWith("!") ? !fits : fits;
    }
  }
  const [a, b] = met(left, right, /[<>]/.test(sign) ? "<" : "==");
  return ACTS[sign](a, b);
}

globalThis[LISTENER] = {
  /** A function begins. */
  f(site) {
    step(site, 0);
  },
  /** A comparison; `typed` gives what `typeof` was asked of. */
  c(site, sign, left, right, typed) {
    const world = now.world;
    if (!world) return sign === "in" ? left in right : sign === "instanceof" ? left instanceof right : ACTS[sign](left, right);
    const result = quietly(() => compared(sign, left, right, typed));
    step(site, result ? 1 : 2);
    return result;
  },
  /** A condition. */
  b(site, value) {
    step(site, value ? 1 : 2);
    return value;
  },
  /** What is thrown. */
  t(site, value) {
    step(site, 3);
    if (value !== null && typeof value === "object") said.add(value);
    else saidPlain = value;
    return value;
  },
  switched: new Map(),
  /** What a `switch` is about, and one of its cases. */
  s(site, value) {
    step(site, 0);
    const plain = now.world ? plainOf(value) : value;
    quietly(() => this.switched.set(site, plain));
    return plain;
  },
  k(site, own, value) {
    step(own, quietly(() => met(this.switched.get(site), value, "=="))[0] === value ? 1 : 2);
    return value;
  },
  /** A lookup by a key. */
  i(site, object, key) {
    if (!step(site, 0) || object === null || object === undefined || isThing(object)) return object[isThing(key) ? plainOf(key) : key];
    if (Array.isArray(object) || typeof object === "string" || typeof key === "symbol") return object[plainOf(key, "number")];
    return object[quietly(() => looked(key, Object.keys(object)))];
  },
};

// -- the language's own functions ------------------------------------------------------------------
function hook(home, name, act) {
  const slot = home && Object.getOwnPropertyDescriptor(home, name);
  const real = slot?.value;
  if (typeof real !== "function") return;
  const value = function (...words) {
    if (!now.world || now.busy) return Reflect.apply(real, this, words);
    let given;
    try {
      given = quietly(() => act(this, words));
    } catch (error) {
      if (error instanceof EnoughAsked) throw error; // else: not called as it is meant to be
    }
    return given?.answer !== undefined ? given.answer : Reflect.apply(real, given?.self ?? this, given?.words ?? words);
  };
  try {
    Object.defineProperty(value, "name", { value: name });
    Object.defineProperty(value, "length", { value: real.length });
    Object.defineProperty(home, name, { ...slot, value });
  } catch {
    // not to be replaced
  }
}
const plainWords = (shape) => (_, words) => ({ words: words.map((one) => (isThing(one) ? plainOf(one, shape) : one)) });

function texts() {
  const P = String.prototype;
  for (const [name, how] of [["startsWith", "begins"], ["endsWith", "ends"], ["includes", "has"], ["indexOf", "has"], ["lastIndexOf", "has"], ["split", "has"], ["localeCompare", "=="]]) {
    hook(P, name, (self, words) => {
      if (typeof words[0] !== "string" && !isThing(words[0])) return undefined;
      const [, other] = met(String(self), words[0], how);
      return { words: [isThing(other) ? plainOf(other) : other, ...words.slice(1)] };
    });
  }
}

function tables() {
  for (const name of ["includes", "indexOf", "lastIndexOf"]) {
    hook(Array.prototype, name, (self, words) => {
      if (!Array.isArray(self)) return undefined;
      if (self.some((one) => isThing(one)) && !isThing(words[0])) for (const one of self) if (isThing(one)) met(one, words[0], "==");
      const plain = looked(words[0], self.slice(0, TABLE));
      return { self: self.map((one) => (isThing(one) ? plainOf(one) : one)), words: [plain, ...words.slice(1)] };
    });
  }
  for (const home of [Set.prototype, Map.prototype]) {
    const keys = home.keys;
    for (const name of ["has", "get"]) hook(home, name, (self, words) => ({ words: [looked(words[0], Reflect.apply(keys, self, []))] }));
    for (const name of ["add", "set", "delete"]) hook(home, name, (_, [key, ...rest]) => ({ words: [isThing(key) ? plainOf(key) : key, ...rest] }));
  }
  hook(Object, "hasOwn", (_, [object, key]) => (isThing(object) ? { answer: key in object } : { words: [object, looked(key, Object.keys(object ?? {}))] }));
  hook(Object.prototype, "hasOwnProperty", (self, [key]) => (isThing(self) ? { answer: key in self } : { words: [looked(key, Object.keys(self ?? {}))] }));
  hook(Object, "is", (_, words) => ({ words: met(words[0], words[1], "==") }));
}

const patterns = new Map();
function matching() {
  hook(RegExp.prototype, "exec", (self, words) => {
    const text = isThing(words[0]) ? plainOf(words[0]) : words[0];
    const paths = isThing(words[0]) ? [[placeOf(words[0])]] : now.world.origins(String(text));
    if (!paths.length) return { words: [text] };
    const key = String(self);
    if (!patterns.has(key)) {
      let found = [];
      try {
        found = fitting(self);
      } catch {
        // not of a kind that is understood
      }
      patterns.set(key, found.slice(0, 2));
    }
    for (const [path] of paths) {
      for (const one of patterns.get(key)) {
        for (const told of [one, `${one}\n`, `gate${one}`, `${one}gate`, `gate\n${one}`]) now.world.note(path, "is", told);
      }
    }
    return { words: [text] };
  });
  const { exec, test } = RegExp.prototype;
  Object.defineProperty(RegExp.prototype, "test", {
    ...Object.getOwnPropertyDescriptor(RegExp.prototype, "test"),
    value: function (word) {
      return now.world ? Reflect.apply(exec, this, [word]) !== null : Reflect.apply(test, this, [word]);
    },
  });
}

function numbers() {
  for (const name of ["isInteger", "isFinite", "isSafeInteger", "isNaN"]) hook(Number, name, plainWords("number"));
  for (const home of [globalThis, Number]) for (const name of ["parseInt", "parseFloat"]) hook(home, name, plainWords("digits"));
  for (const name of ["isFinite", "isNaN"]) hook(globalThis, name, plainWords("number"));
  hook(Array, "isArray", (_, [value]) => {
    if (!isThing(value)) return undefined;
    now.world.want(placeOf(value), "list");
    return { answer: true };
  });
}

function proofs() {
  hook(Buffer, "from", plainWords());
  hook(Buffer, "byteLength", plainWords());
  hook(Buffer.prototype, "equals", (self, [other]) => {
    met(self, other, "==");
    return undefined;
  });
  hook(Buffer, "compare", (_, words) => (met(words[0], words[1], "=="), undefined));
  hook(crypto, "timingSafeEqual", (_, words) => ({ words: met(words[0], words[1], "==") }));
  for (const name of ["createHmac", "createHash", "pbkdf2Sync", "scryptSync"]) hook(crypto, name, plainWords());
  for (const made of [crypto.createHmac("sha256", "x"), crypto.createHash("sha256")]) hook(Object.getPrototypeOf(made), "update", plainWords());
  const { parse } = JSON;
  hook(JSON, "parse", (_, [said, ...rest]) => {
    const text = isThing(said) ? plainOf(said) : said;
    try {
      parse(text);
    } catch {
      // What it would hold stands at a path of its own.
      const [path] = isThing(said) ? [placeOf(said)] : (now.world.origins(text)[0] ?? []);
      if (path) return { answer: part(now.world, `JSON.parse(${path})`.slice(-200)) };
    }
    return { words: [text, ...rest] };
  });
  hook(Date, "parse", plainWords("moment"));
  Module.syncBuiltinESMExports?.();
}

function addresses() {
  const about = (_, words) => {
    const paths = isThing(words[0]) ? [[placeOf(words[0])]] : now.world.origins(String(words[0]));
    for (const [path] of paths) now.world.address(path);
    return { words: [plainOf(words[0]), ...words.slice(1)] };
  };
  for (const name of ["isIP", "isIPv4", "isIPv6"]) hook(net, name, about);
  hook(net.BlockList?.prototype, "check", about);
  Module.syncBuiltinESMExports?.();
}

/** Before the code is loaded. */
export function listen() {
  texts();
  tables();
  matching();
  numbers();
  proofs();
  addresses();
}
