// Makes modules of Vue's and Svelte's components by the compiler that the project has. Trusted, no packages.
import { compiled, tool } from "./compilers.mjs";

export const COMPONENT = /\.(?:vue|svelte)$/;

/** A component with everything that its script names open to whoever has an instance of it: no part of the template
 * is put into the script. `under`: what the last step was made from, with its own map. */
function byVue(file, source, own, strip) {
  const vue = tool("@vue/compiler-sfc", file) ?? tool("vue/compiler-sfc", file);
  if (!vue?.parse || !vue.compileScript) return undefined;
  const { descriptor } = vue.parse(source, { filename: file });
  const scripted = descriptor.script ?? descriptor.scriptSetup;
  const options = { id: "gate", inlineTemplate: false, genDefaultAs: "component", sourceMap: true };
  const script = scripted ? vue.compileScript(descriptor, options) : { content: "const component = {};" };
  const text = `${script.content}\n${templateOf(vue, file, descriptor, script)}export default component;\n`;
  if (!/^tsx?$/.test(script.lang ?? "")) return { text, map: script.map };
  const done = compiled(`${file}.${script.lang}`, text, own, false);
  if (done?.map) return { text: done.text, map: done.map, under: { text, map: script.map } };
  return { text: strip(text, { mode: "strip" }), map: script.map }; // every character stays where it is
}

/** The template as a function of the component; nothing where it is no HTML, or is not right. */
function templateOf(vue, file, { template, scriptSetup, script }, { bindings, lang }) {
  if (!template || template.src || template.lang || !vue.compileTemplate) return "";
  const expressionPlugins = /^tsx?$/.test(lang ?? "") ? ["typescript"] : [];
  const compilerOptions = { bindingMetadata: scriptSetup || script ? bindings : undefined, expressionPlugins };
  const made = vue.compileTemplate({ source: template.content, filename: file, id: "gate", compilerOptions });
  if (made.errors?.length) return "";
  return `${made.code.replace(/^export (?=function render|const render)/m, "")}\ncomponent.render = render;\n`;
}

function bySvelte(file, source) {
  const svelte = tool("svelte/compiler", file);
  if (!svelte?.compile) return undefined;
  const { js } = svelte.compile(source, { filename: file, generate: "server" });
  return { text: js.code, map: js.map };
}

/** {text, map, under} of a component, undefined where the project has no compiler of its kind. */
export function component(file, source, own, strip) {
  return file.endsWith(".vue") ? byVue(file, source, own, strip) : bySvelte(file, source);
}
