// Objects of unknown kind at a path: every part of one stands at a path of its own. What the code does with one says
// what it wants there (a text, a number, a list, a moment), and the next call has that. Trusted.
import { Buffer } from "node:buffer";
import { now, numberOf, quietly, wordOf } from "./world.mjs";

const TEXT = new Set("toLowerCase toUpperCase toLocaleLowerCase toLocaleUpperCase trim trimStart trimEnd startsWith endsWith split replace replaceAll charAt charCodeAt codePointAt padStart padEnd normalize localeCompare match matchAll search substring substr repeat".split(" "));
const LIST = new Set("some every find filter map forEach reduce findIndex flatMap findLast join push pop shift unshift sort reverse".split(" "));
const MOMENT = /^(?:getTime|toISOString|getFullYear|getMonth|getDate|getDay|getHours|getMinutes|getSeconds|getUTC\w+|toUTCString|getTimezoneOffset)$/;
const EITHER = new Set(["includes", "indexOf", "lastIndexOf", "slice", "length", "concat", "at"]);
const MANY = /(?:[^s]s|list|array|set|all)$/i;
const COUNTED = /(?:^|_)(?:count|exp|iat|nbf|age|time|ttl|limit|max|min|size|amount|balance|attempts?|until|since|number|total|level|port|year|seconds|ms|now|date|deadline|timestamp|expir\w*|at)$/;
const isCounted = (word) => COUNTED.test(word.replace(/([a-z0-9])([A-Z])/g, "$1_$2").toLowerCase());
const things = new WeakMap();

export const isThing = (value) => typeof value === "function" && things.has(value);
export const placeOf = (value) => things.get(value)?.path;
const name = (path) => path.slice(path.lastIndexOf(".") + 1).replace(/\(.*\)$/, "");

/** How a key or an argument is told in a path. */
export function shown(value) {
  if (isThing(value)) return placeOf(value) || "...";
  if (["string", "number"].includes(typeof value)) {
    for (const [path, one] of now.world?.values ?? []) if (one === value) return path; // also where it is a plain value by now
  }
  if (typeof value === "string") return `'${value.slice(0, 40)}'`;
  return value === null || ["number", "boolean", "undefined"].includes(typeof value) ? String(value) : "...";
}

const HEADERS = /(?:^|\.)headers$/;
const below = (path, key) => (HEADERS.test(path) ? below2(path, key.toLowerCase()) : below2(path, key));
const below2 = (path, key) => (/^[A-Za-z_$][\w$]*$/.test(key) ? (path ? `${path}.${key}` : key) : `${path}['${key}']`).slice(-200);

/** What stands at a path: what the world gives, what the code is known to want, else a thing. */
export function part(world, path, own) {
  world.asked.set(path);
  if (path in world.given) {
    const told = world.given[path];
    if (Array.isArray(told) && told[0] === "many") return Array.from({ length: told[1] }, () => part(world, `${path}[*]`));
    return keepAll(world, path, world.decode(told));
  }
  const shape = world.shapes.get(path);
  if (shape === "list") return [part(world, `${path}[*]`)];
  if (shape && shape !== "object") return world.keep(path, world.plain(path));
  return thing(world, path, own);
}

function keepAll(world, path, value) {
  if (Array.isArray(value)) value.forEach((one) => world.keep(path, one));
  return world.keep(path, value);
}

/** A thing as the plain value that it is taken for. */
export const plainOf = (value, shape = "text") => quietly(() => {
  if (!isThing(value)) return value;
  const { world, path } = things.get(value);
  world.want(path, shape);
  return world.keep(path, shape === "number" ? numberOf(path) : shape === "bytes" ? Buffer.from(wordOf(path)) : world.plain(path));
});

