// Checks of a signature that let in more than the right one: an empty one, none, its beginning, another length, or one
// by an empty key. That a field is checked is seen by what happens: the signature that the code itself computes is let
// in, and one of the same length that is wrong is not. Trusted.
import { computed } from "./macs.mjs";
import { ask, merged, quietly } from "./ways.mjs";

const ENCODINGS = ["hex", "base64url", "base64"];
const FORMS = ["", "sha256=", "v1=", "v1,", "sha1="];
const SHORTEST = 12; // characters of a signature that is cut by the program itself
const COMPUTED = 3;
const GUESS = "0f".repeat(32);
const TIME = /time|stamp|date$/i;
const SIGNED = /sig|mac|token|hash|digest|key|code|auth|check|proof|seal/i;
const SHARE = 0.2; // of the time that is left, at most

const swapped = (text) => text.replace(/[0-9a-zA-Z]/g, (c) => (/[0-9]/.test(c) ? String((Number(c) + 1) % 10) : /[a-f]/i.test(c) ? String.fromCharCode(c.charCodeAt(0) ^ (/[cdefCDEF]/.test(c) ? 7 : 3)) : c));
/** Of the same length, and wrong: changed throughout, the smallest, the largest. */
const wrongOf = (text) => [swapped(text), text.replace(/\w/g, "0"), text.replace(/[\w]/g, /^[0-9a-f]+$/.test(text) ? "f" : "z")].filter((one) => one !== text);

/** Outcomes are {in, key, rough}: whether somebody was let in, and what tells outcomes apart, also where each is another
 * one (a number that counts, a random text); undefined where nobody knows. */
const same = (a, b, by = "key") => Boolean(a?.in && b?.in && a[by] === b[by]);

/** An answer that was let in says what was done, too: "ignored" is not "done", and a page to log in is not one's own. */
export function keysOf({ status, headers, body }) {
  const first = `${status} ${String(headers?.location ?? "").replace(/\d+/g, "0")}`;
  const said = String(body ?? "").slice(0, 4000);
  const key = `${first} ${said.replace(/[0-9a-f]{8,}(?:-[0-9a-f]{4,})*/gi, "h").replace(/\d+/g, "0")}`;
  const names = [...said.matchAll(/"([\w-]{1,40})"\s*:\s*(true|false|null)?/g)].map(([, name, word]) => `${name}=${word ?? ""}`);
  return { key, rough: `${first} ${names.join(" ")}` };
}

/** The signature that is let in, as {right, text, form, empty, wrong}; undefined where none is. `send(value)` gives an
 * outcome. */
export async function rightOne(send, late, cut) {
  computed.length = 0;
  await send(GUESS);
  const made = computed.slice(0, COMPUTED);
  for (const { raw, empty } of made) {
    for (const encoding of ENCODINGS) {
      const whole = raw.toString(encoding);
      for (const form of FORMS) {
        if (late()) return undefined;
        const found = await checked(send, form, whole);
        if (found) return { ...found, empty };
      }
      for (let length = cut ? whole.length - 1 : 0; length >= SHORTEST; length--) {
        if (late()) return undefined;
        const found = await checked(send, "", whole.slice(0, length));
        if (found) return { ...found, empty };
      }
    }
  }
  return undefined;
}

async function checked(send, form, text) {
  const outcome = await send(form + text);
  if (!outcome?.in) return undefined;
  const wrong = [];
  for (const one of wrongOf(text)) wrong.push([one, await send(form + one)]);
  const refused = wrong.find(([, said]) => said && !said.in);
  return refused && { outcome, form, text, refused, passes: wrong.find(([, said]) => same(said, outcome)) };
}

/** What else is let in where the right signature is: {payload, shown, reply}; undefined where nothing is. `keyless`: also
 * one by an empty key; `absent`: it may be left out; `cut`: the right one may be a part of what is computed. */
export async function alsoIn(send, { late, keyless = false, absent = false, cut = true }) {
  const right = await rightOne(send, late, cut);
  if (!right) return undefined;
  const { form, text, outcome, refused } = right;
  const by = outcome.rough === undefined || same(await send(form + text), outcome) ? "key" : "rough";
  const tries = [...(absent ? [["no signature", null]] : []), ["an empty signature", ""], ["an empty signature", form], ["its first two characters", form + text.slice(0, 2)], ["one of another length", `${form}gate`]];
  if (right.passes) tries.unshift(["another of the same length", form + right.passes[0]]);
  for (const [what, value] of tries) {
    const said = await send(value);
    if (!same(said, outcome, by)) continue;
    const again = await send(form + refused[0]);
    if (again?.in !== false) continue;
    return { payload: what, reply: said.reply, shown: `${what} is taken as the right one is, and a wrong one of the same length is not` };
  }
  if (keyless && right.empty) return { payload: "a signature by an empty key", reply: outcome.reply, shown: "a signature by an empty key is taken, and a wrong one is not" };
  return undefined;
}

/** Fields of a request where a signature may stand. */
function fieldsOf(route, way) {
  const heads = [...new Set(route.headers)].filter((name) => name !== "authorization" && !TIME.test(name)).map((name) => ["header", name]);
  const all = [...heads, ...way.known.filter(([source]) => source === "query" || source === "body" || source === "params")];
  return all.sort((a, b) => Number(SIGNED.test(b[1])) - Number(SIGNED.test(a[1])));
}

export async function signatures(kit) {
  const until = Date.now() + SHARE * (kit.job.until - Date.now());
  const late = () => kit.late() || Date.now() >= until;
  for (const [route, ways] of kit.asked) {
    let found = false;
    for (const way of ways) {
      if (late()) return;
      const now = Object.fromEntries(route.headers.filter((name) => TIME.test(name)).map((name) => [name, String(Math.floor(Date.now() / 1000))]));
      computed.length = 0;
      const plain = await quietly(() => kit.bounded(route.send(ask(route, way.known, way.values, kit.tools, { headers: now }))));
      if (!computed.length || !plain) continue;
      for (const [source, name] of fieldsOf(route, way)) {
        const send = async (value) => {
          const headers = source === "header" ? { ...now, [name]: value } : now;
          const values = source === "header" ? way.values : merged(way.values, source, name, value);
          const reply = await quietly(() => kit.bounded(route.send(ask(route, way.known, values, kit.tools, { headers }))));
          return reply && { in: reply.status < 400, ...keysOf(reply), reply };
        };
        const mark = kit.begin("token");
        const hole = await alsoIn(send, { late, keyless: true, absent: source === "header", cut: SIGNED.test(name) });
        if (!hole) continue;
        kit.tell(route, "token", mark, [source, name], hole.payload, hole.reply, hole.shown);
        found = true;
        break;
      }
      if (found) break;
    }
  }
}
