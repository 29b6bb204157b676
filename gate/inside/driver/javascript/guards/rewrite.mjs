// Rewrites a module so that its comparisons, branches and lookups tell of themselves (listening.mjs): `===` cannot be
// hooked in the language. By Node's own parser, after types and markup are gone. No line moves, and what cannot be
// parsed stays as it is. Trusted.
import Module from "node:module";

const require = Module.createRequire(import.meta.url);
let acorn;
try {
  acorn = require("internal/deps/acorn/acorn/dist/acorn"); // by --expose-internals
} catch {
  acorn = undefined;
}
export const parser = acorn;
export const LISTENER = "__gate_guards__";
const COMPARED = new Set(["===", "!==", "==", "!=", "<", ">", "<=", ">=", "in", "instanceof"]);
const BIGGEST = 1 << 19;
const LITERALS = 40; // of one function
const FUNCTIONS = /^(?:FunctionDeclaration|FunctionExpression|ArrowFunctionExpression)$/;

let sites = 0;
/** Number of a function -> the texts, numbers and patterns in it and in what it names. */
export const literals = new Map();
/** Number of a place -> number of the function that holds it. */
export const holder = [];

function parse(code) {
  const tokens = [];
  const options = { ecmaVersion: "latest", allowHashBang: true, onToken: tokens };
  for (const sourceType of ["module", "script"]) {
    tokens.length = 0;
    try {
      const more = { sourceType, allowReturnOutsideFunction: true, allowAwaitOutsideFunction: sourceType === "module" };
      return { tree: acorn.parse(code, { ...options, ...more }), tokens };
    } catch {
      // the other kind
    }
  }
  return undefined;
}

/** Every node below, with a word of what it is to its parent. */
function* children(node) {
  for (const [key, value] of Object.entries(node)) {
    for (const one of Array.isArray(value) ? value : [value]) {
      if (one && typeof one.type === "string") yield [one, key];
    }
  }
}

function plainOf(node, found) {
  if (found.length >= LITERALS || !node) return;
  if (node.type === "Literal" && (node.regex || ["string", "number"].includes(typeof node.value))) {
    found.push(node.regex ? { source: node.regex.pattern, flags: node.regex.flags } : node.value);
  } else if (node.type === "Property" && !node.computed && node.key.type === "Identifier") {
    found.push(node.key.name);
  }
  for (const [one] of children(node)) plainOf(one, found);
}

function namesIn(node, found = new Set()) {
  if (node.type === "Identifier") found.add(node.name);
  for (const [one] of children(node)) namesIn(one, found);
  return found;
}

class Edits {
  constructor(code, tokens) {
    this.code = code;
    this.tokens = tokens;
    this.opens = new Map();
    this.closes = new Map();
    this.instead = new Map(); // start -> [end, text]
    this.starts = tokens.map((one) => one.start);
  }

  around(start, end, before, after) {
    if (!this.opens.has(start)) this.opens.set(start, []);
    this.opens.get(start).push(before);
    if (!this.closes.has(end)) this.closes.set(end, []);
    this.closes.get(end).unshift(after);
  }

  /** The first token from here on that closes no bracket. */
  operator(from) {
    let low = 0;
    let high = this.starts.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.starts[middle] < from) low = middle + 1;
      else high = middle;
    }
    while (this.tokens[low]?.type.label === ")") low += 1;
    return this.tokens[low];
  }

  text() {
    const every = [this.opens, this.closes, this.instead].flatMap((one) => [...one.keys()]);
    const places = [...new Set(every)].sort((a, b) => a - b);
    let out = "";
    let at = 0;
    for (const place of places) {
      out += this.code.slice(at, Math.max(at, place));
      at = Math.max(at, place);
      out += (this.closes.get(place) ?? []).join("") + (this.opens.get(place) ?? []).join("");
      const other = this.instead.get(place);
      if (other) {
        out += other[1];
        at = other[0];
      }
    }
    return out + this.code.slice(at);
  }
}