function method(world, path, key) {
  const self = { world, path };
  if (TEXT.has(key)) return (...words) => quietly(() => text(self))[key](...words);
  if (MOMENT.test(key)) {
    return (...words) => quietly(() => {
      world.want(path, "time");
      return world.keep(path, new Date(1000 * (world.now + 3600)))[key](...words);
    });
  }
  if (!LIST.has(key)) return undefined;
  return (...words) => {
    const list = quietly(() => {
      const called = typeof words[0] === "function" && !isThing(words[0]);
      if (!called && key !== "join") return undefined;
      world.want(path, "list");
      return [part(world, `${path}[*]`)];
    });
    return list ? list[key](...words) : quietly(() => part(world, `${path}.${key}(${words.map(shown).join(", ")})`.slice(-200)));
  };
}
function text({ world, path }) {
  world.want(path, "text");
  return world.keep(path, wordOf(path));
}

/** `own`: parts that are there already, such as functions of a request's stand-in. */
export function thing(world, path, own = {}) {
  const put = new Map(Object.entries(own));
  const target = { thing() {} }.thing;
  const self = new Proxy(target, {
    get: (_, key) => quietly(() => read(key)),
    has: (_, key) => quietly(() => {
      const at = below(path, String(key));
      world.asked.set(at);
      return put.has(key) || !(at in world.given && world.given[at] === null);
    }),
    apply: (_, __, words) => quietly(() => {
      const last = name(path);
      const holder = path.slice(0, Math.max(0, path.length - last.length - 1));
      if (last === "get" && words.length === 1 && !isThing(words[0])) return part(world, below(holder, String(words[0])));
      if (last === "header" && words.length === 1) return part(world, below(`${holder}.headers`, String(words[0])));
      return part(world, `${path}(${words.map(shown).join(", ")})`.slice(-200));
    }),
    set: (_, key, value) => quietly(() => Boolean(put.set(key, value))),
    defineProperty: () => true,
    deleteProperty: (_, key) => quietly(() => put.delete(key) || true),
    ownKeys: () => [],
    getOwnPropertyDescriptor: () => undefined,
    getPrototypeOf: () => Object.prototype,
  });
  const read = (key) => {
      if (put.has(key)) return put.get(key);
      if (key === Symbol.toPrimitive) {
        return (hint) => quietly(() => {
          const number = hint === "number" || (hint === "default" && isCounted(name(path)));
          world.want(path, number ? "number" : "text");
          return world.keep(path, number ? numberOf(path) : wordOf(path));
        });
      }
      if (key === Symbol.iterator) {
        return () => quietly(() => {
          world.want(path, "list");
          return [part(world, `${path}[*]`)][Symbol.iterator]();
        });
      }
      if (typeof key === "symbol" || key === "then" || key === "__proto__" || key === "prototype") return undefined;
      if (key === "constructor") return Object;
      if (key === "toString" || key === "valueOf" || key === "toJSON") return () => quietly(() => text({ world, path }));
      if (key === "toFixed") return (n) => plainOf(self, "number").toFixed(n);
      if (EITHER.has(key)) {
        const many = MANY.test(name(path));
        world.want(path, many ? "list" : "text");
        const value = many ? [part(world, `${path}[*]`)] : world.keep(path, wordOf(path));
        return typeof value[key] === "function" ? value[key].bind(value) : value[key];
      }
      if (["call", "apply", "bind"].includes(key)) return Function.prototype[key].bind(self);
      return method(world, path, key) ?? part(world, below(path, key));
  };
  things.set(self, { world, path, put });
  return self;
}
/** What the code itself put into a thing. */
export const putInto = (value) => things.get(value)?.put ?? new Map();

/** What stands in for a module that is not there: its parts are those of the world of the call that runs. */
export function elsewhere(path) {
  const inner = (at) => (now.world ? part(now.world, at) : elsewhere(at));
  return new Proxy(class {}, {
    get(target, key) {
      if (key === "prototype") return target.prototype;
      if (key === Symbol.toPrimitive) return () => wordOf(path);
      if (typeof key === "symbol" || key === "then" || key === "__esModule") return undefined;
      return quietly(() => inner(key === "default" ? path : below(path, key)));
    },
    has: () => true,
    apply: (_, __, words) => quietly(() => inner(`${path}(${words.map(shown).join(", ")})`.slice(-200))),
    construct: (target, words, as) => (as === undefined || as.prototype === target.prototype ? Object(quietly(() => inner(path))) : Reflect.construct(Object, [], as)),
    set: () => true,
  });
}
