// Prototype pollution: bodies whose own keys are `__proto__` or lead through `constructor.prototype`, as a parser of JSON
// makes them, and fields that name a key. What is seen: every object has the mark afterwards. Trusted.
import { ask, bodyOf, quietly } from "./ways.mjs";

const before = new Set(Reflect.ownKeys(Object.prototype));

/** Names that every object has newly; they are taken away again. */
export function polluted(word) {
  const news = Reflect.ownKeys(Object.prototype).filter((name) => !before.has(name));
  const found = news.some((name) => name === word || Object.prototype[name] === word);
  const fresh = {};
  const met = found && (word in fresh || news.some((name) => fresh[name] === word));
  for (const name of news) delete Object.prototype[name];
  return met;
}

/** Texts of bodies, and the field that each is about. */
function* bodies(known, values, tools, word) {
  const plain = bodyOf(known, values, tools);
  const inner = [`"__proto__":{"${word}":"${word}"}`, `"constructor":{"prototype":{"${word}":"${word}"}}`];
  const text = (body) => JSON.stringify(body).slice(1, -1);
  for (const one of inner) {
    yield [`{${one}}`, "", `{${one}}`];
    if (text(plain)) yield [`{${text(plain)},${one}}`, "", `{${one}}`];
    yield [`[{${one}}]`, "", `[{${one}}]`];
  }
  for (const name of Object.keys(plain)) {
    const { [name]: _, ...others } = plain;
    const rest = text(others) ? `${text(others)},` : "";
    for (const one of inner) {
      yield [`{${rest}${JSON.stringify(name)}:{${one}}}`, name, `{${one}}`];
      yield [`{${rest}${JSON.stringify(name)}:{"gate":{${one}}}}`, name, `{"gate":{${one}}}`];
    }
    for (const way of [`__proto__.${word}`, `constructor.prototype.${word}`, `__proto__[${word}]`]) {
      yield [JSON.stringify({ ...plain, [name]: way }), name, way];
      yield [`{${rest}${JSON.stringify(name)}:{${JSON.stringify(way)}:"${word}"}}`, name, `{"${way}":"${word}"}`];
    }
    for (const other of Object.keys(plain)) {
      if (other !== name) yield [JSON.stringify({ ...plain, [name]: "__proto__", [other]: word }), name, "__proto__"];
    }
  }
  for (const way of [`__proto__.${word}`, `constructor.prototype.${word}`]) yield [JSON.stringify({ ...plain, [way]: word }), "", way];
}

/** What a function of a library may be given as a path or as an object: paths as texts and lists, and parsed documents. */
export const leading = (word) => [
  `__proto__.${word}`,
  `constructor.prototype.${word}`,
  ["__proto__", word],
  ["constructor", "prototype", word],
  JSON.parse(`{"__proto__":{"${word}":"${word}"}}`),
  { constructor: { prototype: { [word]: word } } },
  { [`__proto__.${word}`]: word },
  { [`constructor.prototype.${word}`]: word },
];

const PARAMS = 3;

export async function prototypes({ asked, tools, bounded, late, begin, tell }) {
  for (const [route, ways] of asked) {
    if (/^(?:GET|HEAD)\b/.test(route.entry)) continue;
    let done = false;
    for (const way of ways.slice(0, 2)) {
      const mark = begin("prototype");
      for (const [raw, name, payload] of bodies(way.known, way.values, tools, mark.WORD)) {
        if (done || late()) break;
        const how = ask(route, way.known, way.values, tools, { raw });
        const reply = (await quietly(() => bounded(route.send(how)))) ?? { request: route.told(how) };
        if (!polluted(mark.WORD)) continue;
        tell(route, "prototype", mark, ["body", name], payload, reply, `every object of the process has ${mark.WORD} afterwards`);
        done = true;
      }
      // A part of the path, or of the query, that names the key.
      const names = way.known.filter(([source]) => source !== "body" && source !== "cookies").slice(0, PARAMS);
      for (const [source, name] of names) {
        if (done || late()) break;
        for (const key of way.known.map(([, other]) => other)) {
          const values = { ...way.values, [source]: { ...way.values[source], [name]: "__proto__" } };
          const body = { ...bodyOf(way.known, way.values, tools), [key.split(".")[0]]: mark.WORD, [mark.WORD]: mark.WORD };
          const how = ask(route, way.known, values, tools, { raw: JSON.stringify(body) });
          const reply = (await quietly(() => bounded(route.send(how)))) ?? { request: route.told(how) };
          if (!polluted(mark.WORD)) continue;
          tell(route, "prototype", mark, [source, name], "__proto__", reply, `every object of the process has ${mark.WORD} afterwards`);
          done = true;
          break;
        }
      }
    }
  }
}
