// Makes JavaScript of TypeScript and JSX by a compiler of the project's own, whichever is installed. Trusted, no packages.
import Module from "node:module";
import path from "node:path";

const MARKUP = /\.[jt]sx$/;
const TYPED = /\.[mc]?tsx?$/;
const isClassic = (own) => own.jsx === "react" || Boolean(own.jsxFactory);

const tools = new Map();
/** A package of the project's own, for what Node itself cannot read. */
export function tool(name, file) {
  if (!tools.has(name)) {
    let found;
    try {
      const ask = Module.createRequire(file);
      ask.resolve(name); // where it is nowhere, nobody is asked to stand in for it
      found = ask(name);
      if (!/^\d/.test(String(found.version ?? found.VERSION ?? found.getVersion?.()))) found = undefined; // a stand-in of the runner's
    } catch {
      found = undefined;
    }
    tools.set(name, found);
  }
  return tools.get(name);
}

export function split(code) {
  const at = code.lastIndexOf("//# sourceMappingURL=data:");
  if (at < 0) return { text: code, map: undefined };
  const map = JSON.parse(Buffer.from(code.slice(at).split("base64,")[1], "base64").toString("utf8"));
  return { text: code, map };
}

function byTypeScript(file, source, own) {
  const ts = tool("typescript", file);
  if (!ts?.transpileModule) return undefined;
  const jsx = /^react-jsx/.test(own.jsx ?? "") || own.jsxImportSource ? ts.JsxEmit.ReactJSX : undefined;
  const done = ts.transpileModule(source, {
    fileName: file,
    compilerOptions: {
      target: ts.ScriptTarget.ES2022,
      module: ts.ModuleKind.ESNext,
      jsx: jsx ?? (isClassic(own) ? ts.JsxEmit.React : ts.JsxEmit.ReactJSX),
      jsxImportSource: own.jsxImportSource,
      jsxFactory: own.jsxFactory,
      jsxFragmentFactory: own.jsxFragmentFactory,
      experimentalDecorators: own.experimentalDecorators,
      emitDecoratorMetadata: own.emitDecoratorMetadata,
      useDefineForClassFields: own.useDefineForClassFields,
      verbatimModuleSyntax: own.verbatimModuleSyntax,
      inlineSourceMap: true,
      inlineSources: false,
    },
  });
  return split(done.outputText);
}

function byEsbuild(file, source, own) {
  const esbuild = tool("esbuild", file);
  if (!esbuild?.transformSync) return undefined;
  const loader = path.extname(file).slice(1).replace(/^[mc]ts$/, "ts").replace(/^[mc]?js$/, "jsx");
  const done = esbuild.transformSync(source, {
    loader,
    sourcefile: file,
    sourcemap: "inline",
    sourcesContent: false,
    target: "es2022",
    jsx: isClassic(own) ? "transform" : "automatic",
    jsxImportSource: own.jsxImportSource,
  });
  return split(done.code);
}

function bySwc(file, source, own) {
  const swc = tool("@swc/core", file);
  if (!swc?.transformSync) return undefined;
  const typed = TYPED.test(file);
  const tsx = typed && MARKUP.test(file);
  const done = swc.transformSync(source, {
    filename: file,
    swcrc: false,
    configFile: false,
    sourceMaps: true,
    jsc: {
      target: "es2022",
      parser: typed ? { syntax: "typescript", tsx, decorators: true } : { syntax: "ecmascript", jsx: true },
      transform: { react: { runtime: isClassic(own) ? "classic" : "automatic", importSource: own.jsxImportSource } },
    },
  });
  return { text: done.code, map: JSON.parse(done.map) };
}

/** Keeps every line where it is, so that it needs no map of its own. */
function bySucrase(file, source, own) {
  const sucrase = tool("sucrase", file);
  if (!sucrase?.transform) return undefined;
  const done = sucrase.transform(source, {
    filePath: file,
    transforms: ["jsx", ...(TYPED.test(file) ? ["typescript"] : [])],
    disableESTransforms: true,
    production: true,
    jsxRuntime: isClassic(own) ? "classic" : "automatic",
    jsxImportSource: own.jsxImportSource,
    sourceMapOptions: { compiledFilename: file },
  });
  return { text: done.code, map: done.sourceMap };
}

/** With presets of its own: the project's may ask for plugins of a bundler. */
function byBabel(file, source, own) {
  const babel = tool("@babel/core", file);
  if (!babel?.transformSync) return undefined;
  const ask = Module.createRequire(file);
  const found = (name) => {
    try {
      return ask.resolve(name);
    } catch {
      return undefined;
    }
  };
  const runtime = isClassic(own) || !found(`${own.jsxImportSource ?? "react"}/jsx-runtime`) ? "classic" : "automatic";
  const options = { runtime, ...(runtime === "automatic" && own.jsxImportSource ? { importSource: own.jsxImportSource } : {}) };
  const jsx = found("@babel/preset-react") ?? found("@babel/plugin-transform-react-jsx");
  const types = found("@babel/preset-typescript");
  if (!jsx || (TYPED.test(file) && !types)) return undefined;
  const isPreset = Boolean(found("@babel/preset-react"));
  const done = babel.transformSync(source, {
    filename: file, configFile: false, babelrc: false, sourceMaps: true, compact: false,
    presets: [...(isPreset ? [[jsx, options]] : []), ...(TYPED.test(file) ? [types] : [])],
    plugins: isPreset ? [] : [[jsx, options]],
  });
  return { text: done.code, map: done.map };
}

/** {text, map} of a source by a compiler that the file's project has, undefined where it has none. `own`: the
 * compiler options that count for the file. `markup`: JSX is in it, so that Node has no way of its own.
 */
export function compiled(file, source, own, markup) {
  const made = byTypeScript(file, source, own) ?? byEsbuild(file, source, own) ?? bySwc(file, source, own);
  return made ?? (markup ? (bySucrase(file, source, own) ?? byBabel(file, source, own)) : undefined);
}
