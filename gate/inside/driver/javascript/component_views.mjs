// Draws Vue's and Svelte's components with the project's own library: on a page where there is one (views.mjs), else to
// text. Then what an instance holds is called, as an event would call it. Trusted, no packages of ours.
import { resolved } from "./packages.mjs";

const MOST = 60; // functions of one instance
const EVENT = { preventDefault() {}, stopPropagation() {}, key: "Enter", target: { value: "gate", checked: true, files: [] } };

/** Is it what a component's file exports? */
export const isComponent = (value, file) =>
  /\.vue$/.test(file) ? value !== null && typeof value === "object" && Boolean(value.render || value.setup || value.data || value.methods) : /\.svelte$/.test(file) && typeof value === "function";

/** What draws components of this file; undefined where the project has no library for them. `found` imports a package as
 * the file sees it; `page`: a window, if any; `poke` uses what was drawn as somebody would. */
export async function componentDrawer(file, found, page, poke) {
  if (file.endsWith(".svelte")) {
    const server = resolved(file, "svelte") && (await found("svelte/server"));
    return server?.render ? async (view, properties) => void server.render(view, { props: properties }).body : undefined;
  }
  const vue = resolved(file, "vue") && (await found("vue"));
  if (!vue?.createApp) return undefined;
  const parts = await surroundings(found);
  const server = page ? undefined : ((await found("vue/server-renderer")) ?? (await found("@vue/server-renderer")));
  return async (view, properties) => {
    const held = [];
    const app = (page ? vue.createApp : vue.createSSRApp)(view, given(view, properties));
    app.config.warnHandler = app.config.errorHandler = () => {};
    app.mixin({
      created() {
        if (this.$options.__file === view.__file && this.$options.setup === view.setup && this.$options.render === view.render) held.push(this);
      },
    });
    for (const part of parts) part(app);
    if (page) {
      const place = page.document.createElement("div");
      page.document.body.append(place);
      app.mount(place);
      await poke(page, place, async (does) => does());
      await use(held[0], view);
      app.unmount();
      place.remove();
    } else {
      await server?.renderToString?.(app);
      await use(held[0], view);
    }
  };
}

/** Properties that the component declares, where nothing was given for them. */
function given(view, properties) {
  const plain = { String: "gate", Number: 3, Boolean: true, Array: [], Object: {}, Function: () => {}, Date: new Date(0) };
  const declared = Array.isArray(view.props) ? view.props.map((name) => [name, null]) : Object.entries(view.props ?? {});
  const made = declared.map(([name, kind]) => [name, plain[[kind?.type ?? kind].flat()[0]?.name] ?? "gate"]);
  return { ...Object.fromEntries(made), ...properties };
}

/** Everything that a template could call. */
async function use(instance, view) {
  if (!instance) return;
  const state = instance.$?.setupState ?? {};
  const ours = (name) => typeof state[name] === "function" && !/^(?:class\b|[A-Z])/.test(`${state[name]}`.slice(0, 6));
  const names = new Set([...Object.keys(view.methods ?? {}), ...Object.keys(state).filter(ours)]);
  for (const name of [...names].slice(0, MOST)) await quietly(() => (state[name] ?? instance[name])(EVENT));
  for (const name of Object.keys(view.computed ?? {}).slice(0, MOST)) await quietly(() => instance[name]);
  for (const watcher of Object.values(view.watch ?? {}).slice(0, MOST)) {
    const act = watcher?.handler ?? watcher;
    if (typeof act === "function") await quietly(() => act.call(instance, "gate", ""));
  }
  for (const hook of ["beforeMount", "mounted", "updated", "beforeUnmount", "unmounted"]) {
    if (typeof view[hook] === "function") await quietly(() => view[hook].call(instance));
  }
}

async function quietly(act) {
  try {
    await act();
  } catch {
    // it wants what is not there
  }
}

/** What components ask for above them, as far as the project has it: a router, stores, translations. */
async function surroundings(found) {
  const parts = [];
  const router = await found("vue-router");
  if (router?.createRouter) {
    const nothing = { render: () => null };
    const routes = [{ path: "/:any(.*)*", component: nothing }];
    parts.push((app) => app.use(router.createRouter({ history: router.createMemoryHistory(), routes })));
  }
  const pinia = await found("pinia");
  if (pinia?.createPinia) parts.push((app) => app.use(pinia.createPinia()));
  const words = await found("vue-i18n");
  const quiet = { legacy: false, locale: "en", messages: { en: {} }, missingWarn: false, fallbackWarn: false };
  if (words?.createI18n) parts.push((app) => app.use(words.createI18n(quiet)));
  parts.push((app) => {
    const more = app.config.globalProperties;
    for (const name of ["$t", "$tc", "$d", "$n"]) more[name] ??= (text) => String(text);
  });
  return parts;
}
