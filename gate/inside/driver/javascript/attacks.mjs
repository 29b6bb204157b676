// Attacks the routes that a module exports: every payload of a weakness, in every field that the code looks up, the
// others harmless. What is told is where a payload went in and what was seen of it here; whether a program of ours was
// executed, a file opened or a connection made is seen by the observer outside (exploit/marks.py lays them out). A
// request goes the whole way, with its log-in and its validation: a handler is never called by itself.
import childProcess from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import process from "node:process";
import { access } from "./access.mjs";
import { cheapen } from "./cheap_hashes.mjs";
import { crossed } from "./crossed.mjs";
import { crossSite, ownOrigin } from "./cross_site.mjs";
import { keep, noteOf } from "./deployed.mjs";
import { keyed } from "./keys.mjs";
import { functions } from "./functions.mjs";
import { listen as listenToMacs } from "./macs.mjs";
import { ledTo, Made, madeBy, paramsOf } from "./made.mjs";
import { unguarded } from "./guards.mjs";
import { markupOf } from "./markup.mjs";
import { hostsIn, originsIn, treeText } from "./names.mjs";
import { behind, SEEN_HERE, STORED, TEXTS } from "./payloads.mjs";
import { added, known } from "./operator.mjs";
import { members } from "./members.mjs";
import { ownTokens } from "./own_tokens.mjs";
import { listenToMade } from "./pattern_uses.mjs";
import { predictable } from "./predictable.mjs";
import { raised } from "./privileges.mjs";
import { prototypes } from "./prototypes.mjs";
import { forget as forgetConditions, operated } from "./queries.mjs";
import { answerOf, applications, routesBeside, routesOf } from "./routes.mjs";
import { behindWord, finders, searched } from "./searched.mjs";
import { held } from "./sinks.mjs";
import { signatures } from "./signatures.mjs";
import { slowPatterns } from "./slow_patterns.mjs";
import { complete } from "./settings.mjs";
import { layOut, now, optionOf, stand, usersOf } from "./stands.mjs";
import { signIn } from "./sign_in.mjs";
import { forget, structured } from "./statements.mjs";
import { tokens } from "./tokens.mjs";
import { uploads } from "./uploads.mjs";
import { ask, chosen, merged, quietly, waysOf } from "./ways.mjs";

const { execFileSync } = childProcess;
const WAYS_SHARE = 0.4; // of the time, at most, for how routes are asked
const HITS = 3; // attempts that are told of one field and weakness
const QUIET = 25; // ... of which nothing was seen here: the trace may know more
const RUNS = new Set(["command", "code"]);
const ADDRESS = /^https?:\/\//i;
const SILENCE = 1000; // milliseconds
const LEAST = 300; // milliseconds of one route for that
const PLAIN = "gatezq";
const FUNCTIONS = "functions"; // the name of a target that is a library (plan/exploit/javascript_targets.py)
const FIRST = 2; // ways of a route that are tried first, with
const LIKELY = 4; // payloads of a weakness
const LATER = 4; // routes that are asked for what another one kept

function markOf(job, number) {
  const word = `${job.seed}x${number}`;
  const [a, b] = [100_003 + number * 7, 700_001 + number * 13];
  return {
    WORD: word,
    PROGRAM: `${job.program}/${word}`,
    DECOY: `${job.outside}/${word}.txt`,
    DROP: `${job.outside}/new/${word}.txt`,
    ...near(job, word),
    HOST: `${word}.example`,
    ADDRESS: `${job.networks[number % job.networks.length]}${1 + (number % 250)}:${job.port + (number % 40_000)}`,
    A: String(a),
    B: String(b),
    PRODUCT: String(a * b),
  };
}

/** The same files, seen from the folder above the tree: short paths, for fields that take no long ones. */
function near(job, word) {
  const folder = path.relative(path.dirname(process.cwd()), job.outside);
  return { NEAR: `${folder}/${word}.txt`, NEW: `${folder}/new/${word}.txt`, NEARER: `${folder}/${word}.txt`.replaceAll("/", "%2f") };
}

/** What stands around the program. Before the module is imported; completes `tools` (tree, users). */
export function prepare(file, tools, classes) {
  tools.tree = treeText(process.cwd());
  keep();
  cheapen(file);
  tools.users = usersOf(tools.tree);
  complete(tools.tree, tools.users);
  tools.origin = ownOrigin(tools.tree.code, process.env);
  stand(file, tools.users, () => answerOf(tools));
  if (classes.includes("token")) listenToMacs();
  if (classes.includes("slow-pattern")) listenToMade();
}

/** `job`: seed, program (folder on PATH), outside (folder of decoys), marks (how many there may be), networks and port
 * (of addresses that are nobody's, exploit/marks.py), classes (weaknesses), until (milliseconds of Date.now), name.
 * `say` tells the driver, `bounded` ends what takes too long. */
