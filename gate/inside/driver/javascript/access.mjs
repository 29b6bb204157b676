// Another user's object: two users are told apart by what the program's own data says, and one asks for what belongs to
// the other. That it is not meant for everybody is told by the application itself: another of its routes refuses the
// same object to the same user, or base refused the same request. Trusted.
import { now, rowsOfDatabases } from "./stands.mjs";
import { preparing } from "./statements.mjs";
import { ask, quietly } from "./ways.mjs";

const PAIRS = 6;
const NAMED = /^(?:id|.*(?:Id|ID|_id)|slug|key|ref|number|code|uuid)$/;

/** Texts of an object that are nowhere in those of others. */
function secretsOf(object, others) {
  const texts = (one) => {
    const found = new Set();
    const walk = (value, depth) => {
      if (depth > 3) return;
      if (typeof value === "string" && value.length >= 4) found.add(value);
      else if (typeof value === "number" && Math.abs(value) >= 1000) found.add(String(value));
      else if (value !== null && typeof value === "object") for (const inner of Object.values(value)) walk(inner, depth + 1);
    };
    walk(one, 0);
    return found;
  };
  const theirs = new Set(others.flatMap((one) => [...texts(one)]));
  return [...texts(object)].filter((text) => !theirs.has(text));
}

/** Pairs of objects of one kind with different owners. */
function pairsOf(objects) {
  const all = [...objects].filter((one) => String(one.id) !== String(one.owner)); // a user is nobody's object
  const pairs = [];
  const alike = (a, b) => Object.keys(a.object)[0] === Object.keys(b.object)[0];
  for (const mine of all) {
    const theirs = all.find((one) => one.by === mine.by && one.owner !== mine.owner && one.id !== mine.id && alike(one, mine));
    if (theirs && !pairs.some(([a]) => a.by === mine.by && a.owner === mine.owner && alike(a, mine))) pairs.push([mine, theirs]);
  }
  return pairs.slice(0, PAIRS);
}

export async function access(kit) {
  const { asked, tools, bounded } = kit;
  const places = asked.flatMap(([route, ways]) => ways[0].known.filter(([, name]) => NAMED.test(name)).map(([source, name]) => ({ route, ways, source, name })));
  now.collect = true;
  for (const { route, ways } of places) await quietly(() => bounded(route.send(ask(route, ways[0].known, ways[0].values, tools))));
  for (const { route, ways } of places) for (const way of ways) await quietly(() => bounded(route.send(ask(route, way.known, way.values, tools))));
  rowsOfDatabases(preparing());
  now.collect = false;
  const saved = tools.users.map((user) => ({ ...user }));
  for (const [mine, theirs] of pairsOf(now.objects.values())) {
    [mine, theirs].forEach((one, n) => Object.assign(tools.users[n], { id: one.owner, sub: one.owner, [one.by]: one.owner, userId: one.owner, user_id: one.owner, isAdmin: false, admin: false, role: "user" }));
    const others = [...now.objects.values()].filter((one) => one.owner !== theirs.owner).map((one) => one.object);
    const secrets = secretsOf(theirs.object, others).filter((text) => text !== String(theirs.id) && text !== String(theirs.owner));
    const told = [];
    for (const place of places) {
      if (kit.late()) break;
      const one = await compared(place, mine, theirs, secrets, tools, bounded);
      if (one) told.push({ place, ...one });
    }
    const refuses = told.find(({ refused }) => refused);
    for (const { place, leaks, values } of told) {
      if (!leaks || (!refuses && !kit.job.generous && !kit.job.compared)) continue;
      const mark = kit.begin("access");
      const why = refuses ? `${refuses.place.route.entry} refuses it to the same user` : "";
      kit.tell(place.route, "access", mark, [place.source, place.name], String(theirs.id), leaks, `the answer has ${String(theirs.id)} of ${theirs.by} ${theirs.owner}, asked by ${mine.owner}${why ? `; ${why}` : ""}`, { text: why });
      void values;
    }
    saved.forEach((user, n) => {
      for (const name of Object.keys(tools.users[n])) if (!(name in user)) delete tools.users[n][name];
      Object.assign(tools.users[n], user);
    });
  }
}

/** One route asked by both for both objects: what it refuses, and what it gives away. */
async function compared({ route, ways, source, name }, mine, theirs, secrets, tools, bounded) {
  for (const way of ways) {
    const send = async (as, id) => {
      const values = { ...way.values, [source]: { ...way.values[source], [name]: id } };
      return quietly(() => bounded(route.send(ask(route, way.known, values, tools, { as }))));
    };
    const own = await send(0, mine.id);
    if (!(own?.status < 300)) continue;
    const foreign = await send(0, theirs.id);
    const owners = await send(1, theirs.id);
    if (!(owners?.status < 300)) continue;
    if (foreign && [401, 403, 404].includes(foreign.status)) return { refused: true };
    const has = (reply) => secrets.some((text) => reply.body.includes(text) && !own.body.includes(text));
    if (foreign?.status < 300 && has(foreign) && has(owners)) return { leaks: foreign };
    return undefined;
  }
  return undefined;
}
