// Patterns of the program's own that a text of a request makes slow. Nothing of it is timed: the pattern's steps are
// counted (pattern_steps.mjs), the text that really arrives at it is looked at, and it is not run then. Trusted.
import { fitting, slowText, textOf, timesFor } from "./pattern_texts.mjs";
import { heard, listen, ownIn, PLAIN, reached } from "./pattern_uses.mjs";
import { ask, merged, quietly } from "./ways.mjs";

const HARM = 1e9; // steps: about a second
const LENGTHS = { body: [60_000, 20_000, 5_000, 1_000, 300, 100], other: [7_000, 2_000, 500, 100] };
const COUNTED = 3_000_000;
const WAYS = 3;
const STARTS = 40; // texts that a function is given, to see which patterns it leads to
const SIGNS = 8;
const WHOLE = "the whole text"; // of a body that the program does not take apart
const READS_TEXT = /\.text\(\)|\brawBody\b|\b(?:express|bodyParser)\.text\(|\.on\(\s*["']data["']/;

export async function slowPatterns(kit) {
  const { asked, tools, late } = kit;
  const stop = listen(ownIn(tools.tree.code, /[*+}]/));
  try {
    for (const [route, ways] of asked) {
      const told = new Set();
      for (const way of ways.slice(0, WAYS)) {
        for (const [source, name] of [...way.known, ...wholeOf(route, tools)]) {
          if (late()) return;
          if (told.has(name)) continue;
          const value = way.values[source]?.[name];
          if (value !== undefined && typeof value !== "string" && !Array.isArray(value)) continue;
          const dress = Array.isArray(value) ? (text) => [text] : (text) => text;
          const send = (text) => sent(kit, route, way, source, name, dress(text));
          for (const pattern of await reached(send)) {
            const made = slowOf(pattern, late);
            if (made && (await proven(kit, route, [source, name], send, pattern, made))) told.add(name);
          }
        }
      }
    }
  } finally {
    stop();
  }
}

const slow = new Map();
/** What makes that pattern slow; looked for once. */
function slowOf(pattern, late) {
  const key = String(pattern);
  if (slow.has(key)) return slow.get(key);
  const found = slowText(pattern, late);
  if (found || !late()) slow.set(key, found); // else it was cut short
  return found;
}

/** The same for a text that a function of the tree is given: whether one of the tree's patterns is met by it. */
export async function slowIn(kit, route, field, send) {
  const { tools, late } = kit;
  const stop = listen(ownIn(tools.tree.code, /[*+}]/));
  try {
    // What the function's own checks let through: texts that fit the patterns in front, with a word behind them.
    const met = new Map();
    const texts = [PLAIN, ...signsIn(tools.tree.code).map((sign) => sign + PLAIN)];
    for (let n = 0; n < texts.length && n < STARTS && !late(); n++) {
      for (const pattern of await reached(() => send(texts[n]), () => true)) {
        if (met.has(String(pattern))) continue;
        met.set(String(pattern), pattern);
        for (const fit of fitting(pattern)) texts.push(fit, fit + PLAIN);
      }
    }
    for (const pattern of met.values()) {
      const made = slowOf(pattern, late);
      if (made && (await proven(kit, route, field, send, pattern, made))) break;
    }
    return met.size > 0;
  } finally {
    stop();
  }
}

/** Signs and short words that the text compares beginnings with: `startsWith("#")`, `text[0] === "@"`. */
function signsIn(code) {
  const found = [...code.matchAll(/(?:startsWith\(|\[0\]\s*[=!]==?|charAt\(0\)\s*[=!]==?|includes\(|indexOf\()\s*["'`]([^"'`\\\n]{1,12})["'`]/g)].map(([, text]) => text);
  return [...new Set(found)].slice(0, SIGNS);
}

function wholeOf(route, tools) {
  return !/^(?:GET|HEAD|DELETE)\b/.test(route.entry) && READS_TEXT.test(tools.tree.code) ? [["body", WHOLE]] : [];
}

async function sent({ bounded, tools }, route, way, source, name, value) {
  if (name === WHOLE) {
    const how = ask(route, way.known, way.values, tools, { raw: value, headers: { "content-type": "text/plain" } });
    return quietly(() => bounded(route.send(how)));
  }
  return quietly(() => bounded(route.send(ask(route, way.known, merged(way.values, source, name, value), tools))));
}

/** The text that arrives at the pattern, of one that was sent; nothing is run with it. */
async function arrives(send, pattern, text, least) {
  let arrived;
  const hear = (one, given) => {
    if (String(one) !== String(pattern) || given.length < least) return false;
    if (arrived === undefined || given.length > arrived.length) arrived = given;
    return true;
  };
  const reply = await heard(hear, () => send(text));
  return [arrived, reply];
}

async function proven({ begin, tell, late }, route, [source, name], send, pattern, slow) {
  const explodes = slow.exponent >= 6;
  const enough = timesFor(slow, HARM);
  const needed = textOf(slow.text, enough).length;
  const lengths = explodes ? [needed] : LENGTHS[source === "body" ? "body" : "other"].filter((length) => length >= needed);
  for (const length of lengths) {
    if (late()) return false;
    const times = explodes ? enough : Math.floor((length - slow.text.before.length - slow.text.after.length) / slow.text.part.length);
    const text = textOf(slow.text, times);
    const [arrived, reply] = await arrives(send, pattern, text, Math.min(needed, text.length) * 0.9);
    if (arrived === undefined) continue;
    // Two smaller ones arrive, too, and are counted as they arrive.
    const counts = [];
    for (const size of [slow.times, Math.max(slow.times + 1, explodes ? slow.times + 2 : Math.floor(slow.times * 1.4))]) {
      const [one] = await arrives(send, pattern, textOf(slow.text, size), 2);
      counts.push([one?.length ?? 0, one === undefined ? 0 : slow.program.steps(one, COUNTED)]);
    }
    const [[shorter, few], [longer, more]] = counts;
    if (!(few > 0 && longer > shorter) || Math.log(more / few) / Math.log(longer / shorter) < 1.6) continue;
    const payload = `${JSON.stringify(slow.text.before + slow.text.part)} x ${times} ${JSON.stringify(slow.text.after)}`;
    const mark = begin("slow-pattern");
    const shown = `${shorter} and ${longer} characters take ${few} and ${more} steps, ${arrived.length} as many as a second has and more`;
    tell(route, "slow-pattern", mark, [source, name], payload, reply ?? { request: route.told({ values: {} }) }, shown, { text: `${String(pattern).slice(0, 300)} given ${payload}`.slice(0, 800) });
    return true;
  }
  return false;
}