export async function attack(space, file, tools, job, say, patient) {
  let word = Date.now();
  const bounded = (promise) => {
    // Whoever waits outside takes a long silence for a loop without an end.
    if (Date.now() - word > SILENCE) {
      say("alive", {});
      word = Date.now();
    }
    return patient(promise);
  };
  let number = 0;
  let made = 0;
  const late = () => Date.now() >= job.until || number >= job.marks;
  const isLibrary = job.name === FUNCTIONS;
  const routes = isLibrary ? [] : await routesOf(space, file, tools, patient);
  const note = tools.program && noteOf(job, tools.program);
  if (note && fs.existsSync(note)) return "asked with another file, 0 attempts";
  const named = { origins: originsIn(tools.tree.code), hosts: hostsIn(tools.tree.code) };
  const begin = (weakness) => {
    const mark = markOf(job, number++);
    made += 1;
    layOut(job, mark, weakness);
    forget();
    forgetConditions();
    now.started.length = 0;
    now.weakness = weakness;
    Object.assign(now, { hit: false, near: false, at: undefined });
    now.marks = [mark.WORD.toLowerCase(), mark.ADDRESS];
    return mark;
  };
  const tell = (route, weakness, mark, field, payload, reply, shown, more = {}) =>
    say("attempt", {
      ...{ mark: mark.WORD, address: mark.ADDRESS, product: mark.PRODUCT, target: job.name, surface: route.entry, via: "http", weakness },
      ...{ field, payload, request: route.letInBy ? { ...reply.request, let_in_by: route.letInBy } : reply.request, application: "", shown, mixed: true, at: now.at ?? ["", 0], text: weakness === "sql" || weakness === "query" ? shown : "", ...more },
    });
  const asked = [];
  if (isLibrary) return `${await functions(space, { tools, bounded, late, begin, tell, job })} attempts${late() ? ", out of time" : ""}`;
  tools.made = new Made();
  const beside = await routesBeside(file, tools);
  tools.users.push(...(await signedIn([...routes, ...beside], tools, bounded, late)));
  now.making = true;
  // What makes objects goes first: the others are asked for those.
  const order = [...routes].sort((a, b) => rankOf(a) - rankOf(b));
  const waysUntil = Date.now() + WAYS_SHARE * (job.until - Date.now());
  const helpers = [];
  for (const route of beside.map(aside)) if (Date.now() < waysUntil) helpers.push([route, await waysOf(route, tools, bounded, () => late() || Date.now() >= waysUntil)]);
  for (const [n, route] of order.entries()) {
    const until = Date.now() + Math.max(LEAST, (2 * (waysUntil - Date.now())) / (order.length - n));
    if (late()) break;
    const one = await chosen(route, tools, bounded);
    asked.push([one, await waysOf(one, tools, bounded, () => late() || Date.now() >= until)]);
  }
  now.making = false;
  const kit = { asked, helpers, tools, bounded, late, begin, tell, job };
  for (const [weakness, act] of [["prototype", prototypes], ["token", tokens], ["token", signatures], ["token", ownTokens], ["access", access], ["access", crossed], ["access", unguarded], ["access", raised], ["access", members], ["predictable", predictable], ["cross-site", crossSite], ["path-write", uploads], ["slow-pattern", slowPatterns]]) {
    if (job.classes.includes(weakness)) await act(kit);
  }
  const quiet = []; // attempts of which nothing was seen here yet
  const texts = job.classes.filter((weakness) => TEXTS[weakness]);
  const state = { quiet, named, texts, proven: new Set(), hits: new Map(), owned: new Set(asked.map(([route]) => route)) };
  // Everything in its likeliest form first, then what is left.
  for (const [ways, payloads] of [[[0, FIRST], [0, LIKELY]], [[0, FIRST], [LIKELY]], [[FIRST], [0]]]) {
    for (const [route, all] of [...asked, ...helpers]) await payloadsIn(kit, state, route, all.slice(...ways), payloads);
  }
  for (const one of quiet.filter(([, weakness, mark]) => ran(mark) || !RUNS.has(weakness)).slice(0, QUIET)) tell(...one);
  if (!late()) for (const [weakness, place, line] of held()) if (texts.includes(weakness)) say("held", { weakness, at: [place, line] });
  if (note && !late()) await quietly(() => fs.writeFileSync(note, ""));
  return routes.length ? `${made} attempts${late() ? ", out of time" : ""}` : "no route leads to it";
}

