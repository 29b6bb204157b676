// Objects that two users who have signed in make for themselves, asked for by the other one: as in access.mjs, it counts
// only where another route of the application refuses the same object to the same user. Trusted.
import { identifierOf } from "./made.mjs";
import { ask, bodyOf, quietly } from "./ways.mjs";

const KINDS = 6;
const SHUT = [401, 403, 404];

/** A path's fixed beginning: `/notes` of `/notes/:id/export`. */
const beginning = (entry) => (entry.split(" ")[1] ?? "").split(/\/[:{*]/)[0].replace(/\/$/, "");

export async function crossed(kit) {
  const { asked, tools, bounded, late, begin, tell } = kit;
  const users = tools.users.flatMap((user, n) => (user.signed ? [n] : [])).slice(0, 2);
  if (users.length < 2) return;
  const makers = asked.filter(([route]) => /^POST\b/.test(route.entry) && beginning(route.entry) === (route.entry.split(" ")[1] ?? "").replace(/\/$/, ""));
  for (const [maker, ways] of makers.slice(0, KINDS)) {
    const places = asked.filter(([route]) => /^GET\b/.test(route.entry) && /[:{]\w/.test(route.entry) && beginning(route.entry) === beginning(maker.entry));
    if (places.length < 2) continue;
    for (const way of ways) {
      if (late()) return;
      const secret = `gate-${begin("access").WORD}`;
      const id = await madeBy(maker, way, users[0], secret, tools, bounded);
      if (id === undefined) continue;
      const told = [];
      for (const [route, [there]] of places) {
        const names = there.known.filter(([source]) => source === "params").map(([, name]) => name);
        if (names.length !== 1) continue;
        const send = (as) => quietly(() => bounded(route.send(ask(route, there.known, { ...there.values, params: { [names[0]]: id } }, tools, { as }))));
        const [own, foreign] = [await send(users[0]), await send(users[1])];
        if (!(own?.status < 300) || !own.body.includes(secret)) continue;
        if (SHUT.includes(foreign?.status)) told.push({ route, refused: true });
        else if (foreign?.status < 300 && foreign.body.includes(secret)) told.push({ route, name: names[0], leaks: foreign });
      }
      const refuses = told.find(({ refused }) => refused);
      for (const { route, name, leaks } of told) {
        if (!leaks || !(refuses || kit.job.generous || kit.job.compared)) continue;
        const why = refuses ? `${refuses.route.entry} refuses it to the same user` : "";
        tell(route, "access", begin("access"), ["params", name], String(id), leaks, `the answer has what another user put into ${maker.entry}${why ? `; ${why}` : ""}`, { text: why });
      }
      if (told.length) break;
    }
  }
}

/** The identifier of an object that the user makes, the secret in its texts; undefined where none is made. */
async function madeBy(maker, way, as, secret, tools, bounded) {
  const body = bodyOf(way.known, way.values, tools);
  for (const name of Object.keys(body)) if (typeof body[name] === "string" && !(name in (way.values.body ?? {}))) body[name] = secret;
  const reply = await quietly(() => bounded(maker.send(ask(maker, way.known, way.values, tools, { as, raw: JSON.stringify(body) }))));
  return reply?.status < 300 ? identifierOf(reply.body) : undefined;
}
