// Tokens that the application itself gave out, sent back with a signature by nobody: where the real one is taken and a
// broken one is not, a forged one that is taken says that nobody checks who signed it. Trusted.
import crypto from "node:crypto";
import { ask, merged, quietly } from "./ways.mjs";

const FIELDS = 12; // tried with the real token, of one route
const part = (value) => Buffer.from(JSON.stringify(value)).toString("base64url");

/** The token's own claims with signatures that nobody made, as [what, token]. */
function forgeriesOf(token) {
  const [head, claims] = token.split(".");
  const told = { ...read(head), alg: "HS256" };
  const text = `${part(told)}.${claims}`;
  const drawn = crypto.createHmac("sha256", crypto.randomBytes(32)).update(text).digest("base64url");
  return [["a key that was drawn", `${text}.${drawn}`], ["alg: none", `${part({ ...told, alg: "none" })}.${claims}.`]];
}

function read(text) {
  try {
    return JSON.parse(Buffer.from(text, "base64url").toString());
  } catch {
    return {};
  }
}

/** Where a token may stand in a request of that route: [[source, name], how to send it]. */
function placesOf(route, way, tools) {
  const fields = way.known.filter(([source]) => source !== "headers").slice(0, FIELDS).map(([source, name]) => {
    return [[source, name], (token) => ask(route, way.known, merged(way.values, source, name, token), tools)];
  });
  const headers = [...new Set(route.headers.filter((name) => /auth|token|jwt/.test(name)))].map((name) => {
    const send = (token) => ask(route, way.known, way.values, tools, { bare: true, headers: { authorization: null, [name]: name === "authorization" ? `Bearer ${token}` : token } });
    return [["header", name], send];
  });
  return [...fields, ...headers];
}

export async function ownTokens({ asked, tools, bounded, late, begin, tell }) {
  const same = (a, b) => a?.status === b?.status && a.body === b.body;
  for (const [route, ways] of asked) {
    for (const token of tools.made.tokens) {
      for (const [field, how] of placesOf(route, ways[0], tools)) {
        if (late()) return;
        const send = (value) => quietly(() => bounded(route.send(how(value))));
        const real = await send(token);
        if (!(real?.status < 300)) continue;
        const broken = [await send("gate.gate.gate"), await send("gate"), await send(token.replace(/[\w-]/g, "x"))]; // the last one as long
        if (!broken.every((one) => one?.status >= 300)) continue;
        for (const [what, forged] of forgeriesOf(token)) {
          const mark = begin("token");
          const reply = await send(forged);
          if (!(reply?.status < 300) || !(same(reply, real) || field[0] !== "header")) continue;
          tell(route, "token", mark, field, what, reply, `the request is answered with ${broken[0]?.status ?? "a fault"} where the token is broken, and with ${reply.status} where its own claims are signed by ${what}`);
          break;
        }
      }
    }
  }
}
