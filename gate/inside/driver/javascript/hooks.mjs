// Lets Node load what bundlers and test runners load: TypeScript, JSX, files named without their ending or by the
// name of what they are compiled to, aliases of tsconfig.json, data and styles. A preload (--import), Node 22.15+;
// trusted, no packages. Where Node itself finds a module, nothing of this is asked.
import fs from "node:fs";
import Module from "node:module";
import path from "node:path";
import process from "node:process";
import { fileURLToPath, pathToFileURL } from "node:url";
import vm from "node:vm";
import { compiled, split } from "./compilers.mjs";
import { component, COMPONENT } from "./components.mjs";

/** file URL -> {text, map}: what was made of a source, and the source map (an object) that belongs to it. */
export const transformed = new Map();
/** file URL -> {text, module}: a copy that is loaded in a file's place (forced.mjs). */
export const replaced = new Map();
/** Another text of each module of the tree, once all else was done: `act` of guards/rewrite.mjs, `keep` of deployed.mjs. */
export const rewriting = { act: undefined, keep: undefined };

const top = process.cwd();
const ENDS = [".ts", ".tsx", ".mts", ".cts", ".js", ".jsx", ".mjs", ".cjs", ".json"];
const COMPILED = { ".js": [".ts", ".tsx", ".jsx"], ".mjs": [".mts", ".ts"], ".cjs": [".cts", ".ts"], ".jsx": [".tsx"] };
const BUILT = /^(?:dist|build|lib|out|output|\.output|es|esm|cjs|umd|module|types|compiled)$/;
const SOURCES = ["src", "source", "lib", ""];
const TYPED = /\.[mc]?ts$/;
const MARKUP = /\.[jt]sx$/;
const MODULES = /(?:^|[\\/])node_modules[\\/]/;
const NOTHING = /\.(?:css|scss|sass|less|styl|svg|png|jpe?g|gif|webp|avif|ico|woff2?|ttf|eot|mp[34]|webm|wasm|graphql|gql|html|txt|md)$/;
const LOOKS = /\.(?:css|scss|sass|less|styl|svg|png|jpe?g|gif|webp|woff2?)$/; // of packages, too
const strip = Module.stripTypeScriptTypes;
const text = (file) => fs.readFileSync(file, "utf8");
const isFile = (file) => fs.statSync(file, { throwIfNoEntry: false })?.isFile() ?? false;
export const inTree = (file) => file.startsWith(top + path.sep) && !MODULES.test(file);

// -- settings of the project ---------------------------------------------------------------------
/** JSON with comments and commas at the end. */
function loose(source) {
  let out = "";
  for (let at = 0; at < source.length; at++) {
    if (source[at] === '"') {
      const start = at++;
      while (at < source.length && source[at] !== '"') at += source[at] === "\\" ? 2 : 1;
      out += source.slice(start, at + 1);
    } else if (source.startsWith("//", at)) {
      while (at + 1 < source.length && source[at + 1] !== "\n") at++;
    } else if (source.startsWith("/*", at)) {
      const end = source.indexOf("*/", at + 2);
      at = end < 0 ? source.length : end + 1;
    } else out += source[at];
  }
  return JSON.parse(out.replace(/,(\s*[}\]])/g, "$1"));
}

/** The compiler options that count in a folder, those that are extended under them. */
function optionsOf(file, depth = 0) {
  let said;
  try {
    said = loose(text(file));
  } catch {
    return {};
  }
  const folder = path.dirname(file);
  let below = {};
  for (const name of depth < 5 ? [said.extends ?? []].flat() : []) {
    const beside = path.resolve(folder, name);
    const found = [beside, `${beside}.json`, path.join(beside, "tsconfig.json")].find(isFile);
    if (found) below = { ...below, ...optionsOf(found, depth + 1) };
  }
  const own = said.compilerOptions ?? {};
  if (own.paths || own.baseUrl) own.from = path.resolve(folder, own.baseUrl ?? ".");
  return { ...below, ...own };
}

const known = new Map();
/** The same for a file, by the nearest tsconfig.json or jsconfig.json; nothing outside the tree. */
export function settings(file) {
  const folder = path.dirname(file);
  if (known.has(folder)) return known.get(folder);
  let found = {};
  const own = ["tsconfig.json", "jsconfig.json"].map((name) => path.join(folder, name)).find(isFile);
  if (own) found = optionsOf(own);
  else if (folder !== top && folder.startsWith(top)) found = settings(folder);
  known.set(folder, found);
  return found;
}

