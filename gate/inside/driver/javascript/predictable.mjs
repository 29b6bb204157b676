// Secrets made with Math.random(): a request is sent twice with the generator in one state and twice in another. A word
// that comes again with the state, and not with the other, is made of nothing else: whoever sees a few of its numbers
// knows those that follow. Heard are the answer and what goes out: mails, messages, what is printed. Trusted.
import process from "node:process";
import { now } from "./stands.mjs";
import { treeFrames } from "./sinks.mjs";
import { ask, merged, quietly } from "./ways.mjs";

/** The payload of such a request. */
const AGAIN = "the generator's state again";
/** No longer ones: they may be digests by a key that nobody knows. No later parts of signed tokens. */
const WORD = /(?<![\w.+/=-])[A-Za-z0-9_+/=-]{6,39}(?![\w+/=-])/g;
const SECRET = /token|pass(?:word|wd|phrase|code)|reset|session|auth|csrf|otp|secret|(?:api|access|private)_?key|invit|verif|voucher|coupon|activat|confirm|licen[cs]e|magic|one_?time|recover|unlock|credential/i;
/** Names that say nothing of what they hold. */
const ANY = /^(?:|code|word|phrase|pin|link|url|href|location|text|message|body|html|content|subject|value|data|result|number)$/i;
const MAIL = /mail|login|user|account|name/i;
const LATE = 40; // milliseconds for what is not awaited

/** Generator of a state: the engine's own cannot be set. */
function generator(state) {
  let at = state >>> 0;
  return () => {
    at = (at + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(at ^ (at >>> 15), at | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
}

/** One request in that state: {reply, words (word -> what stands before it), places}. */
async function asked(send, state, moment) {
  const { random } = Math;
  const real = Date.now;
  const { write } = process.stdout;
  const out = [];
  const places = [];
  const draw = generator(state);
  Math.random = () => {
    if (places.length < 3) places.push(...treeFrames());
    return draw();
  };
  Date.now = () => moment;
  now.sent = (text) => out.length < 200 && out.push(String(text).slice(0, 5000));
  process.stdout.write = (text, ...rest) => {
    now.sent?.(text);
    return write.call(process.stdout, text, ...rest);
  };
  let reply;
  try {
    reply = await send();
    Date.now = real;
    await new Promise((end) => setTimeout(end, LATE));
  } finally {
    Math.random = random;
    Date.now = real;
    process.stdout.write = write;
    now.sent = undefined;
  }
  const said = Object.entries(reply?.headers ?? {}).filter(([name]) => /^(?:location|set-cookie)$/i.test(name)).flatMap(([, value]) => value);
  const words = new Map();
  for (const text of [reply?.body ?? "", ...said, ...out]) {
    for (const hit of String(text).matchAll(WORD)) if (!words.has(hit[0])) words.set(hit[0], String(text).slice(Math.max(0, hit.index - 80), hit.index));
  }
  return { reply, words, places };
}

const shared = (a, b, others) => [...a.words.keys()].filter((word) => b.words.has(word) && !others.some((one) => one.words.has(word)));

export async function predictable({ asked: routes, tools, bounded, late, begin, tell }) {
  for (const [route, ways] of routes) {
    if (/^(?:HEAD|OPTIONS)\b/.test(route.entry)) continue;
    for (const way of known(ways, tools)) {
      if (late()) return;
      const send = () => quietly(() => bounded(route.send(ask(route, way.known, way.values, tools))));
      const moment = Date.now();
      const first = await asked(send, 1, moment);
      if (!first.places.length) continue; // nothing of the tree's own draws a number
      const [second, third, fourth] = [await asked(send, 1, moment), await asked(send, 2, moment), await asked(send, 2, moment)];
      const around = `${route.entry} ${first.places.map(([name, file]) => `${name} ${file}`).join(" ")}`;
      const word = shared(first, second, [third, fourth]).find((one) => means(first.words.get(one), around));
      if (!word || !shared(third, fourth, [first, second]).length) continue;
      const [, file, line] = first.places[0];
      tell(route, "predictable", begin("predictable"), ["answer", ""], AGAIN, first.reply ?? { request: route.told({}) }, `${word} comes again with the same state of Math.random(), and not with another`, { at: [file, line], text: `Math.random() made ${word}` });
      break;
    }
  }
}

/** Is that word one that lets somebody in, by what stands before it and by where it is made? */
function means(before, around) {
  const key = /["']([\w-]+)["']\s*:\s*["'`]?[^"'`]*$/.exec(before)?.[1] ?? /([\w-]+)=$/.exec(before)?.[1] ?? "";
  return SECRET.test(key) || (ANY.test(key) && SECRET.test(around));
}

/** The ways to ask, with the names of users who are there in front. */
function* known(ways, tools) {
  const [way] = ways;
  const name = way.known.find(([source, one]) => source === "body" && MAIL.test(one));
  for (const user of name ? tools.users.filter((one) => one.signed).slice(0, 1) : []) {
    yield { ...way, values: merged(way.values, ...name, /mail/i.test(name[1]) ? user.email : user.username) };
  }
  yield* ways.slice(0, 2);
}
