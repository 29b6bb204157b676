// A regular expression of JavaScript as a tree (ECMA-262, 22.2.1): what takes one character, sequences, alternatives,
// repeats, assertions. Trusted. Throws for what it does not know: references back, looks behind, flags in groups, classes
// of sets.

class Unknown extends Error {}
const SEVERAL = /\\q\{|\\[pP]\{(?:RGI_|Basic_Emoji|Emoji_Keycap)/; // strings, not characters

/** {kind, ...}: `char` (source), `seq` (items), `alt` (options), `rep` (item, least, most, lazy), `start`, `end`, `word`
 * (not), `look` (item, not). */
export function parsed({ source, flags }) {
  const sets = flags.includes("v");
  const unicode = sets || flags.includes("u");
  let at = 0;
  const eat = (text) => source.startsWith(text, at) && ((at += text.length), true);
  const alternatives = () => {
    const options = [sequence()];
    while (eat("|")) options.push(sequence());
    return options.length > 1 ? { kind: "alt", options } : options[0];
  };
  const sequence = () => {
    const items = [];
    while (at < source.length && source[at] !== "|" && source[at] !== ")") items.push(repeated(atom()));
    return { kind: "seq", items };
  };
  const repeated = (item) => {
    const found = /^(?:([*+?])|\{(\d+)(?:(,)(\d*))?\})(\??)/.exec(source.slice(at, at + 24));
    if (!found) return item;
    at += found[0].length;
    const [, sign, from, comma, to, lazy] = found;
    const least = sign ? Number(sign === "+") : Number(from);
    const most = sign ? (sign === "?" ? 1 : Infinity) : comma ? (to ? Number(to) : Infinity) : least;
    return { kind: "rep", item, least, most, lazy: Boolean(lazy) };
  };
  const closed = (item) => {
    if (!eat(")")) throw new Unknown(")");
    return item;
  };
  const atom = () => {
    if (eat("^")) return { kind: "start" };
    if (eat("$")) return { kind: "end" };
    if (eat("(?:")) return closed(alternatives());
    if (eat("(?=")) return closed({ kind: "look", item: alternatives(), not: false });
    if (eat("(?!")) return closed({ kind: "look", item: alternatives(), not: true });
    if (source.startsWith("(?<=", at) || source.startsWith("(?<!", at)) throw new Unknown("(?<");
    const name = /^\(\?<[\w$]+>/.exec(source.slice(at, at + 80));
    if (name || (source[at] === "(" && source[at + 1] !== "?")) {
      at += name ? name[0].length : 1;
      return closed(alternatives());
    }
    if (source[at] === "(") throw new Unknown("(?");
    if (source[at] === "[") return sets ? set() : char(/^\[(?:\\[\s\S]|[^\]\\])*\]/);
    if (source[at] !== "\\") return char(unicode ? /^[\s\S]/u : /^[\s\S]/);
    if (eat("\\b")) return { kind: "word", not: false };
    if (eat("\\B")) return { kind: "word", not: true };
    if (/^\\(?:[1-9]|k<)/.test(source.slice(at, at + 3))) throw new Unknown("\\1");
    return char(unicode ? /^\\(?:[pP]\{[^}]*\}|u\{[0-9a-fA-F]+\}|u[0-9a-fA-F]{4}|x[0-9a-fA-F]{2}|c[A-Za-z]|[\s\S])/u : /^\\(?:u[0-9a-fA-F]{4}|x[0-9a-fA-F]{2}|c[A-Za-z]|[\s\S])/);
  };
  /** A class of sets, with those that stand in it (ECMA-262, ClassSetExpression). */
  const set = () => {
    const from = at;
    let depth = 0;
    do {
      if (at >= source.length) throw new Unknown("[");
      if (source[at] === "\\") at += 1;
      else if (source[at] === "[") depth += 1;
      else if (source[at] === "]") depth -= 1;
      at += 1;
    } while (depth > 0);
    const text = source.slice(from, at);
    if (SEVERAL.test(text)) throw new Unknown(text);
    return { kind: "char", source: text };
  };
  const char = (shape) => {
    const [text] = shape.exec(source.slice(at)) ?? [];
    if (text === undefined) throw new Unknown(source[at]);
    if (sets && SEVERAL.test(text)) throw new Unknown(text);
    at += text.length;
    return { kind: "char", source: text };
  };
  const tree = alternatives();
  if (at < source.length) throw new Unknown(source[at]);
  return tree;
}
