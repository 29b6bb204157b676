// A world: what stands at each path of a call's arguments (`user.role`), what the call asked of it, and where a value
// comes from. The same as ../../guards/world.py: values travel as JSON between the sides. Plain values stand where the
// code is known to want them, so where a value comes from is told by what it is: each path holds another one (input to
// state, as REDQUEEN, NDSS 2019). Trusted.
import { Buffer } from "node:buffer";

const LONGEST = 200;
const MOST_FACTS = 400;
const FAR = 20 * 366 * 86_400;
const HOUR = 3600;
const CLOCKS = [["clock", 1], ["clock-ms", 1000]];
const RealDate = Date;
const ENDLESS = { NaN: "nan", Infinity: "inf", "-Infinity": "-inf" };
const MOMENT = /^\d{4}-\d\d-\d\dT/;
const ADDRESSES = /^(?:127\.|10\.|192\.168|169\.254|172\.|fe80|fc00|fd|::1|0\.0\.0\.0|localhost)/;
/** Texts of what is not there. */
const NOTHING = new Set(["undefined", "null", "NaN", "[object Object]", ""]);

export class EnoughAsked extends Error {}
/** What stands at another path. */
export class Same {
  constructor(path) {
    this.path = path;
  }
}

/** The world of the call that runs, and whether what runs is ours: then nothing is noted. */
export const now = { world: undefined, busy: 0, addresses: [] };
/** Our own work, of which nothing is noted. */
export function quietly(act) {
  now.busy += 1;
  try {
    return act();
  } finally {
    now.busy -= 1;
  }
}

const sum = (path) => [...path].reduce((total, letter) => (total * 131 + letter.codePointAt(0)) % 46_656, 0);
const FORMS = [
  [(word) => `https://${word}.invalid/`, ["url", "uri", "link", "redirect", "next", "callback", "referer", "origin"]],
  [(word) => `${word}.invalid`, ["host", "hostname", "domain", "netloc"]],
  [(word) => `${word}@gate.invalid`, ["email", "mail"]],
  [(_, path) => `203.0.113.${1 + (sum(path) % 250)}`, ["ip", "addr", "address"]],
];
/** The text that stands at a path where nothing else is given; as in Python. */
export function wordOf(path) {
  const last = path.slice(path.lastIndexOf(".") + 1).replace(/[^\p{L}\p{N}]/gu, "-");
  const leaf = last.replace(/^-+|-+$/g, "").slice(0, 20);
  const word = `gate-${leaf}-${String(sum(path)).padStart(5, "0")}`;
  const words = new Set([...leaf.toLowerCase().split("-").at(-1).split("_"), leaf.toLowerCase()]);
  const form = FORMS.find(([, names]) => names.some((one) => words.has(one)));
  return form ? form[0](word, path) : word;
}
export const numberOf = (path) => 3 + (sum(path) % 29);

/** What stands between a beginning and an end; all of it where they are not there. */
function within(text, before, after) {
  if (typeof text !== "string" || text.length <= before.length + after.length) return text;
  if (!text.startsWith(before) || !text.endsWith(after)) return text;
  return text.slice(before.length, text.length - after.length);
}

/** `given`: encoded values by path; `now`: seconds; `shapes`: path -> what the code wants there. */
export class World {
  constructor(given, now, shapes, producers) {
    Object.assign(this, { given, now, shapes, producers });
    this.facts = new Map();
    this.asked = new Map();
    this.values = new Map(); // path -> the plain value that stands there
    this.addressed = new Set();
    this.count = 0;
    this.news = false; // is more known of what the code wants?
    this.trail = new Set();
    this.passed = undefined;
  }

  /** The code wants that at a path. */
  want(path, shape) {
    quietly(() => {
      if (this.shapes.has(path)) return;
      this.shapes.set(path, shape);
      this.news = true;
    });
  }

  /** It was taken for a text, and is compared with a number: `user.seen + 5 > 100`. */
  wantNumber(path) {
    if (this.shapes.get(path) !== "text" || path in this.given) return;
    this.shapes.set(path, "number");
    this.news = true;
  }

  note(path, how, other) {
    this.count += 1;
    if (this.count > 20 * MOST_FACTS) throw new EnoughAsked("enough");
    if (this.facts.size >= MOST_FACTS || NOTHING.has(other)) return;
    if (typeof other === "string" && ADDRESSES.test(other) && !this.addressed.has(path)) this.address(path);
    const told = this.encode(other);
    if (told !== undefined) this.facts.set(JSON.stringify([path, how, told]), [path, how, told]);
  }

  /** An address is read there: one of each kind is worth a try. */
  address(path) {
    this.addressed.add(path);
    for (const one of now.addresses) this.note(path, "is", one);
  }

