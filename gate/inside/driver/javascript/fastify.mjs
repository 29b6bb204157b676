// Routes of Fastify: of applications that a module exports, and of plugins, which are registered with an application of
// ours. Asked by its own `inject`, without a socket. Trusted, no packages of ours.
import { packagesOf, resolved, replace } from "./packages.mjs";

const ROUTES = Symbol.for("gate.routes");
const PLUGIN = /^(?:async\s+)?(?:function\s*\w*\s*)?\(?\s*(?:fastify|app|server|instance|api|router)\b/;
const REGISTERS = /\.(?:get|post|put|patch|delete|route|register)\(/;

/** Listen to every application that is made, before the module is imported; each is added to `applications`. */
export function listen(file, applications) {
  const all = packagesOf(file)("fastify");
  const make = all?.default ?? all;
  if (typeof make !== "function" || all[ROUTES]) return;
  const wrapped = (...words) => {
    const app = make(...words);
    const routes = [];
    app.addHook("onRoute", ({ method, url, handler, schema }) => routes.push({ method: [method].flat()[0], url, handler, schema }));
    app[ROUTES] = routes;
    applications.add(app);
    return app;
  };
  const told = Object.assign(wrapped, make, { default: wrapped, fastify: wrapped, [ROUTES]: make });
  replace(resolved(file, "fastify"), told);
}

/** The application of ours with a module's plugin, or what it exports as an application; undefined for neither. */
export async function fastify(value, file, source) {
  if (typeof value?.inject === "function" && Array.isArray(value[ROUTES])) {
    await value.ready();
    return { app: value, routes: value[ROUTES] };
  }
  if (typeof value !== "function" || !PLUGIN.test(source(value)) || !REGISTERS.test(source(value))) return undefined;
  try {
    const app = packagesOf(file)("fastify")?.();
    if (!Array.isArray(app?.[ROUTES])) return undefined;
    app.register(value);
    await app.ready();
    return app[ROUTES].length ? { app, routes: app[ROUTES] } : undefined;
  } catch {
    return undefined; // it wants decorators, or plugins, of the application around it
  }
}
