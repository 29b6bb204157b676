// Texts that may make a regular expression slow: a beginning that fits, a part as often as one likes, an end that fits
// nothing; and how its steps grow with them. Trusted.
import { Program, takes } from "./pattern_steps.mjs";

const SIGNS = [..."a0 -_.@/,;:=x<>\"'\\\t\n%&+#!?*()[]{}|~^$`AZz9\u00e9"];
const ENDS = ["!", "\0", "\n\0", "a!", "@"];
const ENDLESS = 25;
const MOST = 64;
const LOOK = 150; // repeats
const QUICK = 2.8; // what twice as many take more
const FLOOR = 200_000; // steps of the smaller of two sizes
const ROOM = 32_000; // characters
const SPENT = 60_000_000; // steps that are counted for one pattern
const CEILING = 4_000_000; // steps that are counted
const SUPERLINEAR = 1.7;
const STEEP = 6; // an exponent that nothing but an explosion has

const kids = (node) => node.items ?? node.options ?? (node.item ? [node.item] : []);

class Maker {
  constructor(program) {
    this.program = program;
    this.known = new Map();
  }

  first(node) {
    // Usual signs, else those that the class itself names (`[1-4]`).
    if (!this.known.has(node.source)) this.known.set(node.source, [...SIGNS, ...node.source].find(takes(node.source, this.program.flags)) ?? "");
    return this.known.get(node.source);
  }

  characters(node) {
    return node.kind === "char" ? [this.first(node)] : kids(node).flatMap((one) => this.characters(one));
  }

  /** Texts that fit; `full`: what may be left out is there. */
  samples(node, full) {
    if (node.kind === "char") return [this.first(node)];
    if (node.kind === "alt") return node.options.map((one) => this.samples(one, full)[0] ?? "").slice(0, 4);
    if (node.kind === "rep") return [(this.samples(node.item, full)[0] ?? "").repeat(Math.min(20, Math.max(node.least, full)))];
    if (node.kind !== "seq") return [""];
    return node.items.reduce((out, one) => out.flatMap((a) => this.samples(one, full).map((b) => a + b)).slice(0, 4), [""]);
  }

  /** [what fits before it, its body] of each endless repeat, outer ones first. */
  *repeats(node, before = "") {
    if (node.kind === "rep" && node.most >= ENDLESS) yield [before, node.item];
    let front = before;
    for (const one of kids(node)) {
      yield* this.repeats(one, front);
      if (node.kind === "seq") front += this.samples(one, 0)[0] ?? "";
    }
  }

  *texts() {
    const { tree, flags } = this.program;
    const signs = [...new Set(this.characters(tree))].filter(Boolean).slice(0, 12);
    const all = [...this.repeats(tree)];
    for (const [before, body] of all) {
      const alone = new Program({ flags, sticky: true }, { kind: "seq", items: [body, { kind: "end" }] });
      const single = signs.filter((sign) => alone.match(sign, 0, { left: 10_000 }));
      const parts = new Set([...single.slice(0, 4), ...this.samples(body, 0), ...this.samples(body, 1)]);
      for (const part of parts) {
        if (!part || part.length > 20) continue;
        for (const after of ENDS) for (const start of new Set([before, ""])) yield { before: start, part, after };
      }
    }
    for (const before of new Set(all.map(([text]) => text).filter(Boolean))) yield { before: "", part: before, after: ENDS[0] };
  }
}

/** Texts that the pattern takes, up to three, the shortest means first; none where nobody knows. */
export function fitting(pattern) {
  const plain = new RegExp(pattern.source, pattern.flags.replace(/[gy]/g, ""));
  try {
    const program = new Program(pattern);
    const maker = new Maker(program);
    const texts = [...maker.samples(program.tree, 0), ...maker.samples(program.tree, 1)];
    return [...new Set(texts)].filter((text) => text !== "" && plain.test(text)).slice(0, 3);
  } catch {
    return [];
  }
}

export const textOf = ({ before, part, after }, times) => before + part.repeat(times) + after;

/** What makes the pattern slow: {text, times, steps, exponent, ratio}; undefined where nothing does, or nobody knows. */
export function slowText(pattern, late) {
  let program;
  try {
    program = new Program(pattern);
  } catch {
    return undefined;
  }
  let left = MOST;
  let found;
  for (const text of new Maker(program).texts()) {
    if ((left -= 1) < 0 || program.spent > SPENT || late()) break;
    const one = growth(program, text);
    if (one && (!found || one.exponent > found.exponent)) found = { ...one, program };
    if (found?.exponent >= STEEP) break;
  }
  return found;
}

function growth(program, text) {
  const steps = (times) => program.steps(textOf(text, times), CEILING);
  // Most only grow as their input does: that is seen soon.
  const [half, whole] = [steps(LOOK), steps(2 * LOOK)];
  if (half < CEILING && whole < QUICK * half) return undefined;
  let times = 6;
  let took = 0;
  while ((took = steps(times)) < FLOOR) {
    times = Math.max(times + 1, Math.floor(times * 1.25));
    if (textOf(text, times).length > ROOM) return undefined;
  }
  // What explodes is measured a little smaller, where it can still be counted.
  while (took >= CEILING && times > 3) took = steps((times -= 1));
  const beside = took > FLOOR && times < 60 ? times - 1 : Math.floor(times / 1.25);
  const less = steps(beside);
  const again = steps(beside - (times - beside));
  if (again < 100) return undefined;
  const power = (a, b, more, fewer) => Math.log(more / fewer) / Math.log(a / b);
  const exponent = Math.min(power(times, beside, took, less), power(beside, beside - (times - beside), less, again));
  return exponent >= SUPERLINEAR ? { text, times, steps: took, exponent, ratio: (took / less) ** (1 / (times - beside)) } : undefined;
}

/** So many repeats take that many steps, as its growth has it. */
export function timesFor({ times, steps, exponent, ratio }, wanted) {
  if (exponent >= STEEP) return Math.ceil(times + Math.log(wanted / steps) / Math.log(ratio));
  return Math.ceil(times * (wanted / steps) ** (1 / exponent));
}
