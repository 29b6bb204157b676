// Draws React components that a module exports, with the project's own React: in its own jsdom or happy-dom where it
// has one, with effects, clicks and input; else to text. Trusted, no packages of ours.
import { componentDrawer, isComponent } from "./component_views.mjs";
import { COMPONENT } from "./components.mjs";
import { packagesOf, resolved } from "./packages.mjs";

const CALLED = /^[A-Z]/;
const MARKED = /^Symbol\(react\.(?:memo|forward_ref|lazy)\)$/;
const EVENTS = 40; // clicked, filled and sent, for one component
const TURNS = 3; // of the event loop, between what is done and what comes of it
const turn = () => new Promise((done) => setImmediate(done));

/** Something that is drawn: a function of a name with a capital, or what memo() and forwardRef() give. */
export function isView(value, file) {
  if (isComponent(value, file)) return true;
  if (!/\.[jt]sx$/.test(file)) return false;
  if (typeof value === "function") return CALLED.test(value.name) && (!/^class\b/.test(String(value)) || Boolean(value.prototype?.isReactComponent));
  return MARKED.test(String(value?.$$typeof?.toString?.() ?? ""));
}

/** What draws components of this file; undefined where the project has no library that does. */
export async function drawer(file) {
  if (!(/\.[jt]sx$/.test(file) || COMPONENT.test(file)) || globalThis.Deno) return undefined;
  const { beside, hooked } = await import("./hooks.mjs");
  const found = async (name) => {
    try {
      const all = await import(beside(file, name));
      return all.default?.createElement || all.default?.createRoot ? all.default : all;
    } catch {
      return undefined;
    }
  };
  if (!hooked) return undefined;
  if (COMPONENT.test(file)) return componentDrawer(file, found, await window(found), poke);
  if (!resolved(file, "react")) return undefined;
  const page = await window(found);
  const held = page ? undefined : hold(packagesOf(file)); // before an import takes its copy
  const React = await found("react");
  if (typeof React?.createElement !== "function") return undefined;
  const around = [];
  for await (const wrap of surroundings(React, found)) around.push(wrap);
  const client = page && (await found("react-dom/client"));
  const server = client ? undefined : await found("react-dom/server");
  const dressed = (view, properties) =>
    around.reduce((inside, wrap) => wrap(inside), React.createElement(view, properties));
  if (client) globalThis.IS_REACT_ACT_ENVIRONMENT = true;
  const act = React.act ?? (await found("react-dom/test-utils"))?.act ?? ((does) => does());
  return async (view, properties) => {
    if (!client) return server && told(server, dressed(view, properties), held);
    const place = page.document.createElement("div");
    page.document.body.append(place);
    const root = client.createRoot(place, { onUncaughtError() {}, onCaughtError() {}, onRecoverableError() {} });
    const quietly = async (does) => {
      try {
        await act(async () => {
          await does();
          for (let n = 0; n < TURNS; n++) await turn();
        });
      } catch {
        // an effect, or a handler, that wants what is not there
      }
    };
    await quietly(() => root.render(dressed(view, properties)));
    await poke(page, place, quietly);
    await quietly(() => root.unmount());
    place.remove();
    return undefined;
  };
}

/** Keeps what a drawing to text never calls: effects, and the handlers of elements. */
function hold(found) {
  const held = [];
  const keep = (at, name, take) => {
    const real = at?.[name];
    if (typeof real !== "function") return;
    at[name] = (...words) => {
      take(words);
      return real(...words);
    };
  };
  const handlers = ([, properties]) => {
    for (const [name, f] of Object.entries(properties ?? {})) {
      if (/^(?:on[A-Z]|action$)/.test(name) && typeof f === "function") held.push(f);
    }
  };
  for (const name of ["react/jsx-runtime", "react/jsx-dev-runtime", "react"]) {
    const at = found(name); // an old React has fewer
    for (const make of ["jsx", "jsxs", "jsxDEV", "createElement"]) keep(at, make, handlers);
    for (const effect of ["useEffect", "useLayoutEffect", "useInsertionEffect"]) keep(at, effect, ([f]) => held.push(f));
  }
  return held;
}

async function told(server, element, held = []) {
  held.length = 0;
  server.renderToString(element);
  const event = { preventDefault() {}, stopPropagation() {}, persist() {}, key: "Enter", target: { value: "gate", checked: true }, currentTarget: { value: "gate" } };
  for (const f of new Set(held.splice(0, EVENTS))) {
    try {
      const end = await f(event);
      if (typeof end === "function") end(); // an effect's own end
    } catch {
      // it wants a page
    }
  }
}

/** Use what was drawn as somebody would: fill every field, press every button, send every form. */
async function poke(page, place, quietly) {
  const used = new Set();
  const fresh = () => [...place.querySelectorAll("input,textarea,select,button,a,form,[role=button],[role=tab]")].filter((one) => !used.has(one));
  for (let left = EVENTS, next = fresh(); left > 0 && next.length; next = fresh()) {
    for (const one of next.slice(0, left)) {
      used.add(one);
      left -= 1;
      await quietly(() => use(page, one));
    }
  }
}

