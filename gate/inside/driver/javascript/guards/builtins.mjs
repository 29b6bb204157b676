// The language's own functions tell what they compare and look up: texts, tables, patterns, digests, addresses. They
// answer as ever. Trusted.
import { Buffer } from "node:buffer";
import crypto from "node:crypto";
import Module from "node:module";
import net from "node:net";
import { fitting } from "../pattern_texts.mjs";
import { looked, met, TABLE } from "./listening.mjs";
import { isThing, part, placeOf, plainOf } from "./things.mjs";
import { EnoughAsked, now, quietly } from "./world.mjs";

function hook(home, name, act) {
  const slot = home && Object.getOwnPropertyDescriptor(home, name);
  const real = slot?.value;
  if (typeof real !== "function") return;
  const value = function (...words) {
    if (!now.world || now.busy) return Reflect.apply(real, this, words);
    let given;
    try {
      given = quietly(() => act(this, words));
    } catch (error) {
      if (error instanceof EnoughAsked) throw error; // else: not called as it is meant to be
    }
    return given?.answer !== undefined ? given.answer : Reflect.apply(real, given?.self ?? this, given?.words ?? words);
  };
  try {
    Object.defineProperty(value, "name", { value: name });
    Object.defineProperty(value, "length", { value: real.length });
    Object.defineProperty(home, name, { ...slot, value });
  } catch {
    // not to be replaced
  }
}
const plainWords = (shape) => (_, words) => ({ words: words.map((one) => (isThing(one) ? plainOf(one, shape) : one)) });

const HOW = {
  startsWith: "begins", endsWith: "ends", includes: "has", indexOf: "has", lastIndexOf: "has", split: "has",
  localeCompare: "==",
};
function texts() {
  const P = String.prototype;
  for (const [name, how] of Object.entries(HOW)) {
    hook(P, name, (self, words) => {
      if (typeof words[0] !== "string" && !isThing(words[0])) return undefined;
      const [, other] = met(String(self), words[0], how);
      return { words: [isThing(other) ? plainOf(other) : other, ...words.slice(1)] };
    });
  }
}

function tables() {
  for (const name of ["includes", "indexOf", "lastIndexOf"]) {
    hook(Array.prototype, name, (self, words) => {
      if (!Array.isArray(self)) return undefined;
      if (!isThing(words[0])) for (const one of self) if (isThing(one)) met(one, words[0], "==");
      const plain = looked(words[0], self.slice(0, TABLE));
      return { self: self.map((one) => (isThing(one) ? plainOf(one) : one)), words: [plain, ...words.slice(1)] };
    });
  }
  for (const home of [Set.prototype, Map.prototype]) {
    const keys = home.keys;
    for (const name of ["has", "get"]) {
      hook(home, name, (self, words) => ({ words: [looked(words[0], Reflect.apply(keys, self, []))] }));
    }
    for (const name of ["add", "set", "delete"]) {
      hook(home, name, (_, [key, ...rest]) => ({ words: [plainOf(key), ...rest] }));
    }
  }
  hook(Object, "hasOwn", (_, [object, key]) => {
    return isThing(object) ? { answer: key in object } : { words: [object, looked(key, Object.keys(object ?? {}))] };
  });
  hook(Object.prototype, "hasOwnProperty", (self, [key]) => {
    return isThing(self) ? { answer: key in self } : { words: [looked(key, Object.keys(self ?? {}))] };
  });
  hook(Object, "is", (_, words) => ({ words: met(words[0], words[1], "==") }));
}

const patterns = new Map();
function matching() {
  hook(RegExp.prototype, "exec", (self, words) => {
    const text = isThing(words[0]) ? plainOf(words[0]) : words[0];
    const paths = isThing(words[0]) ? [[placeOf(words[0])]] : now.world.origins(String(text));
    if (!paths.length) return { words: [text] };
    const key = String(self);
    if (!patterns.has(key)) {
      let found = [];
      try {
        found = fitting(self);
      } catch {
        // not of a kind that is understood
      }
      patterns.set(key, found.slice(0, 2));
    }
    for (const [path] of paths) {
      for (const one of patterns.get(key)) {
        const near = [one, `${one}\n`, `gate${one}`, `${one}gate`, `gate\n${one}`];
        for (const told of near) now.world.note(path, "is", told);
      }
    }
    return { words: [text] };
  });
  const { exec, test } = RegExp.prototype;
  Object.defineProperty(RegExp.prototype, "test", {
    ...Object.getOwnPropertyDescriptor(RegExp.prototype, "test"),
    value: function (word) {
      return now.world ? Reflect.apply(exec, this, [word]) !== null : Reflect.apply(test, this, [word]);
    },
  });
}

function numbers() {
  for (const name of ["isInteger", "isFinite", "isSafeInteger", "isNaN"]) hook(Number, name, plainWords("number"));
  for (const name of ["parseInt", "parseFloat"]) {
    for (const home of [globalThis, Number]) hook(home, name, plainWords("digits"));
  }
  for (const name of ["isFinite", "isNaN"]) hook(globalThis, name, plainWords("number"));
  hook(Array, "isArray", (_, [value]) => {
    if (!isThing(value)) return undefined;
    now.world.want(placeOf(value), "list");
    return { answer: true };
  });
}

function proofs() {
  hook(Buffer, "from", plainWords());
  hook(Buffer, "byteLength", plainWords());
  hook(Buffer.prototype, "equals", (self, [other]) => {
    met(self, other, "==");
    return undefined;
  });
  hook(Buffer, "compare", (_, words) => (met(words[0], words[1], "=="), undefined));
  hook(crypto, "timingSafeEqual", (_, words) => ({ words: met(words[0], words[1], "==") }));
  for (const name of ["createHmac", "createHash", "pbkdf2Sync", "scryptSync"]) hook(crypto, name, plainWords());
  for (const made of [crypto.createHmac("sha256", "x"), crypto.createHash("sha256")]) {
    hook(Object.getPrototypeOf(made), "update", plainWords());
  }
  const { parse } = JSON;
  hook(JSON, "parse", (_, [said, ...rest]) => {
    const text = isThing(said) ? plainOf(said) : said;
    try {
      parse(text);
    } catch {
      // What it would hold stands at a path of its own.
      const [path] = isThing(said) ? [placeOf(said)] : (now.world.origins(text)[0] ?? []);
      if (path) return { answer: part(now.world, `JSON.parse(${path})`.slice(-200)) };
    }
    return { words: [text, ...rest] };
  });
  hook(Date, "parse", plainWords("moment"));
  Module.syncBuiltinESMExports?.();
}

function addresses() {
  const about = (_, words) => {
    const paths = isThing(words[0]) ? [[placeOf(words[0])]] : now.world.origins(String(words[0]));
    for (const [path] of paths) now.world.address(path);
    return { words: [plainOf(words[0]), ...words.slice(1)] };
  };
  for (const name of ["isIP", "isIPv4", "isIPv6"]) hook(net, name, about);
  hook(net.BlockList?.prototype, "check", about);
  Module.syncBuiltinESMExports?.();
}

/** Before the code is loaded. */
export function listen() {
  texts();
  tables();
  matching();
  numbers();
  proofs();
  addresses();
}
