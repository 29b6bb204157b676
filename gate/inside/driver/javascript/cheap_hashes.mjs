// Hashes of passwords are slow on purpose, and hundreds of requests pay for it: they cost little here, the same for what
// is stored and what is compared with it. Before the module is imported. Trusted.
import crypto from "node:crypto";
import Module from "node:module";
import { packagesOf } from "./packages.mjs";

const CHEAP = { N: 16, cost: 16, r: 1, p: 1, blockSize: 1, parallelization: 1 };
const ROUNDS = 4; // the fewest that bcrypt takes

export function cheapen(file) {
  const { scrypt, scryptSync, pbkdf2, pbkdf2Sync } = crypto;
  const options = (words) => words.map((word) => (word !== null && typeof word === "object" ? pick(word) : word));
  const pick = (given) => Object.fromEntries(Object.entries(given).map(([name, value]) => [name, CHEAP[name] ?? value]));
  const more = (words) => (words.some((word) => word !== null && typeof word === "object") ? options(words) : [{ N: 16, r: 1, p: 1 }, ...words]);
  crypto.scrypt = (password, salt, length, ...words) => scrypt(password, salt, length, ...more(words));
  crypto.scryptSync = (password, salt, length, ...words) => scryptSync(password, salt, length, ...more(words));
  crypto.pbkdf2 = (password, salt, _, ...words) => pbkdf2(password, salt, 1, ...words);
  crypto.pbkdf2Sync = (password, salt, _, ...words) => pbkdf2Sync(password, salt, 1, ...words);
  Module.syncBuiltinESMExports?.();
  for (const name of ["bcrypt", "bcryptjs"]) {
    const found = packagesOf(file)(name);
    for (const at of [found, found?.default]) {
      for (const act of ["hash", "hashSync", "genSalt", "genSaltSync"]) {
        const real = at?.[act];
        if (typeof real !== "function") continue;
        try {
          at[act] = (...words) => real.apply(at, words.map((word) => (typeof word === "number" ? ROUNDS : word)));
        } catch {
          // a module whose exports stay
        }
      }
    }
  }
}
