// What a call compares, branches on and looks up, as the rewritten code (rewrite.mjs) tells it, and as the
// language's own functions do (builtins.mjs). Everything answers as ever; a thing is taken for the plain value
// that it is compared with. Trusted.
import { Buffer } from "node:buffer";
import { isThing, placeOf, plainOf } from "./things.mjs";
import { holder, LISTENER } from "./rewrite.mjs";
import { now, quietly, Same } from "./world.mjs";

/** Keys of a table that are told. */
export const TABLE = 12;
const said = new WeakSet();
let saidPlain;
/** Did the code itself throw it? */
export function wasSaid(error) {
  return error !== null && typeof error === "object" ? said.has(error) : saidPlain === error;
}
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

const KINDS_OF = { number: "number", bigint: "number", boolean: "flag" };
function kindOf(value) {
  if (value instanceof Date) return "time";
  return KINDS_OF[typeof value] ?? (Buffer.isBuffer(value) ? "bytes" : "text");
}
/** Does it say what the other side of a comparison would be as a plain value? */
function isTelling(value) {
  if (value === null || value === undefined || typeof value === "boolean") return false;
  return typeof value !== "object" || value instanceof Date || Buffer.isBuffer(value);
}
/** Both sides as plain values, after what one says of the other was noted. */
export function met(left, right, how) {
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
    return isTelling(other) ? plainOf(one, kindOf(other)) : one;
  });
  sides.forEach((one, n) => {
    const other = out[1 - n];
    if (isThing(one)) return;
    const theirs = isThing(sides[1 - n]) ? [[placeOf(sides[1 - n])]] : world.origins(other, one);
    for (const [path, told] of world.origins(one, other)) {
      const counted = ordered && (typeof other === "number" || other instanceof Date);
      if (counted && typeof one === "string") world.wantNumber(path);
      const same = theirs.find(([place]) => place !== path);
      if (same && !theirs.some(([place]) => place === path)) world.note(path, how, new Same(same[0]));
      else if (!same) world.note(path, how, told);
    }
  });
  return out;
}
/** One value against several: what a table holds. */
export function looked(value, keys) {
  const world = now.world;
  if (!world) return value;
  const plain = isThing(value) ? plainOf(value) : value;
  const places = isThing(value) ? [[placeOf(value)]] : world.origins(plain);
  for (const [path] of places) world.note(path, "hash", null);
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
  in: (a, b) => a in b, instanceof: (a, b) => a instanceof b,
  "<": (a, b) => a < b, ">": (a, b) => a > b, "<=": (a, b) => a <= b, ">=": (a, b) => a >= b,
};
const KINDS = new Map([
  [Date, "time"], [Array, "list"], [String, "text"], [Number, "number"], [Buffer, "bytes"], [Uint8Array, "bytes"],
]);

function compared(sign, left, right, typed) {
  if (sign === "in") {
    if (!isThing(right)) looked(left, Object.keys(right ?? {}));
    return plainOf(left) in right;
  }
  if (sign === "instanceof") {
    if (!isThing(left)) return left instanceof right;
    if (KINDS.has(right)) now.world?.want(placeOf(left), KINDS.get(right));
    return !/Error$/.test(right?.name ?? "");
  }
  if (typed) {
    const word = [left, right].find((one) => typeof one === "string" && one !== "function") ?? "function";
    const value = (left === "function") === (right === "function") ? undefined : typed(); // a thing can be called
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
    if (!world) return ACTS[sign](left, right);
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
    if (!step(site, 0) || object === null || object === undefined || isThing(object)) return object[plainOf(key)];
    const counted = Array.isArray(object) || typeof object === "string";
    if (counted || typeof key === "symbol") return object[plainOf(key, "number")];
    return object[quietly(() => looked(key, Object.keys(object)))];
  },
};
