// Requests without the signature or the token that they should have, and with tokens that nobody signed: let in where a
// wrong one is refused. No key is needed to see that. Nothing stands in for a log-in here. Trusted.
import crypto from "node:crypto";
import { computed } from "./macs.mjs";
import { keysOf, rightOne } from "./signatures.mjs";
import { now } from "./stands.mjs";
import { ask, quietly } from "./ways.mjs";

/** The payload of a request that is sent without the signature that it should have. */
const NONE = "no signature";
const SIGNED = /sig|hmac|digest|hash/;
const SECRET = /token|key|secret|auth/;
const zeros = (n) => "0".repeat(n);
const WRONG = [zeros(64), `sha256=${zeros(64)}`, zeros(40), `sha1=${zeros(40)}`, Buffer.alloc(32).toString("base64"), `t=1700000000,v1=${zeros(64)}`, "gate"];
const refused = (reply) => reply !== undefined && reply.status >= 400 && reply.status < 500 && reply.status !== 404;
const shut = (reply) => reply?.status === 401 || reply?.status === 403 || (refused(reply) && /signature|hmac|token|unauthori[sz]ed|forbidden/i.test(reply.body ?? ""));

export async function tokens(kit) {
  now.bare = true;
  try {
    for (const [route, ways] of kit.asked) {
      if (kit.late()) return;
      await leftOut(kit, route, ways);
      await forged(kit, route, ways);
    }
  } finally {
    now.bare = false;
  }
}

async function send({ tools, bounded }, route, way, headers) {
  const before = now.away;
  const how = ask(route, way.known, way.values, tools, { headers: { authorization: null, ...headers }, bare: true });
  const reply = await quietly(() => bounded(route.send(how)));
  return now.away === before ? reply : undefined; // another service may have been the check
}

async function leftOut(kit, route, ways) {
  const changes = !/^(?:GET|HEAD|OPTIONS)\b/.test(route.entry);
  for (const name of new Set(route.headers)) {
    if (!SIGNED.test(name) && !(changes && SECRET.test(name))) continue;
    for (const way of ways) {
      if (kit.late()) return;
      const mark = kit.begin("token");
      const without = await send(kit, route, way, {});
      if (!(without?.status < 300)) continue;
      const wrong = [];
      computed.length = 0;
      for (const value of name === "authorization" ? ["Bearer gate", "Bearer gate.gate.gate", "gate"] : WRONG) wrong.push(await send(kit, route, way, { [name]: value }));
      const again = await send(kit, route, way, {});
      if (again?.status !== without.status || !wrong.every(refused) || !wrong.some(shut)) continue;
      if (computed.length && (await isOther(kit, route, way, name, without))) continue;
      const shown = `the request is answered with ${without.status} without ${name}, and with ${wrong.find(shut).status} when it is wrong`;
      kit.tell(route, "token", mark, ["header", name], NONE, without, shown);
      break;
    }
  }
}

/** Does the signature that the code itself computes get another answer? Then what is not signed is not taken as signed. */
async function isOther(kit, route, way, name, without) {
  const outcome = async (value) => {
    const reply = await send(kit, route, way, { [name]: value });
    return reply && { in: reply.status < 400, ...keysOf(reply), reply };
  };
  const right = await rightOne(outcome, kit.late, false);
  return right !== undefined && right.outcome.rough !== keysOf(without).rough;
}

const part = (value) => Buffer.from(JSON.stringify(value)).toString("base64url");
/** Tokens that no key of the application signed: [what, token]. */
function tokensOf(user, tree) {
  const { credential, ...rest } = user;
  const claims = { ...rest, userId: rest.id, user_id: rest.id, uid: rest.id, role: "admin", roles: ["admin"], admin: true, isAdmin: true, scope: "admin", iat: 1_700_000_000, exp: 4_000_000_000 };
  const signed = (alg, key) => {
    const text = `${part({ alg, typ: "JWT" })}.${part(claims)}`;
    return key === undefined ? `${text}.` : `${text}.${crypto.createHmac("sha256", key).update(text).digest("base64url")}`;
  };
  const found = [["alg: none", signed("none")], ["alg: None", signed("None")], ["a key that was drawn", signed("HS256", crypto.randomBytes(32))], ["an empty key", signed("HS256", "")]];
  for (const [pem] of `${tree.code}\n${tree.data}`.matchAll(/-----BEGIN (?:RSA )?PUBLIC KEY-----[\s\S]{50,4000}?-----END (?:RSA )?PUBLIC KEY-----\n?/g)) {
    found.push(["the public key as a shared one", signed("HS256", pem)], ["the public key as a shared one", signed("HS256", pem.trim())]);
  }
  found.push(["no signature at all", `${part({ alg: "HS256", typ: "JWT" })}.${part(claims)}.`]);
  found.push(["claims without a signature", part(claims)], ["claims without a signature", Buffer.from(JSON.stringify(claims)).toString("base64")]);
  return found;
}

async function forged(kit, route, ways) {
  const names = route.headers.filter((name) => /auth|token|jwt/.test(name));
  const cookies = ways[0].known.filter(([source, name]) => source === "cookies" && /sess|sid|token|auth|jwt/i.test(name)).map(([, name]) => name);
  const places = [...new Set(names)].map((name) => [["header", name], (token) => ({ [name]: name === "authorization" ? `Bearer ${token}` : token })]);
  places.push(...cookies.map((name) => [["cookies", name], (token) => ({ cookie: `${name}=${token}` })]));
  const way = ways[0];
  for (const [field, put] of places) {
    const without = await send(kit, route, way, { cookie: null });
    if (!(without?.status === 401 || without?.status === 403 || without?.status === 302)) continue;
    const broken = await send(kit, route, way, put("gate.gate.gate"));
    if (broken === undefined || broken.status < 300) continue;
    for (const user of kit.tools.users) {
      for (const [what, token] of tokensOf(user, kit.tools.tree)) {
        if (kit.late()) return;
        const mark = kit.begin("token");
        const reply = await send(kit, route, way, put(token));
        if (!(reply?.status < 300)) continue;
        kit.tell(route, "token", mark, field, what, reply, `the request is answered with ${without.status} without a token, and with ${reply.status} with one by ${what}`);
        return;
      }
    }
  }
}