// -- finding -------------------------------------------------------------------------------------
function withEnd(file) {
  if (isFile(file)) return file;
  const end = path.extname(file);
  const bare = file.slice(0, file.length - end.length);
  for (const other of COMPILED[end] ?? []) if (isFile(bare + other)) return bare + other;
  for (const other of ENDS) if (isFile(file + other)) return file + other;
  for (const other of ENDS) if (isFile(path.join(file, `index${other}`))) return path.join(file, `index${other}`);
  return undefined;
}

/** A file that a build would have made: the source that it is made of. */
function unbuilt(file) {
  if (!inTree(file)) return undefined;
  const parts = path.relative(top, file).split(path.sep);
  for (let at = parts.length - 2; at >= -1; at--) {
    if (at >= 0 && !BUILT.test(parts[at])) continue;
    for (const source of SOURCES) {
      const end = parts.slice(at + 1);
      const from = [...parts.slice(0, Math.max(at, 0)), ...(source ? [source] : []), ...end];
      const found = withEnd(path.join(top, ...from));
      if (found && found !== file) return found;
    }
    const kinds = at >= 0 && BUILT.test(parts[at + 1] ?? "") ? [at + 1] : [];
    for (const kind of kinds) {
      const found = withEnd(path.join(top, ...parts.slice(0, at), "src", ...parts.slice(kind + 1)));
      if (found) return found;
    }
  }
  return undefined;
}

