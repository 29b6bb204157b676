// Which of the program's own regular expressions a text of a request arrives at, as it runs. Trusted.
import path from "node:path";
import process from "node:process";

export const PLAIN = "gatezq";
const MOST = 8;
const top = process.cwd() + path.sep;

const native = RegExp.prototype.exec;
let listening; // (pattern, text) -> whether it is not to be run

/** Every use of a pattern comes by its `exec`, also that of a text's own methods (ECMA-262, RegExpExec). Gives what
 * ends the listening. */
export function listen(own) {
  RegExp.prototype.exec = function (text) {
    const hear = listening;
    if (hear === undefined) return native.call(this, text);
    listening = undefined; // what we use ourselves is not heard
    let over = false;
    try {
      if (typeof text === "string" && own(this)) over = hear(this, text);
    } finally {
      listening = hear;
    }
    return over ? null : native.call(this, text);
  };
  return () => {
    listening = undefined;
    RegExp.prototype.exec = native;
  };
}

const here = new URL(".", import.meta.url).pathname;
const put = new WeakSet(); // patterns that a line of the tree has put together

/** Have `new RegExp(...)` tell which patterns are the tree's own, also where they are made of several texts. Before the
 * module is imported. */
export function listenToMade() {
  const real = globalThis.RegExp;
  const note = (made) => {
    const { stackTraceLimit } = Error;
    Error.stackTraceLimit = 4;
    const lines = String(new Error().stack).split("\n").slice(1);
    Error.stackTraceLimit = stackTraceLimit;
    const caller = lines.find((line) => !line.includes(here) && !/Object\.(?:apply|construct) /.test(line));
    if (caller?.includes(top) && !/[\\/]node_modules[\\/]/.test(caller)) put.add(made);
    return made;
  };
  // What patterns name as their constructor stays: `split` makes one of it at every call.
  globalThis.RegExp = new Proxy(real, {
    apply: (f, self, words) => note(Reflect.apply(f, self, words)),
    construct: (f, words, kind) => note(Reflect.construct(f, words, kind === globalThis.RegExp ? f : kind)),
  });
}

/** Is that pattern the tree's own, and of that kind? Those of packages are theirs. */
export function ownIn(code, kind) {
  const known = new Map();
  return (pattern) => {
    const { source } = pattern;
    if (source.length < 3 || source.toLowerCase().includes(PLAIN) || !kind.test(source)) return false;
    if (!known.has(source)) known.set(source, code.includes(source) || code.includes(JSON.stringify(source).slice(1, -1)));
    return known.get(source) || put.has(pattern);
  };
}

/** Act while `hear` is told of every use. */
export async function heard(hear, act) {
  listening = hear;
  try {
    return await act();
  } finally {
    listening = undefined;
  }
}

/** Patterns that a plain text arrives at, which `send` sends; `counts`: which other texts say so. */
export async function reached(send, counts = (text) => text.toLowerCase().includes(PLAIN)) {
  const found = new Map();
  const hear = (pattern, text) => {
    if (counts(text) && found.size < MOST) found.set(String(pattern), pattern);
    return false;
  };
  await heard(hear, () => send(PLAIN));
  return [...found.values()];
}
