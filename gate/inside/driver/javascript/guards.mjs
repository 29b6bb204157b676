// Routes that stand in front of the guard of their own path: whoever is not logged in is let in there, and refused by the
// guard everywhere behind it. Only below paths that are nobody's but the staff's: in front of others, what is public
// stands on purpose. Nothing stands in for a log-in. Trusted.
import { now } from "./stands.mjs";
import { ask, quietly } from "./ways.mjs";

/** The payload of a request that is sent without a log-in. */
const NONE = "no log-in";
const SHUT = /(?:^|\/)(?:admin\w*|internal|manage(?:ment)?|staff|back-?office|moderat\w+|private|console)(?:\/|$)/i;
const OPEN = /log-?in|log-?out|sign-?(?:in|up|out)|auth|oauth|sso|health|ping|status|version|public|asset|static|callback|reset|forgot|register|setup|invit|webhook|docs|favicon/i;

const prefixOf = (path) => String(path).replace(/\/?\*?$/, "");
const below = (path, prefix) => path === prefix || path.startsWith(`${prefix}/`);
const pathOf = (route) => route.entry.split(" ")[1] ?? "";

/** `guards` of a route: [{path, at}] of its application, in the order in which they were registered; `at` its own. */
export async function unguarded({ asked, tools, bounded, late, begin, tell }) {
  now.bare = true;
  try {
    for (const [route, ways] of asked) {
      const path = pathOf(route);
      for (const guard of route.guards ?? []) {
        const prefix = prefixOf(guard.path);
        if (late()) return;
        if (!SHUT.test(prefix) || OPEN.test(path) || guard.at < route.at || !below(path, prefix)) continue;
        if (route.guards.some((one) => one.at < route.at && prefixOf(one.path) && below(path, prefixOf(one.path)))) continue;
        const bare = (one, [way]) => quietly(() => bounded(one.send(ask(one, way.known, way.values, tools, { headers: { authorization: null, cookie: null }, bare: true }))));
        const behind = asked.find(([other]) => other.guards === route.guards && other.at > guard.at && below(pathOf(other), prefix));
        const refused = behind && (await bare(...behind));
        const reply = await bare(route, ways);
        if (!(reply?.status < 300) || !(refused?.status === 401 || refused?.status === 403)) continue;
        const shown = `the request is answered with ${reply.status} without a log-in, ${behind[0].entry} behind the guard of ${guard.path} with ${refused.status}`;
        tell(route, "access", begin("access"), ["header", "authorization"], NONE, reply, shown, { text: shown });
        break;
      }
    }
  } finally {
    now.bare = false;
  }
}