/** Each payload of each weakness in each field of that route, asked in those ways; `slice` of the payloads alone. */
async function payloadsIn(kit, { texts, named, owned, proven, ...rest }, route, ways, slice) {
  const isOwn = owned.has(route);
  for (const weakness of texts) {
    if (!isOwn && (/^(?:GET|HEAD)\b/.test(route.entry) || !STORED.has(weakness))) continue;
    const payloads = [...TEXTS[weakness], ...behind(named, weakness)].slice(...slice);
    for (const [source, name, way, dress] of ways.flatMap(weakness === "query" ? objectsOf : placesOf)) {
      if (!isOwn && !(await brings(kit, route, way, source, name, dress))) continue;
      const place = `${weakness} ${route.entry} ${source} ${name}`;
      for (const payload of payloads) {
        if (kit.late()) return;
        if (proven.has(place)) break;
        if (await attempt(kit, { ...rest, place, isOwn, most: payloads.length }, { route, way, dress }, weakness, [source, name], payload)) proven.add(place);
      }
    }
  }
}

/** One request with a payload. Gives whether the place needs no other. */
async function attempt(kit, { quiet, hits, place, isOwn, most }, { route, way, dress }, weakness, field, payload) {
  const { tools, bounded, begin, tell } = kit;
  const mark = begin(weakness);
  const sent = payload.replace(/@([A-Z]+)@/g, (all, word) => mark[word] ?? all);
  const how = ask(route, way.known, merged(way.values, ...field, dress(sent)), tools);
  const ready = weakness === "code" ? call(mark) : undefined;
  // What throws behind a payload may have run it.
  const reply = (await quietly(() => bounded(route.send(how)))) ?? { headers: {}, body: "", request: route.told(how) };
  const shown = shows(weakness, reply, mark);
  const acts = shown || acted(weakness, mark);
  const close = now.near && !RUNS.has(weakness) && !SEEN_HERE.has(weakness); // in another program's arguments
  const told = hits.get(place) ?? 0;
  if (isOwn && (acts ? told < HITS : close && told < most)) tell(route, weakness, mark, field, payload, reply, shown);
  else if (isOwn && !acts && !SEEN_HERE.has(weakness)) quiet.push([route, weakness, mark, field, payload, reply, shown]);
  if (acts || close) hits.set(place, told + 1);
  let stored = false;
  if (!acts && STORED.has(weakness) && !/^(?:GET|HEAD)\b/.test(route.entry)) {
    stored = await later(kit, route, way, reply, weakness, mark, field, payload);
    stored = (await found(kit, { route, way, dress }, weakness, mark, field, payload, sent)) || stored;
  }
  ready?.();
  return Boolean(shown || ran(mark) || (stored && SEEN_HERE.has(weakness)));
}

/** Users who can log in: by the application's own routes, with a key that one of them gives, also those whom an operator
 * adds, or with what he gives. */
async function signedIn(routes, tools, bounded, late) {
  const found = await signIn(routes, tools, bounded, late);
  if (found.length) return found;
  const held = await keyed(routes, tools, bounded, late);
  if (held.length) return held;
  const made = await added(tools, applications, bounded, late);
  if (made.length) return made;
  const people = known(tools);
  const there = people.length ? await signIn(routes, tools, bounded, late, people) : [];
  return there.length ? there : signIn(routes, tools, bounded, late);
}

/** A route whose own calls are not the attack's. */
function aside(route) {
  const send = async (how) => {
    now.aside += 1;
    try {
      return await route.send(how);
    } finally {
      now.aside -= 1;
    }
  };
  return { ...route, send };
}

