// Signs two users up and in by the application's own routes, where their names say what they are. The token or the
// cookies that it gives are sent where they lead farther than what stands in for a log-in. Trusted.
import { identifierOf } from "./made.mjs";
import { PASSWORD } from "./settings.mjs";
import { ask, learn, quietly } from "./ways.mjs";

const UP = /\/(?:sign-?up|join|enrol+|register|registration|users?|accounts?|customers?|members?)\/?$/i;
const IN = /\/(?:log-?in|sign-?in|sessions?|auth(?:enticate)?|tokens?)\/?$/i;
const TOKEN = /^(?:token|jwt|bearer|session(?:id|token)?|sid|key|apikey|(?:access|auth|id)_?token)$/i;
const WHO = /^(?:user_?name|name|login|user|nick\w*|handle|account|display_?name|full_?name|first_?name|last_?name)$/i;
const MAIL = /mail/i;
const WORD = /pass(?:word|phrase|wd)?|phrase|pwd|secret/i;

/** Users who are signed in, {credential, cookies, signed, ...}: none where no route of the application does that.
 * `people`: who they are, those of the attack or those whom the program knows, with their `password`. */
export async function signIn(routes, tools, bounded, late, people = tools.users) {
  const posts = routes.filter((route) => /^POST\b/.test(route.entry));
  const ups = posts.filter((route) => UP.test(route.entry)).sort((a, b) => named(b) - named(a));
  const ins = posts.filter((route) => IN.test(route.entry));
  if (!ins.length && !ups.length) return [];
  const fields = new Map();
  const found = [];
  for (const one of people.slice(0, 2)) {
    let got;
    let user = one;
    const steps = [...ups.slice(0, 2), ...ins.slice(0, 2)];
    // A name may be taken, by what the routes were asked with before: then another one signs up.
    for (const route of ups.length && people === tools.users ? [...steps, undefined, ...steps] : steps) {
      if (late()) return found;
      if (route === undefined) {
        if (got?.credential || got?.cookies) break;
        user = renamed(one);
        continue;
      }
      if (!fields.has(route)) fields.set(route, await learn(route, tools, bounded));
      const body = Object.fromEntries(fields.get(route).filter(([source]) => source === "body").map(([, name]) => [name, valueOf(name, user, tools)]));
      const how = ask(route, [], { body }, tools, { bare: true });
      const reply = await quietly(() => bounded(route.send(how)));
      if (!(reply?.status < 400)) continue;
      const more = credentialsIn(reply);
      if (more.credential || more.cookies) got = { ...got, ...more };
      const id = identifierOf(reply.body);
      if (id !== undefined) got = { ...got, made: id };
    }
    const { password: _, ...known } = user;
    if (got?.credential || got?.cookies) found.push({ ...known, credential: "none", ...got, id: got.made ?? user.id, signed: true });
  }
  return found;
}

const renamed = (user) => ({ ...user, username: `${user.username}two`, name: `${user.username}two`, email: `two${user.email}` });
const named = (route) => Number(/sign-?up|register/i.test(route.entry));

/** What a field of an account holds, by its name. */
export function valueOf(name, user, tools) {
  const last = name.split(".").at(-1);
  if (WORD.test(last)) return user.password ?? PASSWORD;
  if (MAIL.test(last)) return user.email;
  if (WHO.test(last)) return user.username;
  const value = tools.value(last);
  return typeof value === "function" ? "gate" : value;
}

/** What an answer gives to be sent again: a token by its field's name, cookies. */
export function credentialsIn({ headers = {}, body }, names = TOKEN) {
  const out = {};
  const set = Object.entries(headers).filter(([name]) => name.toLowerCase() === "set-cookie").flatMap(([, value]) => value);
  const pairs = set.map((text) => String(text).split(";")[0].split(/=(.*)/s).slice(0, 2)).filter(([, value]) => value);
  if (pairs.length) out.cookies = Object.fromEntries(pairs.map(([name, value]) => [name, decoded(value)]));
  if (set.some((text) => /;\s*samesite=none/i.test(String(text)))) out.travels = true; // from other sites, too
  const walk = (value, depth) => {
    if (value === null || typeof value !== "object" || depth > 3) return;
    for (const [name, inner] of Object.entries(value)) {
      if (typeof inner === "string" && inner.length >= 8 && names.test(name)) out.credential ??= inner;
      else walk(inner, depth + 1);
    }
  };
  try {
    walk(JSON.parse(body), 0);
  } catch {
    // no object
  }
  return out;
}

function decoded(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
