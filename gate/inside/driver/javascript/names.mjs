// What the text of a program says about requests: names of fields, headers and cookies that it looks up, texts that it
// compares with, identifiers of the objects that it holds. Hints of what to send, no more. Trusted.
import fs from "node:fs";
import path from "node:path";

const LOOKED_UP = [
  /\b(?:body|query|params|data|input|payload|event|message)\??\.(\w{1,40})/g,
  /\.(?:get|getAll|query|param|has)\(\s*["'`]([\w-]{1,40})["'`]/g,
  /\{([^{}]{1,400})\}\s*=\s*(?:await\s+)?[\w.]*\b(?:body|query|params|json|req|request|parse\w*)\b/g,
  /\b(?:data|event|payload|body|input)\[["'`]([\w-]{1,40})["'`]\]/g,
];
const COOKIES = [/\bcookies(?:\(\))?\)?\??\.(?:get|has)?\(?\s*["'`]?([\w.-]{1,60})/g, /\bgetCookie\(\s*\w+\s*,\s*["'`]([\w.-]{1,60})["'`]/g];
const HEADERS = [/\b(?:headers(?:\(\))?\)?|req|request|ctx|c\.req)\??\.(?:get|header)\(\s*["'`]([\w-]{2,60})["'`]/g, /\bheaders\??\.?\[\s*["'`]([\w-]{2,60})["'`]/g, /\bheaders\??\.(authorization)\b/g];
const METHODS = /^(?:get|set|has|delete|append|entries|keys|values|forEach|length|trim|slice|split|replace\w*|match|map|filter|find|some|every|join|push|includes|startsWith|endsWith|indexOf|test|toString|to\w+Case|substring|concat|sort|reduce|pop|shift|at|flat\w*|then|catch|json|text|buffer|arrayBuffer|byteLength|getAll|name|pipe|on|ip|file|files)$/;
const MOST = 30;

function all(patterns, text) {
  const found = new Set();
  for (const pattern of patterns) {
    for (const [, words] of text.matchAll(pattern)) {
      for (const word of words.split(",")) {
        const name = word.split(/[:=]/)[0].trim();
        if (/^[\w.-]{1,60}$/.test(name)) found.add(name);
      }
    }
  }
  return [...found].slice(0, MOST);
}

/** Names of fields that a text looks up. */
export const namesIn = (text) => all(LOOKED_UP, text);
/** Names of cookies and headers that a text looks up. */
export const cookiesIn = (text) => all(COOKIES, text).filter((name) => !METHODS.test(name));
export const headersIn = (text) => all(HEADERS, text).map((name) => name.toLowerCase());

/** What is looked up in a field that is an object itself: `data` in `event.data.order` has `order`. */
export function insideOf(name, text) {
  if (!/^\w+$/.test(name)) return [];
  const found = [...text.matchAll(new RegExp(`[\\w)]\\??\\.${name}\\??\\.(\\w{1,40})\\b(?!\\s*\\()`, "g"))].map(([, word]) => word);
  const taken = [...text.matchAll(new RegExp(`\\{([^{}]{1,300})\\}\\s*=\\s*[\\w.?]*\\b${name}\\b`, "g"))].flatMap(([, words]) => words.split(","));
  const words = [...found, ...taken.map((word) => word.split(/[:=]/)[0].trim())];
  return [...new Set(words)].filter((word) => /^\w+$/.test(word) && !METHODS.test(word)).slice(0, 6);
}

const WORDS = 8;
/** Texts that the module compares with, or keeps in a list: each is tried in every field; of a host its address. */
export function wordsOf(text) {
  const code = text.replace(/^\s*(?:import|export)\b[^;\n]*\bfrom\s*["'][^"']*["']|\brequire\(\s*["'][^"']*["']\s*\)/gm, "");
  const found = [...code.matchAll(/(?:[=!]==?\s*|\bcase\s+|\[\s*|,\s*|\(\s*)["'`]([\w.:/@-]{2,60})["'`]\s*(?=[\],:;)\s&|?])/g)].map(([, word]) => word);
  const hosts = found.filter((word) => /^[\w-]+(?:\.[\w-]+)+$/.test(word)).map((word) => `https://${word}/`);
  return [...new Set([...hosts, ...found])].slice(0, WORDS);
}

// -- the tree as a whole -----------------------------------------------------------------------------
const SOURCES = /\.[mc]?[jt]sx?$/;
const SKIPPED = /^(?:node_modules|\.git|dist|build|coverage|tests?|__tests__|\.next)$/;

/** Programs and data of the tree, as one text each, and the programs by their files: {code, data, files}. */
export function treeText(top, files = 120, most = 600_000) {
  const code = [];
  const data = [];
  const programs = new Map();
  let size = 0;
  let left = 2000;
  const walk = (folder, depth) => {
    let entries = [];
    try {
      entries = fs.readdirSync(folder, { withFileTypes: true });
    } catch {
      return;
    }
    for (const entry of entries.sort((a, b) => (a.name < b.name ? -1 : 1))) {
      if ((left -= 1) < 0 || size > most || code.length + data.length > files) return;
      const place = path.join(folder, entry.name);
      if (entry.isDirectory()) {
        if (depth < 7 && !SKIPPED.test(entry.name)) walk(place, depth + 1);
      } else if (entry.isFile() && (SOURCES.test(entry.name) || (/\.(?:json|sql|csv|pem|pub)$/.test(entry.name) && !/^(?:package|package-lock|tsconfig|jsconfig)\b/.test(entry.name)))) {
        try {
          const text = fs.readFileSync(place, "utf8").slice(0, 100_000);
          size += text.length;
          (SOURCES.test(entry.name) ? code : data).push(text);
          if (SOURCES.test(entry.name)) programs.set(place, text);
        } catch {
          // not readable: no hint
        }
      }
    }
  };
  walk(top, 0);
  return { code: code.join("\n"), data: data.join("\n"), files: programs };
}

const LITERAL = String.raw`(?:["'\x60]([\w.:/@+ -]{1,60})["'\x60]|(-?\d{1,12}(?:\.\d+)?))`;
const literal = ([text, number]) => (text !== undefined ? text : Number(number));

function literals(pattern, text, most) {
  const found = new Set();
  for (const hit of text.matchAll(pattern)) {
    if (found.size >= most) break;
    found.add(literal(hit.slice(-2)));
  }
  return [...found];
}

/** Identifiers of what the program holds: values of `id: ...`, first elements of entries, names in a table. */
export function identifiersIn({ code, data }) {
  const text = `${code}\n${data}`;
  return [...new Set([
    ...literals(new RegExp(String.raw`\b["']?(?:id|_id|uuid|key|slug|code|sku|ref|handle|name|username|number)["']?\s*:\s*${LITERAL}`, "g"), text, 10),
    ...literals(new RegExp(String.raw`\[\s*${LITERAL}\s*,\s*[\[{]`, "g"), text, 10),
    ...literals(new RegExp(String.raw`[{,]\s*["']([\w.-]{1,40})["']()\s*:\s*\{`, "g"), text, 6),
    ...literals(new RegExp(String.raw`(?:VALUES|values)\s*\(\s*${LITERAL}`, "g"), text, 6).map((one) => (typeof one === "string" ? one : Number(one))),
  ])].filter((one) => one !== "" && !Number.isNaN(one));
}

/** Values that the program's text ties to that name: compared with it, its type, its schema, its table of names. */
export function valuesOf(name, code) {
  const last = name.split(".").at(-1);
  if (!/^\w+$/.test(last)) return [];
  const at = String.raw`\b${last}\b`;
  const out = literals(new RegExp(String.raw`${at}\??\)?\s*[=!]==?\s*${LITERAL}`, "g"), code, 6);
  out.push(...literals(new RegExp(String.raw`${at}["']?\s*(?:\?\?|\|\||[:=]|[<>]=?)\s*${LITERAL}`, "g"), code, 8));
  for (const [, list] of code.matchAll(new RegExp(String.raw`${at}["']?\??\s*[:=]\s*([^;\n{}]{0,200})`, "g"))) {
    if (/\|/.test(list) || /\b(?:enum|valid|oneOf|picklist|literal|union|includes|nativeEnum)\b/.test(list)) {
      out.push(...literals(new RegExp(LITERAL, "g"), list, 6));
    }
  }
  for (const [, table] of code.matchAll(new RegExp(String.raw`([A-Z_a-z]\w*)(?:\??\.(?:has|includes|get|indexOf)\(\s*|\s*\[\s*|\.hasOwn\(\s*)(?:\w+\.)*${last}\b`, "g"))) {
    out.push(...membersOf(table, code));
  }
  for (const [, table] of code.matchAll(new RegExp(String.raw`\bhasOwn(?:Property\.call)?\(\s*(\w+)\s*,\s*(?:\w+\.)*${last}\b`, "g"))) out.push(...membersOf(table, code));
  return [...new Set(out)].slice(0, 8);
}

/** Names in a table, or elements of a list or set, of that name. */
function membersOf(table, code) {
  if (!/^[A-Za-z_]\w*$/.test(table)) return [];
  const made = new RegExp(String.raw`\b${table}\b[^=;\n]{0,80}=\s*(?:Object\.freeze\(|new\s+(?:Set|Map)\b[^(]{0,40}\()?\s*([\[{][\s\S]{0,500})`).exec(code)?.[1] ?? "";
  const body = made.slice(0, made.search(/\n\s*[}\])]|;\s*\n|$/) + 1 || 300);
  if (body.startsWith("{")) return [...body.matchAll(/[{,\n]\s*["']?([\w.-]{1,40})["']?\s*:/g)].map(([, word]) => word).slice(0, 6);
  if (/^\[\s*\[/.test(body)) return literals(new RegExp(String.raw`\[\s*${LITERAL}\s*,`, "g"), body, 6);
  return literals(new RegExp(LITERAL, "g"), body, 6);
}

/** Addresses that the program names, without a path: `https://images.partner.example`. */
export function originsIn(code) {
  return [...new Set([...code.matchAll(/["'`](https?:\/\/[\w.-]+(?::\d+)?)(?=[/"'`?])/g)].map(([, origin]) => origin))].slice(0, 4);
}

/** Domains that the program names by themselves and that somebody else's may end with: two labels, no more. */
export function hostsIn(code) {
  return [...new Set([...code.matchAll(/["'`]\.?([a-z0-9-]{2,40}\.(?:example|invalid|com|org|net|io|dev|app|co|eu|de|uk|fr|ai|shop|cloud))["'`]/g)].map(([, host]) => host))].slice(0, 3);
}

const OWNER = String.raw`(?:\w*(?:account|owner|user|tenant|customer|member|org|organization|team|author|company|patient|client)(?:Id|ID|_id)?|createdBy|created_by)`;
/** Is that the name of a field that says whose an object is? */
export const isOwner = (name) => new RegExp(`^${OWNER}$`, "i").test(name);

/** Names of fields that say whose something is, with up to two values each that the tree's text has. */
export function ownersIn({ code, data }) {
  const found = new Map();
  for (const [, name, text, number] of `${code}\n${data}`.matchAll(new RegExp(String.raw`\b["']?(${OWNER})["']?\s*:\s*${LITERAL}`, "gi"))) {
    const values = found.get(name) ?? new Set();
    if (values.size < 2) values.add(literal([text, number]));
    found.set(name, values);
  }
  return found;
}