  encode(value) {
    if (value === null || typeof value === "boolean") return value;
    if (value === undefined) return ["js", "undefined"];
    if (typeof value === "string") return value.length <= LONGEST ? value : undefined;
    if (typeof value === "bigint") return this.number(Number(value));
    if (typeof value === "number") return Number.isFinite(value) ? this.number(value) : ["float", ENDLESS[value]];
    if (value instanceof RealDate) {
      const seconds = Math.round(value.getTime() / 1000 - this.now);
      return Number.isNaN(seconds) ? undefined : ["time", seconds, true];
    }
    if (value instanceof Uint8Array) {
      return value.length <= LONGEST ? ["bytes", Buffer.from(value).toString("hex")] : undefined;
    }
    return value instanceof Same ? ["same", value.path] : undefined;
  }

  number(value) {
    for (const [word, unit] of CLOCKS) {
      const near = value / unit > 1e9 && value / unit < 1e10 && Math.abs(value / unit - this.now) < FAR;
      if (near) return [word, Math.round(value / unit - this.now)];
    }
    return value;
  }

  decode(told) {
    if (!Array.isArray(told)) return told;
    const [word, value] = told;
    if (word === "js") return { undefined, object: {}, proto: JSON.parse('{"__proto__": {"gate": true}}') }[value];
    if (word === "bytes") return Buffer.from(value, "hex");
    if (word === "float") return { nan: NaN, inf: Infinity, "-inf": -Infinity }[value];
    if (word === "clock") return Math.trunc(this.now) + value;
    if (word === "clock-ms") return 1000 * (Math.trunc(this.now) + value);
    if (word === "span") return value;
    if (word === "time") return new RealDate(1000 * (this.now + value));
    if (word === "list") return value.map((one) => this.decode(one));
    if (word === "made") return this.producers.get(value)?.(this, told[2]);
    if (word !== "same") return undefined;
    const other = this.given[value];
    if (!(value in this.given)) return this.plain(value);
    return Array.isArray(other) && other[0] === "same" ? this.plain(other[1]) : this.decode(other);
  }

  /** The plain value of a path for which nothing is given. */
  plain(path) {
    const shape = this.shapes.get(path);
    if (shape === "number") return numberOf(path);
    if (shape === "digits") return String(numberOf(path));
    if (shape === "flag") return true;
    if (shape === "time") return new RealDate(1000 * (this.now + HOUR));
    if (shape === "moment") return new RealDate(1000 * (this.now + HOUR)).toISOString();
    if (shape === "bytes") return Buffer.from(wordOf(path));
    return wordOf(path);
  }

  keep(path, value) {
    const plain = ["string", "number", "bigint"].includes(typeof value);
    if (plain || Buffer.isBuffer(value) || value instanceof RealDate) this.values.set(path, value);
    return value;
  }

  /** Where a value comes from: [[path, what the other side would have to be]]. */
  origins(value, other) {
    if (typeof value === "string" && value) return this.ofText(value, other);
    const counted = typeof value === "number" || typeof value === "bigint";
    if (counted || value instanceof RealDate) return this.ofNumber(Number(value), other);
    return value instanceof Uint8Array ? this.ofBytes(Buffer.from(value), other) : [];
  }

  ofBytes(raw, other) {
    const plain = other instanceof Uint8Array ? Buffer.from(other).toString("latin1") : "\0";
    const found = this.ofText(raw.toString("utf8"), /^[\x20-\x7e]*$/.test(plain) ? plain : other);
    for (const [path, one] of this.values) if (Buffer.isBuffer(one) && one.equals(raw)) found.push([path, other]);
    return found;
  }

  ofText(value, other) {
    const found = [];
    const folded = value.toLowerCase();
    for (const [path, one] of this.values) {
      if (typeof one !== "string" || !one) continue;
      const plain = one.trim().toLowerCase();
      if (folded === plain || value === one) found.push([path, other]);
      else if (plain.length > 5 && folded.includes(plain)) {
        const at = folded.indexOf(plain);
        const [before, after] = [value.slice(0, at), value.slice(at + plain.length)];
        found.push([path, within(other, before, after)]);
      } else if (value.length > 5 && plain.includes(folded)) found.push([path, other]);
    }
    return found;
  }

  ofNumber(value, other) {
    const numbers = [];
    for (const [path, one] of this.values) {
      if (typeof one === "number" || one instanceof RealDate) numbers.push([path, one]);
      else if (typeof one === "string" && MOMENT.test(one)) numbers.push([path, new RealDate(one)]);
    }
    const exact = numbers.filter(([, one]) => Number(one) === value);
    if (exact.length || !Number.isFinite(value)) return exact.map(([path]) => [path, other]);
    const goal = other instanceof RealDate ? other.getTime() : Number(other);
    if (typeof other === "string" || !Number.isFinite(goal)) return [];
    // Something was added or taken away, in seconds or in milliseconds: what would have to stand there?
    return numbers.slice(0, 4).flatMap(([path, one]) => {
      const step = goal - value;
      const goals = [step, -step, step / 1000, -step / 1000].map((by) => Number(one) + by);
      const found = goals.filter((to) => Math.abs(to) < 1e14);
      return found.map((to) => [path, one instanceof RealDate ? new RealDate(to) : Math.round(to)]);
    });
  }
}
