// Requests that a page of another site makes in the browser of a user who is logged in: a POST whose body is plain text
// needs no leave of the server, and a cookie with SameSite=None goes along. That it is not meant is told by the
// application: another of its routes that change something refuses the same origin with 403, and not its own. Trusted.
import { ask, quietly } from "./ways.mjs";

/** The payload of such a request. */
const ELSEWHERE = "a page of another site";
const SHUT = [401, 403];
const TEXT = "text/plain;charset=UTF-8";

/** Where the application's own pages are, as far as its text compares with it; empty where it reads no origin. */
export function ownOrigin(code, environment) {
  if (!/["'`](?:origin|referer)["'`]|\.headers\.(?:origin|referer)\b/i.test(code)) return "";
  const said = /process\.env\.(\w+)\s*(?:\?\?|\|\|)\s*["'`](https?:\/\/[\w.-]+(?::\d+)?)["'`]/g;
  for (const [, name, origin] of code.matchAll(said)) if (/ORIGIN|SITE|URL|HOST|BASE/.test(name)) return environment[name] ?? origin;
  return /\borigins?\b[^;\n]{0,80}?["'`](https?:\/\/[\w.-]+(?::\d+)?)["'`]/i.exec(code)?.[1] ?? "http://localhost";
}

export async function crossSite({ asked, helpers, tools, bounded, late, begin, tell }) {
  const users = tools.users.flatMap((user, n) => (user.signed && user.travels ? [n] : [])).reverse(); // who made less
  if (!users.length) return;
  const none = Object.fromEntries(["authorization", ...(tools.credentials ?? [])].map((name) => [name, null]));
  const send = (route, way, as, headers) => quietly(() => bounded(route.send(ask(route, way.known, way.values, tools, { as, headers: { ...none, ...headers } }))));
  const foreign = (word) => ({ origin: `https://${word}.example`, referer: `https://${word}.example/`, "sec-fetch-site": "cross-site" });
  const changes = [...asked, ...helpers].filter(([route]) => /^(?:POST|PUT|PATCH|DELETE)\b/.test(route.entry));
  /** A route that lets in its own pages, and not others'. */
  const refuses = async (but, as, word) => {
    for (const [route, ways] of changes) {
      if (route.entry === but.entry) continue;
      const [theirs, own] = [await send(route, ways[0], as, foreign(word)), await send(route, ways[0], as, {})];
      if (theirs?.status === 403 && own && !SHUT.includes(own.status) && own.status < 500) return route;
    }
    return undefined;
  };
  for (const [route, ways] of asked.filter(([one]) => /^POST\b/.test(one.entry))) {
    for (const [as, way] of users.flatMap((user) => ways.map((one) => [user, one]))) {
      if (late()) return;
      const mark = begin("cross-site");
      const reply = await send(route, way, as, { ...foreign(mark.WORD), "content-type": TEXT });
      if (!(reply?.status < 300)) continue;
      const bare = await send(route, way, as, { ...foreign(mark.WORD), "content-type": TEXT, cookie: null });
      if (!SHUT.includes(bare?.status)) break;
      const other = await refuses(route, as, mark.WORD);
      if (!other) return;
      const shown = `the request is answered with ${reply.status} as https://${mark.WORD}.example sends it, with the user's cookie (SameSite=None); ${other.entry} refuses that origin with 403, and not the application's own`;
      tell(route, "cross-site", mark, ["header", "origin"], ELSEWHERE, reply, shown, { text: shown });
      break;
    }
  }
}