const CUSTOMARY = /^(?:@|~|#)\/(.+)$/;
/** What bundlers are usually told that `@/` is: the folder of sources, the nearest above. */
function byCustom(name, parent) {
  const [, rest] = CUSTOMARY.exec(name) ?? [];
  if (!rest) return undefined;
  for (let folder = path.dirname(parent); folder.startsWith(top); folder = path.dirname(folder)) {
    for (const source of ["src", "app", ""]) {
      const found = withEnd(path.join(folder, source, rest));
      if (found && inTree(found)) return found;
    }
  }
  return undefined;
}

function aliased(name, parent) {
  const { paths = {}, from, baseUrl } = settings(parent);
  if (!from) return byCustom(name, parent);
  for (const [pattern, targets] of Object.entries(paths)) {
    const [before, after] = pattern.split("*");
    const fits = after === undefined ? name === pattern : name.startsWith(before) && name.endsWith(after);
    if (!fits || !Array.isArray(targets)) continue;
    const middle = after === undefined ? "" : name.slice(before.length, name.length - after.length);
    for (const target of targets) {
      const found = withEnd(path.resolve(from, String(target).replace("*", middle)));
      if (found) return found;
    }
  }
  return (baseUrl ? withEnd(path.resolve(from, name)) : undefined) ?? byCustom(name, parent);
}

const asFile = (url) => (url?.startsWith("file:") ? fileURLToPath(url) : undefined);

/** A file of a package that is named without its ending, as bundlers take it: next/server. */
const inPackage = (file) => (MODULES.test(file) ? withEnd(file) : undefined);

function sought(name, parent, error) {
  const plain = name.split("?")[0];
  const local = /^(?:\.{1,2}(?:\/|$)|\/)/.test(plain) || plain.startsWith("file:");
  if (local) {
    const file = plain.startsWith("file:") ? asFile(plain) : path.resolve(path.dirname(parent), plain);
    return withEnd(file) ?? unbuilt(file);
  }
  const target = asFile(error.url) ?? (typeof error.path === "string" ? error.path : undefined);
  return aliased(plain, parent) ?? (target && (inPackage(target) ?? unbuilt(target)));
}

const BESIDE = "gate-beside:";
/** The address under which a package is imported as a file imports it: of two builds of one, the same. */
export const beside = (file, name) => `${BESIDE}${encodeURIComponent(pathToFileURL(file).href)},${name}`;

function resolve(name, context, next) {
  if (name.startsWith(BESIDE)) {
    const [parent, wanted] = name.slice(BESIDE.length).split(",");
    return next(wanted, { ...context, parentURL: decodeURIComponent(parent) });
  }
  const parent = asFile(context.parentURL) ?? path.join(top, "any.js");
  const ours = inTree(parent);
  const more = ours ? settings(parent).customConditions : undefined;
  const wanted = Array.isArray(more) ? { ...context, conditions: [...(context.conditions ?? []), ...more] } : context;
  try {
    return named(parent, context, next(name, wanted));
  } catch (error) {
    const lost = /MODULE_NOT_FOUND|UNSUPPORTED_DIR_IMPORT|PACKAGE_PATH_NOT_EXPORTED/.test(error?.code ?? "");
    const target = asFile(error?.url);
    const found = lost ? (ours ? sought(name, parent, error) : target && inPackage(target)) : undefined;
    const standsFor = BARE.test(name) || (rewriting.act && /^\.{1,2}\//.test(name)); // what a build would have made
    if (!found && ours && lost && globalThis[STANDS_IN] && standsFor && context.conditions?.includes("import")) {
      return { url: `${MISSING}${encodeURIComponent(parent)},${encodeURIComponent(name)}`, format: "module", shortCircuit: true };
    }
    if (!found || found === parent) throw error;
    // require() takes paths, import() takes addresses.
    return named(parent, context, next(context.conditions?.includes("require") ? found : pathToFileURL(found).href, context), true);
  }
}

// -- packages that are not there ------------------------------------------------------------------
const MISSING = "gate-missing:";
const BARE = /^(?!node:|data:|file:|https?:)[@\w]/;
/** The runner's: what stands in for a package, by its name. Without it a missing package ends an import. */
const STANDS_IN = Symbol.for("gate.stand-in");

/** A module with the names that a file imports from a package that is not there. */
function missingModule(url) {
  const [parent, name] = url.slice(MISSING.length).split(",").map(decodeURIComponent);
  const code = TYPED.test(parent) || MARKUP.test(parent) ? make(parent, text(parent)).text : text(parent);
  const from = name.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
  const named = [...code.matchAll(new RegExp(`(?:import|export)\\s[^;"'{}]*\\{([^{}]*)\\}\\s*from\\s*["']${from}["']`, "g"))];
  const words = named.flatMap(([, inside]) => inside.split(",")).map((one) => one.trim().split(/\s+as\s+/)[0]);
  const given = [...new Set(words)].filter((one) => /^[\w$]+$/.test(one) && one !== "default");
  return `const it = globalThis[Symbol.for("gate.stand-in")](${JSON.stringify(name)});
    export default it;
    ${given.map((one, n) => `const n${n} = it[${JSON.stringify(one)}]; export { n${n} as ${one} };`).join("\n")}`;
}

// -- packages of CommonJS, as bundlers give them to a source that only a bundler reads -----------
const NAMED = "?gate-names";
/** Files of packages whose exports were replaced (packages.mjs): an import has to see that, too. */
const WRAPPED = Symbol.for("gate.wrapped");
/** Set by the runner where Node alone could not link a script: nothing but its text says that it is a module. */
const BUNDLED = Symbol.for("gate.bundled");
/** Compilers put a comment and what follows it on one line. */
const ES = /^\s*(?:\/\*(?:[^*]|\*(?!\/))*\*\/\s*)*(?:import\b(?!\s*\()|export\b)/m;

/** Would Node take what is compiled of a source for a module? By its ending, else by the nearest package.json. */
function isModule(file) {
  if (/\.[mc]tsx?$/.test(file)) return /\.mtsx?$/.test(file);
  for (let folder = path.dirname(file); folder.startsWith(top); folder = path.dirname(folder)) {
    try {
      return JSON.parse(text(path.join(folder, "package.json"))).type === "module";
    } catch {
      // none here
    }
  }
  return false;
}

/** Is it a package's CommonJS, whose names Node cannot always tell from its text, imported by what Node cannot read? */
function wantsNames(parent, context, { url, format }, foundByUs) {
  if (!context.conditions?.includes("import")) return false;
  if (globalThis[WRAPPED]?.has(asFile(url))) return true;
  const bundled = TYPED.test(parent) || MARKUP.test(parent) || COMPONENT.test(parent) || holdsMarkup(parent);
  if (!bundled && !((foundByUs || globalThis[BUNDLED]) && /\.js$/.test(parent) && !isModule(parent))) return false;
  const file = asFile(url);
  const asNode = /^node(?:16|next)$/i.test(settings(parent).module ?? "") && isModule(parent);
  if (!file || !MODULES.test(file) || asNode) return false;
  if (format) return format === "commonjs";
  return /\.c?js$/.test(file) && !ES.test(text(file));
}

/** `foundByUs`: Node alone finds nothing there, so that it is a bundler's import. */
const named = (parent, context, found, foundByUs = false) =>
  inTree(parent) && wantsNames(parent, context, found, foundByUs) ? { ...found, url: found.url + NAMED, format: "module" } : found;

/** A module that has every name of a CommonJS one, and its default as compilers understand it. */
function withNames(file) {
  const all = Module.createRequire(file)(file);
  const holder = all !== null && (typeof all === "object" || typeof all === "function");
  const names = holder ? Object.keys(all).filter((name) => name !== "default") : [];
  const given = names.map((name, n) => `const n${n} = all[${JSON.stringify(name)}]; export { n${n} as ${JSON.stringify(name)} };`);
  return `import { createRequire } from "node:module";
    const all = createRequire(${JSON.stringify(file)})(${JSON.stringify(file)});
    export default all?.__esModule && "default" in all ? all.default : all;
    ${given.join("\n")}`;
}

// -- making JavaScript of it ---------------------------------------------------------------------
/** What Node can run of a source, with its map. Throws where nothing here can read it. */
export function make(file, source) {
  const url = pathToFileURL(file).href;
  if (transformed.has(url)) return transformed.get(url);
  if (COMPONENT.test(file)) {
    const made = component(file, source, settings(file), strip);
    if (!made) throw new SyntaxError("a component needs the project's vue or svelte");
    transformed.set(url, made);
    return made;
  }
  const markup = MARKUP.test(file) || !TYPED.test(file);
  // Imports of nothing but types are left out by compilers alone: Node's own way keeps them.
  let made = compiled(file, source, settings(file), markup);
  let why;
  if (!made && !markup) {
    try {
      made = split(strip(source, { mode: "transform", sourceMap: true, sourceUrl: url }));
    } catch (error) {
      why = error; // decorators
    }
  }
  if (!made) throw why ?? new SyntaxError("JSX needs the project's typescript, esbuild, @swc/core, sucrase or babel");
  transformed.set(url, made);
  return made;
}

const plain = (file) => text(file).replace(/^\uFEFF/, "");
/** The same, or nothing: what Node can read as it is needs no compiler. */
function attempted(file) {
  try {
    return make(file, plain(file));
  } catch {
    return undefined;
  }
}

const IN_SCRIPT = /(?:\breturn|=>|[(=?:,]|&&|\|\|)\s*\(?\s*<(?:[A-Za-z][\w.]*(?:\s+[\w-]+\s*=|\s*\/?>|\s*\{)|>)/;
const markup = new Map();
/** Does a plain script hold JSX, as those that a bundler reads may, so that the engine cannot read it as it is? Only
 * where a compiler is there that can. */
function holdsMarkup(file) {
  if (!/\.js$/.test(file) || !inTree(file) || isModule(file)) return false;
  if (!markup.has(file)) {
    const source = isFile(file) ? plain(file) : "";
    markup.set(file, IN_SCRIPT.test(source) && !isPlain(source) && attempted(file) !== undefined);
  }
  return markup.get(file);
}

/** Can the engine read it? Types are no JavaScript, but where they are taken for some, no JSX is. */
function isPlain(source) {
  try {
    if (ES.test(source)) strip(source, { mode: "strip" });
    else new vm.Script(Module.wrap(source.replace(/^#!.*/, "")));
    return true;
  } catch {
    return false;
  }
}

/** Is what runs something else than the file's own text? */
export const isMade = (file) => TYPED.test(file) || MARKUP.test(file) || COMPONENT.test(file) || holdsMarkup(file);

/** A copy without its types; it holds no markup (gate/languages/forcing). */
function bare(file, source) {
  if (!/\.(?:[mc]?ts|tsx)$/.test(file)) return source;
  try {
    return strip(source, { mode: "transform" });
  } catch {
    return make(file, source).text;
  }
}

const OF_COMMONJS = ["require", "module", "exports", "__filename", "__dirname"];
/** What TypeScript's compilers leave to CommonJS in a file that imports, too: an import, which goes before all else.
 * At the end of the text, so that no line moves. */
function withCommon(file, code) {
  const used = OF_COMMONJS.filter((name) => new RegExp(`(?<![.\\w$])${name}(?=\\s*[(.,;)\\]+=])`).test(code));
  const wanted = used.filter((name) => !new RegExp(`\\b(?:const|let|var|function|class|as|import)\\s+${name}\\b|\\{[^}]*\\b${name}\\b[^}]*\\}\\s*(?:=|from)`).test(code));
  if (!wanted.length) return code;
  const given = `import { createRequire } from "node:module";
    export const require = createRequire(${JSON.stringify(file)});
    export const __filename = ${JSON.stringify(file)}, __dirname = ${JSON.stringify(path.dirname(file))};
    export const exports = {}, module = { exports, filename: __filename };`;
  return `${code}\nimport { ${wanted.join(", ")} } from "data:text/javascript,${encodeURIComponent(given)}";\n`;
}

const PUBLIC = /^(?:VITE_|NEXT_PUBLIC_|REACT_APP_|PUBLIC_|EXPO_PUBLIC_|GATSBY_)/;
/** What the project's example of an environment says about what a page may know; the nearest folder that has one. */
function publicSettings(folder) {
  const names = [".env", ".env.example", ".env.sample", ".env.template", ".env.development", ".env.test"];
  const files = names.map((name) => path.join(folder, name)).filter(isFile);
  if (!files.length) return folder === top || !folder.startsWith(top) ? {} : publicSettings(path.dirname(folder));
  const lines = files.flatMap((file) => text(file).slice(0, 1 << 16).split("\n"));
  const pairs = lines.map((line) => line.trim().replace(/^export\s+/, "").split(/=(.*)/s)).filter(([name]) => PUBLIC.test(name));
  return Object.fromEntries(pairs.map(([name, value = ""]) => [name.trim(), value.trim().replace(/^(["'])(.*)\1$/, "$2")]));
}

const SETTINGS = "import.meta.env";
const OURS = "globalThis.$env"; // of the same length, so that no place in the text moves
/** What Vite puts in the place of its settings: its own, then the environment's. */
function withSettings(file, code) {
  if (!code.includes(SETTINGS)) return code;
  const own = { MODE: "test", DEV: true, PROD: false, SSR: false, BASE_URL: "/", ...publicSettings(path.dirname(file)) };
  globalThis.$env ??= new Proxy(own, { get: (_, name) => own[name] ?? process.env[name] });
  return code.replaceAll(SETTINGS, OURS);
}

const ESM = new RegExp(`${ES.source}|^\\s*[^/\\n]*\\bimport\\.meta\\b`, "m");
function load(url, context, next) {
  const found = source(url, context, next);
  const act = rewriting.act ?? rewriting.keep;
  if (!act || !/^(?:module|commonjs)$/.test(found.format ?? "") || url.endsWith(NAMED) || url.startsWith(MISSING)) return found;
  const file = asFile(url.split(/[?#]/)[0]);
  if (!file || !inTree(file) || !found.source) return found; // CommonJS without one is compiled by Node's own loader
  return { ...found, source: act(String(Buffer.from(found.source))), shortCircuit: true };
}

function source(url, context, next) {
  if (url.startsWith(MISSING)) return { format: "module", source: missingModule(url), shortCircuit: true };
  const file = asFile(url.split(/[?#]/)[0]);
  if (!file) return next(url, context);
  if (url.endsWith(NAMED)) return { format: "module", source: withNames(file), shortCircuit: true };
  const copy = replaced.get(pathToFileURL(file).href);
  if (copy) {
    return { format: copy.module ? "module" : "commonjs", source: bare(file, copy.text), shortCircuit: true };
  }
  if (isMade(file) && !file.endsWith(".d.ts")) {
    const made = make(file, plain(file));
    const common = file.endsWith(".cts") || (!file.endsWith(".mts") && !ESM.test(made.text));
    const done = common ? made.text : withCommon(file, withSettings(file, made.text));
    return { format: common ? "commonjs" : "module", source: done, shortCircuit: true };
  }
  if (file.endsWith(".json") && context.importAttributes?.type !== "json" && context.format !== "commonjs" && inTree(file)) {
    if (context.conditions?.includes("import")) {
      return { format: "module", source: `export default ${text(file)};`, shortCircuit: true };
    }
  }
  if (NOTHING.test(file) && (inTree(file) || LOOKS.test(file))) {
    return { format: "module", source: "export default {};", shortCircuit: true };
  }
  return next(url, context);
}

export const hooked = Boolean(Module.registerHooks && strip);
if (hooked) Module.registerHooks({ resolve, load });
