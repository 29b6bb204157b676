// What was stored and is found by a word of it: a text is kept with a word in front, and routes that read are asked for
// that word in each field of their query. Where the rest of the text comes back, payloads take the same way. Trusted.
import { ask, merged, quietly } from "./ways.mjs";

const WORD = "gatefind";
const REST = "gatebrought";
const ROUTES = 6;
const FIELDS = 4;

const reads = (route) => /^GET\b/.test(route.entry);

/** Places of routes that find what that field of the route keeps: [{other, way, name}]. Asked once a field. */
export async function finders({ asked, tools, bounded }, route, way, source, name, dress) {
  const known = (route.finders ??= new Map());
  const key = `${source} ${name}`;
  if (known.has(key)) return known.get(key);
  const found = [];
  known.set(key, found);
  const places = asked.filter(([one]) => reads(one) && one !== route).flatMap(([other, ways]) => {
    const [there] = ways;
    return there.known.filter(([from]) => from === "query").slice(0, FIELDS).map(([, field]) => ({ other, way: there, name: field }));
  });
  if (!places.length) return found;
  const kept = await quietly(() => bounded(route.send(ask(route, way.known, merged(way.values, source, name, dress(`${WORD} ${REST}`)), tools))));
  if (!(kept?.status < 400)) return found;
  for (const place of places.slice(0, ROUTES * FIELDS)) {
    if ((await searched(place, { tools, bounded }))?.body?.includes(REST)) found.push(place);
  }
  return found;
}

/** The text that is kept for a payload. */
export const behindWord = (sent) => `${WORD} ${sent}`;

/** Ask that place for the word. */
export async function searched({ other, way, name }, { tools, bounded }) {
  return quietly(() => bounded(other.send(ask(other, way.known, merged(way.values, "query", name, WORD), tools))));
}
