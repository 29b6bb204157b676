// Keys that a program asks for in a header or in a query: those that one of its own routes gives to whoever makes a team,
// a project or an account, else those that stand in its tables from the start. A key counts where it opens a route that
// is shut without one. Trusted.
import { bindings } from "./deployed.mjs";
import { madeBy } from "./made.mjs";
import { credentialsIn, valueOf } from "./sign_in.mjs";
import { ask, learn, quietly } from "./ways.mjs";

/** Names of fields that hold one: `apiKey`, `access_key`, `secret`. */
const KEY = /(?:^|[_-]|[a-z])(?:token|key|secret|jwt)$/i;
const TABLE = /key|token|team|tenant|client|project|account|user|member|device|agent|org|workspace|store|seed/i;
const MAKERS = 8; // routes
const OPENED = 12;
const CANDIDATES = 12;
const OBJECTS = 200;
const LEAST = 6; // characters
const shut = (reply) => reply?.status === 401 || reply?.status === 403;

/** Two users, each with a key that opens something: {credential, signed, ...}; none where nothing is opened. */
export async function keyed(routes, tools, bounded, late) {
  const shutRoutes = [];
  for (const route of routes) {
    if (late() || shutRoutes.length >= OPENED) break;
    if (shut(await quietly(() => bounded(route.send({ full: true, values: {}, bare: true, raw: "{}" }))))) shutRoutes.push(route);
  }
  if (!shutRoutes.length) return [];
  const opens = async (user) => {
    tools.users.push(user);
    try {
      for (const route of shutRoutes) {
        if (late()) return false;
        const reply = await quietly(() => bounded(route.send({ full: true, values: {}, raw: "{}", as: tools.users.length - 1 })));
        if (reply !== undefined && !shut(reply)) return true;
      }
    } finally {
      tools.users.pop();
    }
    return false;
  };
  const makers = routes.filter((route) => /^POST\b/.test(route.entry) && !/[:{*]/.test(route.entry) && !shutRoutes.includes(route));
  for (const route of makers.slice(0, MAKERS)) {
    const found = await madeWith(route, tools, bounded, late);
    if (found.length && (await opens(found[0]))) return found;
  }
  for (const credential of seeds()) {
    const user = { ...tools.users[0], credential, signed: true };
    if (await opens(user)) return [user]; // one alone: whether another key is somebody else's, a table does not say
  }
  return [];
}

/** Two users by a route whose answer holds a key. */
async function madeWith(route, tools, bounded, late) {
  const fields = await learn(route, tools, bounded);
  const found = [];
  for (const user of tools.users.slice(0, 2)) {
    if (late()) return [];
    const body = Object.fromEntries(fields.filter(([source]) => source === "body").map(([, name]) => [name, valueOf(name, user, tools)]));
    const reply = await quietly(() => bounded(route.send(ask(route, [], { body }, tools, { bare: true }))));
    const { credential } = reply?.status < 300 ? credentialsIn(reply, KEY) : {};
    if (!credential || found.some((one) => one.credential === credential)) return [];
    const id = madeBy(reply);
    found.push({ ...user, ...(id === undefined ? {} : { id, sub: id, made: id }), credential, signed: true });
  }
  return found;
}

/** Texts that stand for somebody in the program's own tables. */
function seeds() {
  const found = new Set();
  const seen = new Set();
  const add = (text) => typeof text === "string" && text.length >= LEAST && text.length < 200 && !/\s/.test(text) && found.size < CANDIDATES && found.add(text);
  const walk = (value, depth) => {
    if (value === null || typeof value !== "object" || seen.has(value) || seen.size > OBJECTS || depth > 3) return;
    seen.add(value);
    const entries = value instanceof Map ? [...value].slice(0, 20) : Object.entries(value).slice(0, 20);
    for (const [key, inner] of entries) {
      if (typeof inner === "string" && KEY.test(String(key))) add(inner);
      else if (inner !== null && typeof inner === "object") {
        if (!Array.isArray(value) && /\d|[_-]/.test(String(key))) add(key); // a table by keys
        walk(inner, depth + 1);
      }
    }
  };
  for (const [name, value] of bindings()) if (TABLE.test(name)) walk(value, 0);
  return found;
}
