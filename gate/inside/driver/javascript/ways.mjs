// How a route is asked so that it goes on: which fields it has, and which values of the others it accepts. Values come
// from the program's own text, types and data; what counts is that the route answers otherwise. Trusted.
import { computed } from "./macs.mjs";
import { identifiersIn, valuesOf, wordsOf } from "./names.mjs";
import { fitting } from "./pattern_texts.mjs";
import { listen, ownIn, reached } from "./pattern_uses.mjs";
import { recorder } from "./routes.mjs";
import { now } from "./stands.mjs";

const FIELDS = 24; // of one route
const WAYS = 3; // beside the one with values by names
const TRIES = 260;
const LEFT_AWAY = 8; // fields
const WAYS_WITHOUT = 2;
const ROUNDS = 6;
const LOOKS = 4; // answers of one kind whose fields are looked at
const LOG_IN = /(?:log-?in|sign-?in|auth|sessions?(?:\/new)?)\/?(?:\?|$)/i; // where who is not known is led
const LEARN = '{"gate":"gate"}';

export async function quietly(act) {
  try {
    return await act();
  } catch {
    return undefined;
  }
}

const bodied = (route) => !/^(?:GET|HEAD)\b/.test(route.entry);

/** The fields that a route looks up, as [source, name], with these values of others. */
export async function learn(route, tools, bounded, values = {}) {
  const heard = [];
  for (const full of [true, false]) await quietly(() => bounded(route.send({ full, heard, values: dotless(values) })));
  if (bodied(route)) {
    // What the program itself parses: the text of the body.
    const real = JSON.parse;
    JSON.parse = (text, ...more) => (String(text) === LEARN ? recorder(tools, { heard, values: dotless(values) }) : real(text, ...more));
    try {
      await quietly(() => bounded(route.send({ full: true, heard, values: dotless(values), raw: LEARN })));
    } finally {
      JSON.parse = real;
    }
  }
  const known = new Map();
  for (const one of heard) {
    if (!/^[\w.-]{1,60}$/.test(one[1]) || known.size >= FIELDS) continue;
    known.set(one.join(), one);
    if (one[0] === "body") for (const inner of route.inside(one[1])) known.set(`body,${one[1]}.${inner}`, ["body", `${one[1]}.${inner}`]);
  }
  return [...known.values()].slice(0, FIELDS);
}

const dotless = (values) => ({ ...values, body: Object.fromEntries(Object.entries(values.body ?? {}).filter(([name]) => !name.includes("."))) });

function put(object, name, value) {
  const parts = name.split(".");
  let at = object;
  for (const part of parts.slice(0, -1)) {
    if (!Object.hasOwn(at, part) || at[part] === null || typeof at[part] !== "object" || Array.isArray(at[part])) at[part] = {};
    at = at[part];
  }
  at[parts.at(-1)] = value;
}

/** A body with every known field (but for those of `without`), or only those with values of their own (`sparse`). */
export function bodyOf(known, values, tools) {
  const body = {};
  for (const [source, name] of values.sparse ? [] : known) {
    if (source !== "body" || values.without?.includes(name)) continue;
    const value = tools.value(name.split(".").at(-1));
    put(body, name, typeof value === "function" ? "gate" : value);
  }
  for (const [name, value] of Object.entries(values.body ?? {})) put(body, name, value);
  return body;
}

/** One request with these values, the body as text. */
export function ask(route, known, values, tools, more = {}) {
  const how = { full: true, values, ...more };
  if (bodied(route) && how.raw === undefined) how.raw = JSON.stringify(bodyOf(known, values, tools));
  return how;
}

export const merged = (values, source, name, value) => ({ ...values, [source]: { ...values[source], [name]: value } });

/** The route, asked by whoever it lets farthest: what stands in for a log-in, or a user who has signed in. */
export async function chosen(route, tools, bounded) {
  const signed = tools.users.findIndex((user) => user.signed);
  if (signed < 0) return route;
  const mine = { ...route, letInBy: "a log-in or a key that the application itself gave", send: (how) => route.send({ as: signed, ...how }) };
  const far = async (one) => {
    const known = await learn(one, tools, bounded);
    return rank((await quietly(() => bounded(one.send(ask(one, known, {}, tools))))) ?? { status: 500 });
  };
  const [own, other] = [await far(mine), await far(route)];
  return own >= other || (own > 0 && other < 3) ? mine : route; // what stands in may be no user at all
}

