// How many steps a backtracking engine takes with a regular expression and a text: counted, so that a busy machine sees
// the same. In the order of the standard's own matcher, which V8 follows. Trusted.
import { parsed } from "./pattern_syntax.mjs";

const COPIES = 40; // of what is repeated so many times by number
const ENDLESS = 25;
const [CHAR, SPLIT, JUMP, START, END, WORD, LOOK, ENTER, LEFT, DONE] = Array.from({ length: 10 }, (_, n) => n);

/** Does a pattern's part take that character? By the engine itself. */
export function takes(source, flags) {
  const own = new RegExp(`^(?:${source})$`, flags.replace(/[^iusv]/g, ""));
  const { test } = own;
  const known = new Map();
  return (c) => {
    let said = known.get(c);
    if (said === undefined) known.set(c, (said = test.call(own, c)));
    return said;
  };
}

export class Program {
  constructor(pattern, tree = parsed(pattern)) {
    this.flags = pattern.flags;
    this.tree = tree;
    this.code = [];
    this.slots = 0;
    this.spent = 0; // steps that were counted so far
    this.put(tree);
    this.code.push([DONE]);
    const first = tree.kind === "seq" ? tree.items[0] : tree;
    this.anchored = pattern.sticky || (first?.kind === "start" && !pattern.flags.includes("m"));
  }

  put(node) {
    const { code } = this;
    if (node.kind === "char") code.push([CHAR, takes(node.source, this.flags)]);
    else if (node.kind === "seq") for (const one of node.items) this.put(one);
    else if (node.kind === "start") code.push([START]);
    else if (node.kind === "end") code.push([END]);
    else if (node.kind === "word") code.push([WORD, node.not]);
    else if (node.kind === "look") code.push([LOOK, new Program({ flags: this.flags, sticky: true }, node.item), node.not]);
    else if (node.kind === "alt") {
      const ends = [];
      node.options.forEach((one, n) => {
        const last = n === node.options.length - 1;
        const split = last ? undefined : code.push([SPLIT, code.length + 1, 0]) - 1;
        this.put(one);
        if (last) return;
        ends.push(code.push([JUMP, 0]) - 1);
        code[split][2] = code.length;
      });
      for (const end of ends) code[end][1] = code.length;
    } else this.repeat(node);
  }

  repeat({ item, least, most, lazy }) {
    const { code } = this;
    for (let n = 0; n < Math.min(least, COPIES); n++) this.put(item);
    const ways = (split, inside, behind) => (code[split] = [SPLIT, lazy ? behind : inside, lazy ? inside : behind]);
    if (most >= ENDLESS && most - least > ENDLESS) {
      const slot = this.slots++;
      const split = code.push([]) - 1;
      code.push([ENTER, slot]);
      this.put(item);
      code.push([LEFT, slot], [JUMP, split]);
      ways(split, split + 1, code.length);
      return;
    }
    const splits = [];
    for (let n = least; n < most; n++) {
      splits.push(code.push([]) - 1);
      this.put(item);
    }
    for (const split of splits) ways(split, split + 1, code.length);
  }

  /** Steps of a search in that text, `most` at most. */
  steps(text, most) {
    const budget = { left: most };
    for (let from = 0; from <= (this.anchored ? 0 : text.length); from++) {
      if (this.match(text, from, budget) || budget.left <= 0) break;
    }
    const took = most - Math.max(0, budget.left);
    this.spent += took;
    return took;
  }

  /** Does it fit from there on? Ends where the budget does. */
  match(text, from, budget) {
    const { code } = this;
    const lines = this.flags.includes("m");
    const at = new Int32Array(this.slots).fill(-1); // where the round of a loop began
    const back = []; // pairs: where to go on, or ~slot and its old value
    let pc = 0;
    let pos = from;
    const isWord = (n) => n >= 0 && n < text.length && /\w/.test(text[n]);
    for (;;) {
      if ((budget.left -= 1) <= 0) return false;
      const [op, a, b] = code[pc];
      let fits = true;
      if (op === CHAR) {
        fits = pos < text.length && a(text[pos]);
        pos += 1;
      } else if (op === SPLIT) {
        back.push(b, pos);
        pc = a - 1;
      } else if (op === JUMP) pc = a - 1;
      else if (op === ENTER) {
        back.push(~a, at[a]);
        at[a] = pos;
      } else if (op === LEFT) fits = at[a] !== pos; // an empty round ends the loop
      else if (op === START) fits = pos === 0 || (lines && text[pos - 1] === "\n");
      else if (op === END) fits = pos === text.length || (lines && text[pos] === "\n");
      else if (op === WORD) fits = (isWord(pos - 1) !== isWord(pos)) !== a;
      else if (op === LOOK) fits = a.match(text, pos, budget) !== b;
      else return true;
      if (fits) {
        pc += 1;
        continue;
      }
      for (;;) {
        if (!back.length) return false;
        pos = back.pop();
        pc = back.pop();
        if (pc >= 0) break;
        at[~pc] = pos;
      }
    }
  }
}
