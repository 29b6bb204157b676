// Objects of unknown kind at a path: every part of one stands at a path of its own. What the code does with one says
// what it wants there (a text, a number, a list, a moment), and the next call has that. Trusted.
import { Buffer } from "node:buffer";
import { now, numberOf, quietly, wordOf } from "./world.mjs";

const words = (text) => new Set(text.trim().split(/\s+/));
const TEXT = words(`
  toLowerCase toUpperCase toLocaleLowerCase toLocaleUpperCase trim trimStart trimEnd startsWith endsWith split
  replace replaceAll charAt charCodeAt codePointAt padStart padEnd normalize localeCompare match matchAll search
  substring substr repeat`);
const LIST = words(`
  some every find filter map forEach reduce findIndex flatMap findLast join push pop shift unshift sort reverse`);
const MOMENT = /^(?:getTime|to(?:ISO|UTC)String|get(?:UTC)?(?:FullYear|Month|Date|Day|Hours|Minutes|Seconds)|getTimezoneOffset)$/;
const EITHER = new Set(["includes", "indexOf", "lastIndexOf", "slice", "length", "concat", "at"]);
const MANY = /(?:[^s]s|list|array|set|all)$/i;
const COUNTED = new RegExp(
  "(?:^|_)(?:count|exp|iat|nbf|age|time|ttl|limit|max|min|size|amount|balance|attempts?|until|since|number|total" +
    "|level|port|year|seconds|ms|now|date|deadline|timestamp|expir\\w*|at)$",
);
const isCounted = (word) => COUNTED.test(word.replace(/([a-z0-9])([A-Z])/g, "$1_$2").toLowerCase());
const things = new WeakMap();

export const isThing = (value) => typeof value === "function" && things.has(value);
export const placeOf = (value) => things.get(value)?.path;
const name = (path) => path.slice(path.lastIndexOf(".") + 1).replace(/\(.*\)$/, "");

/** How a key or an argument is told in a path. */
export function shown(value) {
  if (isThing(value)) return placeOf(value) || "...";
  if (["string", "number"].includes(typeof value)) {
    // Also where it is a plain value by now.
    for (const [path, one] of now.world?.values ?? []) if (one === value) return path;
  }
  if (typeof value === "string") return `'${value.slice(0, 40)}'`;
  return value === null || ["number", "boolean", "undefined"].includes(typeof value) ? String(value) : "...";
}

const HEADERS = /(?:^|\.)headers$/;
/** The path of a part. Names of headers have no capitals. */
function below(path, name) {
  const key = HEADERS.test(path) ? name.toLowerCase() : name;
  if (!/^[A-Za-z_$][\w$]*$/.test(key)) return `${path}['${key}']`.slice(-LONGEST);
  return (path ? `${path}.${key}` : key).slice(-LONGEST);
}
const LONGEST = 200;
/** The path of what a call gives. */
const called = (path, args) => `${path}(${args.map(shown).join(", ")})`.slice(-LONGEST);

/** What stands at a path: what the world gives, what the code is known to want, else a thing. */
export function part(world, path, own) {
  world.asked.set(path);
  if (path in world.given) {
    const told = world.given[path];
    const many = Array.isArray(told) && told[0] === "many" ? told[1] : 0;
    if (many) return Array.from({ length: many }, () => part(world, `${path}[*]`));
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
  if (shape === "number") return world.keep(path, numberOf(path));
  return world.keep(path, shape === "bytes" ? Buffer.from(wordOf(path)) : world.plain(path));
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
  return (...args) => {
    const list = quietly(() => {
      const each = typeof args[0] === "function" && !isThing(args[0]);
      if (!each && key !== "join") return undefined;
      world.want(path, "list");
      return [part(world, `${path}[*]`)];
    });
    return list ? list[key](...args) : quietly(() => part(world, called(`${path}.${key}`, args)));
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
      const [key] = words.length === 1 && !isThing(words[0]) ? words : [];
      if (key !== undefined && last === "get") return part(world, below(holder, String(key)));
      if (key !== undefined && last === "header") return part(world, below(`${holder}.headers`, String(key)));
      return part(world, called(path, words));
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
      if (/^(?:toString|valueOf|toJSON)$/.test(key)) return () => quietly(() => text({ world, path }));
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
    apply: (_, __, words) => quietly(() => inner(called(path, words))),
    construct(target, _, as) {
      const own = as === undefined || as.prototype === target.prototype;
      return own ? Object(quietly(() => inner(path))) : Reflect.construct(Object, [], as);
    },
    set: () => true,
  });
}