/** Values of other fields under which the route goes on: [{values, known, status}], the farthest first. */
export async function waysOf(route, tools, bounded, late) {
  const first = { values: {}, known: await learn(route, tools, bounded), status: 0, depth: 0 };
  const identifiers = identifiersIn(tools.tree);
  const words = wordsOf(tools.own);
  let left = TRIES;
  const seen = new Set();
  const shaped = shapesIn(tools.tree.code);
  const answer = async (way, value) => {
    computed.length = 0;
    const reply = await quietly(() => bounded(route.send(ask(route, way.known, way.values, tools))));
    way.status = reply?.status ?? 500;
    way.reply = reply;
    tools.made?.take(route.entry, reply);
    const body = (reply?.body ?? "").replaceAll(String(value), "").slice(0, 300);
    // Whoever comes as far as a signature's check is told the same as before it, mostly.
    return `${way.status} ${reply?.headers?.location ? "to" : ""} ${computed.length ? "signed" : ""} ${body}`;
  };
  seen.add(await answer(first, "\0"));
  const ways = [first];
  const begins = [first];
  if (bodied(route)) {
    // Fields that may be left away, where a value by its name is none that is taken.
    const sparse = { values: { sparse: true }, known: first.known, status: 0, depth: 0 };
    seen.add(await answer(sparse, "\0"));
    begins.push(sparse);
    ways.push(sparse);
  }
  for (const begin of begins) {
    let current = begin;
    for (let round = 0; round < ROUNDS && left > 0 && !late(); round++) {
      const news = [];
      for (const [source, name] of current.known) {
        if (name in (current.values[source] ?? {})) continue;
        const fit = await shaped(source, name, (text) => quietly(() => bounded(route.send(ask(route, current.known, merged(current.values, source, name, text), tools)))));
        for (const value of [...fit, ...candidates(source, name, tools, identifiers, words)]) {
          if (late() || left-- <= 0) break;
          const way = { values: merged(current.values, source, name, value), known: current.known, depth: round + 1 };
          const said = await answer(way, value);
          if (seen.has(said)) continue;
          seen.add(said);
          news.push(way);
        }
      }
      if (!news.length) break;
      ways.push(...news);
      const best = Math.max(...news.map(rank));
      if (best < rank(current)) break;
      let next;
      for (const way of news.filter((one) => rank(one) === best).slice(0, LOOKS)) {
        for (const one of await learn(route, tools, bounded, way.values)) {
          if (!way.known.some((old) => old.join() === one.join())) way.known = [...way.known, one];
        }
        if (!next || way.known.length > next.known.length) next = way;
      }
      current = next;
    }
    left += begins.length > 1 && begin === first ? TRIES / 2 : 0;
  }
  const sorted = ways.filter((way) => way !== first).sort((a, b) => rank(b) - rank(a) || b.depth - a.depth);
  const best = rank(first) >= 3 ? first : sorted[0];
  const without = bodied(route) && best && rank(best) >= 3 ? await leftAway(best, answer, late) : [];
  const far = [...without, ...sorted.filter((way, n) => way.depth > 0 || n === 0).slice(0, WAYS)];
  const known = ways.reduce((most, way) => (way.known.length > most.length ? way.known : most), first.known);
  for (const way of [...ways, ...without]) way.known = known;
  return rank(first) >= 3 ? [first, ...far] : [...far, first];
}

/** Ways without one field that may be left away, where the program does something else then: it asks another service, or
 * answers in another form. The former first. */
async function leftAway(best, answer, late) {
  const formOf = (said) => said.replace(/\d+/g, "0");
  const found = [];
  const plain = await answer(best, "\0");
  for (const [source, name] of best.known.slice(0, LEFT_AWAY)) {
    if (source !== "body" || name in (best.values.body ?? {}) || late()) continue;
    const way = { values: { ...best.values, without: [name] }, known: best.known, depth: 1 };
    const before = now.away;
    const said = await answer(way, "\0");
    if (rank(way) < 3) continue;
    if (now.away > before) found.unshift(way);
    else if (formOf(said) !== formOf(plain)) found.push(way);
  }
  return found.slice(0, WAYS_WITHOUT);
}

/** How far a request came: a refusal is nearer than a fault, and what asks who is there nearest of all. */
const rank = ({ status, headers, reply }) => (status < 400 ? (status >= 300 && LOG_IN.test(String((headers ?? reply?.headers)?.location ?? "")) ? 0 : 3) : status >= 500 ? 2 : status === 401 || status === 403 ? 0 : 1);

/** (source, name, send) -> texts that have the form which the program asks of that field: its own patterns, as a plain
 * text arrives at them. */
function shapesIn(code) {
  const own = ownIn(code, /[\\[|*+?}^$]/);
  const known = new Map();
  return async (source, name, send) => {
    const key = `${source} ${name}`;
    if (!known.get(key)?.length) {
      const stop = listen(own);
      try {
        known.set(key, (await reached(send)).flatMap(fitting).slice(0, 4));
      } finally {
        stop();
      }
    }
    return known.get(key);
  };
}

function candidates(source, name, tools, identifiers, words) {
  const own = valuesOf(name, tools.tree.code);
  const made = source === "params" || /id$/i.test(name) ? (tools.made?.ids ?? []).slice(0, 3) : [];
  const typed = source === "body" ? [5, true, { gate: "1" }, ["1"]] : source === "query" ? ["5"] : [];
  const ids = own.length > 3 && !/id$/i.test(name) ? identifiers.slice(0, 4) : identifiers;
  return [...new Set([...made, ...own, ...typed, ...ids.slice(0, 10), ...words])].slice(0, 20);
}
