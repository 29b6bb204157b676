// Next's and its like's handlers by files: route files beside the attacked one, handlers of `pages/api`, server actions;
// and what Next gives to code of a request, which nobody has here. Trusted, no packages of ours.
import fs from "node:fs";
import path from "node:path";
import process from "node:process";
import { pathToFileURL } from "node:url";
import { packagesOf, replace, resolved } from "./packages.mjs";

const ROUTE = /^(?:route|\+server)\.[mc]?[jt]s$/;
const SKIPPED = /^(?:node_modules|\.|dist|build|coverage|tests?$|__tests__$)/;
const MOST = 8;
/** How the request that runs is asked, for what a handler looks up elsewhere. */
const now = { how: {} };

/** Give `next/headers` and `next/cache` what a request would. `ways`: fields, headersOf, worthIn, tools. */
export function listen(file, ways) {
  const headers = resolved(file, "next/headers");
  if (!headers) return;
  const found = packagesOf(file);
  const jar = {
    get: (name) => ({ name, value: String(ways.cookie(name, now.how)) }),
    has: () => !now.how.bare,
    getAll: () => [],
    set() {},
    delete() {},
  };
  const lazily = (value) => Object.assign(Promise.resolve(value), value); // a promise since Next 15
  replace(headers, { ...found("next/headers"), cookies: () => lazily(jar), headers: () => lazily(new Headers(ways.headers(now.how))), draftMode: () => lazily({ isEnabled: false }) });
  const cache = resolved(file, "next/cache");
  if (cache) replace(cache, { ...found("next/cache"), revalidatePath() {}, revalidateTag() {}, unstable_cache: (act) => act });
}

export async function during(how, act) {
  const before = now.how;
  now.how = how;
  try {
    return await act();
  } finally {
    now.how = before;
  }
}

/** Is one address a beginning of the other (`notes`, `notes/[id]`)? Only such a route makes what this one is asked for;
 * any other is attacked by itself, and running it here as well can end this attack. */
const leads = (file, other) => {
  const [one, two] = [file, other].map((each) => `${path.dirname(each)}${path.sep}`);
  return one.startsWith(two) || two.startsWith(one);
};

/** Route files beside that one, the nearest first. */
export function routeFilesBeside(file) {
  const steps = path.relative(process.cwd(), file).split(path.sep);
  const at = steps.findIndex((step) => step === "app" || step === "routes");
  if (at < 0 || !ROUTE.test(path.basename(file))) return [];
  const found = [];
  let left = 400;
  const walk = (folder, depth) => {
    for (const entry of fs.readdirSync(folder, { withFileTypes: true })) {
      if ((left -= 1) < 0 || found.length > 40) return;
      const place = path.join(folder, entry.name);
      if (entry.isDirectory() && depth < 8 && !SKIPPED.test(entry.name)) walk(place, depth + 1);
      else if (entry.isFile() && ROUTE.test(entry.name) && place !== file && leads(file, place)) found.push(place);
    }
  };
  try {
    walk(path.join(process.cwd(), ...steps.slice(0, at + 1)), 0);
  } catch {
    return [];
  }
  const shared = (one) => {
    const other = path.relative(process.cwd(), one).split(path.sep);
    return steps.findIndex((step, n) => step !== other[n]);
  };
  return found.sort((a, b) => shared(b) - shared(a) || (a < b ? -1 : 1)).slice(0, MOST);
}

export const loaded = async (file) => {
  try {
    return await import(pathToFileURL(file).href);
  } catch {
    return {};
  }
};

/** Is that a file whose exported functions a browser may call? */
export const isActions = (text) => /^\s*["']use server["']/.test(text.replace(/^(?:\s|\/\/[^\n]*\n|\/\*[\s\S]*?\*\/)*/, ""));

/** A form as an action is given it: every field that is looked up. */
export function formOf(body) {
  const form = {
    get: (name) => body[name],
    getAll: (name) => [body[name]].flat(),
    has: () => true,
    entries: () => Object.entries(body)[Symbol.iterator](),
    keys: () => Object.keys(body)[Symbol.iterator](),
    [Symbol.iterator]: () => Object.entries(body)[Symbol.iterator](),
    forEach: (act) => Object.entries(body).forEach(([name, value]) => act(value, name)),
  };
  return form;
}
