// Fields that nobody may set for himself: a request that changes or makes an account has a role among its fields, and a
// route that refused that user before lets him in afterwards. Real log-ins only. Trusted.
import { ask, bodyOf, quietly } from "./ways.mjs";

const NAMES = ["role", "roles", "isAdmin", "is_admin", "admin", "isStaff", "permissions", "scope", "plan", "type"];
const ROLE = /\b(?:role|roles|isAdmin|is_admin|admin|isStaff|permissions|scope|userType|accountType)\b/;
/** The payload of a request that has them. */
const PAYLOAD = "fields of a privilege";
const SHUT = [401, 403, 404];
const WAYS = 2;

/** What would make an administrator, by the words that the program itself compares with. */
function privileges(code) {
  const word = /\brole\b[^\n]{0,30}?[=!]==?\s*["'`](\w{3,20})["'`]/.exec(code)?.[1] ?? "admin";
  const fields = { role: word, roles: [word], isAdmin: true, is_admin: true, admin: true, isStaff: true, permissions: [word, "*"], scope: word };
  const named = NAMES.filter((name) => new RegExp(`\\b${name}\\b`).test(code));
  return Object.fromEntries(Object.entries(fields).filter(([name]) => named.includes(name)));
}

export async function raised(kit) {
  const { asked, tools, bounded, late, begin, tell } = kit;
  const signed = tools.users.findIndex((user) => user.signed);
  if (signed < 0 || !ROLE.test(tools.tree.code)) return;
  const more = privileges(tools.tree.code);
  if (!Object.keys(more).length) return;
  const send = (route, way, extra) => quietly(() => bounded(route.send(ask(route, way.known, way.values, tools, { as: signed, ...extra }))));
  /** Routes that refuse a user who is signed in, by somebody else than who asks for a log-in. */
  const shut = [];
  for (const [route, [way]] of asked) {
    if (/^(?:GET|HEAD)\b/.test(route.entry) && (await send(route, way))?.status === 403) shut.push([route, way]);
  }
  if (!shut.length) return;
  for (const [route, ways] of asked) {
    if (/^(?:GET|HEAD|DELETE|OPTIONS)\b/.test(route.entry)) continue;
    for (const way of ways.slice(0, WAYS)) {
      if (late()) return;
      const plain = bodyOf(way.known, way.values, tools);
      // The same without them first: it may be what the route is there for.
      await send(route, way);
      if (await opened(shut, send)) return;
      const mark = begin("access");
      const reply = await send(route, way, { raw: JSON.stringify({ ...plain, ...more }) });
      const let_in = reply?.status < 400 && (await opened(shut, send));
      if (!let_in) continue;
      tell(route, "access", mark, ["body", Object.keys(more)[0]], PAYLOAD, reply, `${let_in.entry} refuses the user with 403 before, and is answered with ${let_in.status} after a request with ${Object.keys(more).join(", ")}`, { text: JSON.stringify(more) });
      return; // the user is an administrator now
    }
  }
}

async function opened(shut, send) {
  for (const [route, way] of shut) {
    const reply = await send(route, way);
    if (reply && reply.status < 300 && !SHUT.includes(reply.status)) return { entry: route.entry, status: reply.status };
  }
  return undefined;
}