function use(page, one) {
  const event = (name, Kind = page.Event) => one.dispatchEvent(new Kind(name, { bubbles: true, cancelable: true }));
  const kind = one.tagName.toLowerCase();
  if (kind === "form") return event("submit");
  const ticked = /^(?:checkbox|radio)$/.test(one.type);
  if (kind === "input" || kind === "textarea" || kind === "select") {
    if (!ticked) {
      // React looks at the value behind its own back.
      const slot = Object.getOwnPropertyDescriptor(Object.getPrototypeOf(one), "value");
      slot?.set?.call(one, kind === "select" ? (one.options?.[one.options.length - 1]?.value ?? "") : worthOf(one));
      event("input");
      event("change");
      event("focusout");
    }
    event("keydown", page.KeyboardEvent);
  }
  if (ticked || !/^(?:input|textarea|select)$/.test(kind)) event("click", page.MouseEvent ?? page.Event);
  return undefined;
}

function worthOf(field) {
  const worth = { email: "gate@example.invalid", number: "3", range: "3", date: "2024-01-02", url: "http://example.invalid/", tel: "5550100", color: "#102030" };
  return worth[field.type] ?? "gate";
}

/** What many components ask for above them, as far as the project has it: a router, a client of queries, a store. */
async function* surroundings(React, found) {
  const router = (await found("react-router-dom")) ?? (await found("react-router"));
  if (router?.MemoryRouter) yield (inside) => React.createElement(router.MemoryRouter, null, inside);
  const query = (await found("@tanstack/react-query")) ?? (await found("react-query"));
  if (query?.QueryClientProvider) {
    const client = new query.QueryClient({ defaultOptions: { queries: { retry: false }, mutations: { retry: false } } });
    yield (inside) => React.createElement(query.QueryClientProvider, { client }, inside);
  }
  const redux = await found("react-redux");
  const store = { getState: () => ({}), subscribe: () => () => {}, dispatch: (action) => action };
  if (redux?.Provider) yield (inside) => React.createElement(redux.Provider, { store }, inside);
  const chakra = await found("@chakra-ui/react");
  const value = chakra?.defaultSystem;
  if (chakra?.ChakraProvider) yield (inside) => React.createElement(chakra.ChakraProvider, { value }, inside);
  const mantine = await found("@mantine/core");
  if (mantine?.MantineProvider) yield (inside) => React.createElement(mantine.MantineProvider, null, inside);
  for (const [name, context, value] of nextContexts()) {
    const Provider = (await found(`next/dist/shared/lib/${name}.shared-runtime.js`))?.[context]?.Provider;
    if (Provider) yield (inside) => React.createElement(Provider, { value }, inside);
  }
  if (React.Suspense) yield (inside) => React.createElement(React.Suspense, { fallback: null }, inside);
}

/** What Next hands to its hooks: a router that goes nowhere, and a value for whatever a path's parts are called. */
function nextContexts() {
  const nowhere = Object.fromEntries(["push", "replace", "refresh", "back", "forward", "prefetch", "reload", "beforePopState"].map((name) => [name, () => {}]));
  const parts = new Proxy({}, { get: (_, name) => (typeof name === "string" && name !== "then" && name !== "toJSON" ? "gate" : undefined) });
  const events = { on() {}, off() {}, emit() {} };
  return [
    ["app-router-context", "AppRouterContext", nowhere],
    ["hooks-client-context", "PathParamsContext", parts],
    ["hooks-client-context", "PathnameContext", "/gate"],
    ["hooks-client-context", "SearchParamsContext", new URLSearchParams("q=gate&page=1")],
    ["router-context", "RouterContext", { ...nowhere, events, query: parts, pathname: "/gate", asPath: "/gate", route: "/gate", isReady: true }],
  ];
}

const GLOBALS = [
  "document", "HTMLElement", "HTMLInputElement", "HTMLTextAreaElement", "HTMLSelectElement", "HTMLIFrameElement", "Element",
  "Node", "Text", "SVGElement", "DocumentFragment", "MutationObserver", "CustomEvent", "KeyboardEvent", "MouseEvent",
  "HTMLFormElement", "HTMLButtonElement", "HTMLAnchorElement", "HTMLDivElement", "FormData", "Event", "InputEvent", "Image",
  "localStorage", "sessionStorage", "getComputedStyle", "location", "history", "DOMParser", "File", "FileReader", "NodeFilter",
];

/** A page to draw in: the project's jsdom or happy-dom, laid open as a browser's globals are. */
async function window(found) {
  let page;
  const jsdom = await found("jsdom");
  if (jsdom?.JSDOM) page = new jsdom.JSDOM("<!doctype html><body></body>", { url: "http://localhost/", pretendToBeVisual: true }).window;
  else {
    const happy = await found("happy-dom");
    if (happy?.Window) page = new happy.Window({ url: "http://localhost/" });
  }
  if (!page) return undefined;
  page.matchMedia ??= (media) => ({ media, matches: false, addListener() {}, removeListener() {}, addEventListener() {}, removeEventListener() {} });
  page.scrollTo = () => {};
  for (const name of ["IntersectionObserver", "ResizeObserver"]) {
    page[name] ??= class {
      observe() {}
      unobserve() {}
      disconnect() {}
    };
  }
  lay("window", page);
  lay("self", page);
  for (const name of [...GLOBALS, "matchMedia", "IntersectionObserver", "ResizeObserver", "requestAnimationFrame", "cancelAnimationFrame"]) {
    if (page[name] !== undefined) lay(name, typeof page[name] === "function" && /^[a-z]/.test(name) ? page[name].bind(page) : page[name]);
  }
  lay("navigator", page.navigator);
  return page;
}

function lay(name, value) {
  try {
    Object.defineProperty(globalThis, name, { value, configurable: true, writable: true });
  } catch {
    // the engine's own, which stays
  }
}
