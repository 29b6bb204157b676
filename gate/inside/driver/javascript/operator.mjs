// Users whom nobody can register by a request are added as an operator does it: by a function of the program's own that
// adds a user or gives a key (`store.addUser`, `issueToken`), found at the top of its files and in what applications
// hold. Nobody is made an administrator. Else those log in whom a table of the program has with a plain password.
// Trusted.
import { bindings } from "./deployed.mjs";
import { identifierOf } from "./made.mjs";
import { credentialsIn, valueOf } from "./sign_in.mjs";
import { quietly } from "./ways.mjs";

const MAKER = /^(?:add|create|make|register|new|insert|invite|issue|generate|mint)_?(?:users?|accounts?|members?|customers?|persons?|people|clients?|employees?|authors?|(?:api_?)?keys?|(?:access_?)?tokens?|logins?|sessions?|credentials?)(?:for\w*)?$/i;
const ADDS = /^(?:add|create|make|register|new|insert|invite|issue|generate|mint|sign_?up)$/i;
/** What keeps them, where its function is named by the verb alone: `tokens.create(user)`. */
const KEEPER = /(?:users?|accounts?|members?|customers?|persons?|people|clients?|employees?|authors?|keys?|tokens?|logins?|sessions?|credentials?)_?(?:store|repo(?:sitory)?|service|manager|registry|db|table)?$/i;
const GIVES_KEYS = /key|token|session/i;
const RECORD = /^(?:fields?|data|input|user|person|member|account|customer|attrs?|attributes|values?|details|profile|props|body|info|params|options|o|u|it)$/i;
const RIGHTS = /admin|role|staff|owner|super|scope|permission|rights|group/i;
const PLAIN = { name: "", email: "", username: "", password: "" };
const OBJECTS = 300;

/** Functions that add somebody, as [act, what it belongs to, does it give keys]. */
function makers(source, applications) {
  const found = new Map();
  const seen = new Set();
  const todo = [...[...bindings()].map(([name, value]) => [name, value, undefined, 0]), ...[...applications].map((app) => ["app", app, undefined, 0])];
  for (const [name, value, owner, depth, holder] of todo) {
    const adds = typeof value === "function" && (MAKER.test(name) || (ADDS.test(name) && KEEPER.test(holder ?? "")));
    if (adds && !/^class\b/.test(source(value)) && found.size < 12) found.set(value, [value, owner, GIVES_KEYS.test(`${holder} ${name}`)]);
    if (value === null || typeof value !== "object" && !(depth === 0 && typeof value === "function" && name === "app") || seen.has(value) || seen.size > OBJECTS || depth > 2) continue;
    seen.add(value);
    for (const [key, inner] of membersOf(value)) todo.push([key, inner, value, depth + 1, name]);
  }
  return [...found.values()];
}

/** Members of an object and of its class, without asking getters. */
function membersOf(value) {
  const out = [];
  for (let at = value, n = 0; at && at !== Object.prototype && at !== Function.prototype && n < 3; at = Object.getPrototypeOf(at), n++) {
    for (const [key, slot] of Object.entries(Object.getOwnPropertyDescriptors(at)).slice(0, 80)) if ("value" in slot && key !== "constructor") out.push([key, slot.value]);
  }
  return out;
}

/** What it is called with for that user: each parameter by its name, a record by the fields that are read of it. */
function argumentsOf(act, keyed, user, tools) {
  const text = tools.source(act);
  const head = /^(?:async\s+)?(?:function\s*)?[\w$]*\s*\(([^)]*)\)|^(?:async\s+)?([\w$]+)\s*=>/.exec(text) ?? [];
  const record = (names) => Object.fromEntries(names.filter((name) => /^\w+$/.test(name) && !RIGHTS.test(name)).map((name) => [name, valueOf(name, user, tools)]));
  const given = (head[1] ?? head[2] ?? "").match(/\{[^}]*\}|[^,]+/g) ?? [];
  return given.map((one) => one.trim()).filter(Boolean).map((one) => {
    if (one.startsWith("{")) return record(one.replace(/[{}]/g, "").split(",").map((word) => word.trim().split(/[:=\s]/)[0]));
    const name = one.split(/[=:\s]/)[0];
    if (RIGHTS.test(name)) return undefined; // as it is for everybody
    const read = [...text.matchAll(new RegExp(String.raw`\b${name}\??\.(\w+)\b(?!\s*\()`, "g"))].map(([, word]) => word);
    if (!read.length && keyed) return valueOf("username", user, tools); // kept beside a key as it is
    if (read.length || RECORD.test(name)) return record(read.length ? read : Object.keys(PLAIN));
    return /^(?:id|user_?id)$/i.test(name) ? user.id : valueOf(name, user, tools);
  });
}

/** Two users, each with what the program gave for him: {credential?, id, signed?, ...}; none where nothing adds one. */
export async function added(tools, applications, bounded, late) {
  const found = [];
  for (const [act, owner, keyed] of makers(tools.source, applications)) {
    for (const user of tools.users.slice(0, 2)) {
      if (late()) return [];
      const result = await quietly(async () => bounded(Promise.resolve(act.apply(owner, argumentsOf(act, keyed, user, tools)))));
      if (result === undefined || result === null) break;
      const body = JSON.stringify(typeof result === "string" ? { token: result } : result) ?? "";
      const { credential } = credentialsIn({ body });
      const id = identifierOf(body);
      if (credential) found.push({ ...user, ...(id === undefined ? {} : { id, sub: id }), made: id, credential, signed: true });
    }
    if (found.length > 1) return found;
    found.length = 0;
  }
  return found;
}

const NAMED = /^(?:user_?name|name|login|user|email|e?mail|handle|nick\w*)$/i;
const PASSWORD = /^(?:pass(?:word|phrase|wd)?|pwd|phrase|secret)$/i;
const ENTRIES = 50;

/** Who has a plain password in a table at the top of a file: [{username, email, password, ...}], those without a right
 * of their own first. */
export function known(tools) {
  const found = [];
  const add = (key, row) => {
    if (row === null || typeof row !== "object" || found.length > 6) return;
    const plain = (pattern) => Object.entries(row).find(([name, value]) => pattern.test(name) && typeof value === "string" && value.length < 80)?.[1];
    const password = plain(PASSWORD);
    const name = plain(NAMED) ?? (typeof key === "string" ? key : undefined);
    if (!password || !name || /^(?:\$2|\$argon|scrypt|pbkdf2)|^[\da-f]{40,}$/i.test(password)) return;
    const rights = Object.entries(row).filter(([right, value]) => RIGHTS.test(right) && (value === true || /admin|owner|root|super/i.test(String(value)))).length;
    found.push({ ...tools.users[found.length % 2], username: name, name, email: plain(/mail/i) ?? name, id: row.id ?? name, sub: row.id ?? name, password, rights });
  };
  for (const [name, value] of bindings()) {
    if (!/user|account|people|member|login|staff|customer|credential|author|person/i.test(name)) continue;
    const entries = value instanceof Map ? [...value] : value !== null && typeof value === "object" ? Object.entries(value) : [];
    for (const [key, row] of entries.slice(0, ENTRIES)) add(Array.isArray(value) ? undefined : key, typeof row === "string" ? { password: row } : row);
  }
  return found.sort((a, b) => a.rights - b.rights).map(({ rights: _, ...one }) => one);
}