/** The rewritten text; the same where it cannot be. */
export function rewrite(code) {
  if (!acorn || code.length > BIGGEST) return code;
  const parsed = parse(code);
  if (!parsed) return code;
  const edits = new Edits(code, parsed.tokens);
  const top = new Map(); // names of the module -> what they are at first
  for (const one of parsed.tree.body) {
    const said = one.type === "ExportNamedDeclaration" ? one.declaration : one;
    for (const each of said?.type === "VariableDeclaration" ? said.declarations : []) {
      const value = each.id.type === "Identifier" ? each.init : undefined;
      if (value && !FUNCTIONS.test(value.type)) top.set(each.id.name, value);
    }
  }
  walk(parsed.tree, edits, 0, top, {});
  return edits.text();
}

function site(inside) {
  sites += 1;
  holder[sites] = inside;
  return sites;
}

function enter(node, edits, top) {
  sites += 1;
  const own = sites;
  const found = [];
  for (const name of namesIn(node)) if (top.has(name)) plainOf(top.get(name), found);
  plainOf(node.body, found);
  literals.set(own, found);
  holder[own] = own;
  if (node.body.type === "BlockStatement") {
    const first = node.body.body.find((one) => !one.directive);
    const at = first ? first.start : node.body.end - 1;
    edits.around(at, at, `${LISTENER}.f(${own});`, "");
  }
  return own;
}

/** Parts of a node that are no values that are read: targets, and what is called, which needs its `this`. */
const NOT_READ = {
  AssignmentExpression: "left", UpdateExpression: "argument", CallExpression: "callee", NewExpression: "callee",
  TaggedTemplateExpression: "tag", ForInStatement: "left", ForOfStatement: "left", AssignmentPattern: "left",
  RestElement: "argument",
};
const READ_AGAIN = /^(?:Identifier|MemberExpression|ChainExpression)$/;

function isLookup(node) {
  if (node.type !== "MemberExpression" || !node.computed) return false;
  // Behind a `?.` it may not be looked up at all.
  for (let at = node; at; at = at.object ?? at.callee) if (at.optional) return false;
  return node.object.type !== "Super" && node.property.type !== "Literal";
}

function walk(node, edits, inside, top, from) {
  const wrap = (one, how) => edits.around(one.start, one.end, `${LISTENER}.${how}(${site(inside)},(`, "))");
  let within = inside;
  if (FUNCTIONS.test(node.type)) within = inside = enter(node, edits, top);
  if (node.type === "BinaryExpression" && COMPARED.has(node.operator) && node.left.type !== "PrivateIdentifier") {
    const token = edits.operator(node.left.end);
    if (token && edits.code.slice(token.start, token.end) === node.operator) {
      const kinds = [node.left, node.right].map((one) => one.type === "UnaryExpression" && one.operator === "typeof");
      const typed = kinds[0] ? node.left : kinds[1] ? node.right : undefined;
      const plain = typed && READ_AGAIN.test(typed.argument.type) ? typed.argument : undefined;
      const more = plain ? `,()=>${edits.code.slice(plain.start, plain.end)}` : "";
      edits.around(node.start, node.end, `${LISTENER}.c(${site(inside)},"${node.operator}",(`, `)${more})`);
      edits.instead.set(token.start, [token.end, "),("]);
    }
  } else if (["IfStatement", "ConditionalExpression"].includes(node.type)) wrap(node.test, "b");
  else if (node.type === "LogicalExpression") wrap(node.left, "b");
  else if (node.type === "ThrowStatement") wrap(node.argument, "t");
  else if (node.type === "SwitchStatement") {
    const own = site(inside);
    edits.around(node.discriminant.start, node.discriminant.end, `${LISTENER}.s(${own},(`, "))");
    for (const { test } of node.cases) {
      if (test) edits.around(test.start, test.end, `${LISTENER}.k(${own},${site(inside)},(`, "))");
    }
  } else if (isLookup(node) && !from.target) {
    const token = edits.operator(node.object.end);
    if (token?.type.label === "[") {
      edits.around(node.start, node.end - 1, `${LISTENER}.i(${site(inside)},(`, "");
      edits.instead.set(token.start, [token.end, "),("]);
      edits.instead.set(node.end - 1, [node.end, "))"]);
    }
  }
  for (const [one, key] of children(node)) {
    const pattern = /Pattern$/.test(node.type) && key !== "right";
    const deleted = node.type === "UnaryExpression" && node.operator === "delete";
    const parted = from.target && node.type === "Property" && key === "value"; // of a pattern
    const target = NOT_READ[node.type] === key || pattern || deleted || parted;
    walk(one, edits, within, top, { target });
  }
}