const rankOf = (route) => Number(!/^POST\b/.test(route.entry)) + 2 * Number(/[:{*\[]/.test(route.entry));
/** Has the payload done what it is there for, as far as that is seen here? */
const acted = (weakness, mark) => (RUNS.has(weakness) ? ran(mark) : now.hit && !SEEN_HERE.has(weakness));
const ran = (mark) => fs.existsSync(`${mark.PROGRAM}.ran`);

/** Where a payload goes in a request of that way: [source, name, way, dress]. A value that was found to be accepted
 * stays in front of it, or around it. */
function placesOf(way) {
  const out = [];
  for (const [source, name] of way.known) {
    const value = way.values[source]?.[name];
    if (value === undefined) out.push([source, name, way, (sent) => sent]);
    else if (Array.isArray(value)) out.push([source, name, way, (sent) => [sent]]);
    else if (value !== null && typeof value === "object") out.push([source, name, way, (sent) => ({ gate: sent })]);
    else if (typeof value === "string") {
      out.push([source, name, way, (sent) => value + sent]);
      if (ADDRESS.test(value)) out.push([source, name, way, (sent) => (ADDRESS.test(sent) ? sent : value + sent)]);
    }
  }
  return out;
}

/** The same for an object in the place of a text. */
function objectsOf(way) {
  return way.known.filter(([source]) => source === "body" || source === "query").map(([source, name]) => [source, name, way, (sent) => JSON.parse(sent)]);
}

/** A function of the mark's name, for code that is evaluated here: it runs the program, which the trace sees. */
function call(mark) {
  const act = () => quietly(() => execFileSync(mark.PROGRAM));
  Object.defineProperty(globalThis, mark.WORD, { value: act, configurable: true, enumerable: false });
  return () => delete globalThis[mark.WORD];
}

/** Does a plain text, or an address, of that field arrive at a route of the module? Told once a field. */
async function brings(kit, route, way, source, name, dress) {
  const key = `${source} ${name}`;
  const known = (route.brings ??= new Map());
  for (const text of known.get(key) ? [] : [PLAIN, `http://${PLAIN}.example/`]) {
    Object.assign(now, { word: PLAIN, met: false });
    const reply = await quietly(() => kit.bounded(route.send(ask(route, way.known, merged(way.values, source, name, dress(text)), kit.tools))));
    now.met = false;
    const answers = reply ? await asksLater(kit, route, way, reply) : [];
    if (now.met || answers.some(({ answer }) => answer?.body?.includes(PLAIN))) known.set(key, true);
    now.word = "";
  }
  return known.get(key) ?? false;
}

/** Ask the other routes for what this one may have kept. Gives whether one of them was told. */
async function later(kit, route, way, reply, weakness, mark, field, payload) {
  const acts = (answer) => answer && (shows(weakness, answer, mark) || acted(weakness, mark));
  let told = false;
  for (const { other, answer } of await asksLater(kit, route, way, reply, acts)) {
    if (!acts(answer)) continue;
    kit.tell(other, weakness, mark, field, payload, answer, shows(weakness, answer, mark), { before: [reply.request] });
    told = true;
  }
  return told;
}

/** The same where what is kept is found by a word of it. */
async function found(kit, { route, way, dress }, weakness, mark, field, payload, sent) {
  const [source, name] = field;
  let told = false;
  for (const place of await finders(kit, route, way, source, name, dress)) {
    if (kit.late()) break;
    const kept = await quietly(() => kit.bounded(route.send(ask(route, way.known, merged(way.values, source, name, dress(behindWord(sent))), kit.tools))));
    const answer = kept && (await searched(place, kit));
    const shown = answer && shows(weakness, answer, mark);
    if (!shown && !(answer && acted(weakness, mark))) continue;
    kit.tell(place.other, weakness, mark, field, payload, answer, shown, { before: [kept.request] });
    told = true;
  }
  return told;
}

/** Answers of the module's routes that read, after that request, by what it made: [{other, answer}], until `enough`. */
async function asksLater({ asked, tools, bounded }, route, way, reply, enough = () => false) {
  const found = [];
  const made = madeBy(reply);
  const place = ledTo(reply);
  const others = asked.filter(([one]) => /^GET\b/.test(one.entry) && one !== route).map(([other, ways]) => [other, ways[0], paramsOf(other.entry, place)]);
  // Where a browser is led goes first.
  others.sort((a, b) => Number(a[2] === undefined) - Number(b[2] === undefined));
  for (const [other, there, led] of others.slice(0, LATER)) {
    const names = there.known.filter(([source]) => source === "params").map(([, name]) => name);
    const tries = [...(led ? [led] : []), way.values.params ?? there.values.params ?? {}, ...(made !== undefined && names.length ? [Object.fromEntries(names.map((name) => [name, made]))] : [])];
    for (const params of tries) {
      const answer = await quietly(() => bounded(other.send(ask(other, there.known, { ...there.values, params }, tools))));
      found.push({ other, answer });
      if (enough(answer)) return found.slice(-1);
    }
  }
  return found;
}

/** What an answer shows of a payload that got through; empty where it shows nothing. */
function shows(weakness, { headers, body }, mark) {
  if (weakness === "sql") return structured(mark.WORD);
  if (weakness === "query") return operated(mark.WORD);
  if (weakness === "argument") return optionOf(mark.WORD);
  if (weakness === "template") return body.includes(mark.PRODUCT) ? "the answer has the product of the payload's numbers" : "";
  const said = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), String(value)]));
  if (weakness === "html") {
    const page = /\bhtml\b/.test(said["content-type"] ?? "text/html") && !/attachment/.test(said["content-disposition"] ?? "");
    return page ? markupOf(body, mark.WORD) : "";
  }
  if (weakness === "open-redirect") {
    try {
      const { hostname } = new URL((said.location ?? "").replace(/\\/g, "/"), "http://localhost/");
      return hostname === mark.HOST || hostname.endsWith(`.${mark.HOST}`) || hostname.startsWith(`${mark.WORD}.x`) ? `the answer leads to ${hostname}` : "";
    } catch {
      return "";
    }
  }
  return "";
}
