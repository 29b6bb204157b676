// The packages that a file of the project finds, and what stands in the place of one of them. Trusted.
import Module from "node:module";

/** Files of packages whose exports were replaced: hooks.mjs has an import see that, too. */
const WRAPPED = Symbol.for("gate.wrapped");

/** A package by its name, as that file would require it; undefined where it cannot be had. */
export function packagesOf(file) {
  const ask = Module.createRequire(file);
  return (name) => {
    try {
      ask.resolve(name); // where it is nowhere, nobody is asked to stand in for it
      return ask(name);
    } catch {
      return undefined;
    }
  };
}

/** The file that a package's name leads to; undefined where it is nowhere. */
export function resolved(file, name) {
  try {
    return Module.createRequire(file).resolve(name);
  } catch {
    return undefined;
  }
}

/** Give everybody who asks for the package in that file these exports. Before it is imported. */
export function replace(at, exports) {
  const { cache } = Module.createRequire(at);
  cache[at] = Object.assign(cache[at] ?? new Module(at), { exports, loaded: true });
  (globalThis[WRAPPED] ??= new Set()).add(at);
}
