// Which of the program's own regular expressions a text of a request arrives at, as it runs. Trusted.
const PLAIN = "gatezq";
const MOST = 8;

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

/** Does the tree's text have that pattern, and is it of that kind? Those of packages are theirs. */
export function ownIn(code, kind) {
  const known = new Map();
  return ({ source }) => {
    if (source.length < 3 || !kind.test(source)) return false;
    if (!known.has(source)) known.set(source, code.includes(source) || code.includes(JSON.stringify(source).slice(1, -1)));
    return known.get(source);
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

/** Patterns that a plain text arrives at, which `send` sends. */
export async function reached(send) {
  const found = new Map();
  const hear = (pattern, text) => {
    if (text.toLowerCase().includes(PLAIN) && found.size < MOST) found.set(String(pattern), pattern);
    return false;
  };
  await heard(hear, () => send(PLAIN));
  return [...found.values()];
}
