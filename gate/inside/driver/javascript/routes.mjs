// Asks web applications and routers that a module exports, in this process and without a socket: Express and its like
// by their own `handle`, Koa by its callback, Fastify by `inject`, Hono by `request`, handlers named GET, POST ... by a
// Request. Each request is made with every field that the code looks up, with none, and with texts of the code as their
// values. Trusted, no packages of ours.
import http from "node:http";
import path from "node:path";
import process from "node:process";
import { Duplex } from "node:stream";
import { programOf, start } from "./deployed.mjs";
import { entriesOf, listenToServers } from "./entries.mjs";
import { fastify, listen as listenToFastify } from "./fastify.mjs";
import { isMounted, listen as listenToHono } from "./hono.mjs";
import { cookiesIn, headersIn, insideOf, namesIn, wordsOf } from "./names.mjs";
import { during, formOf as actionForm, isActions, listen as listenToNext, loaded, redirected, routeFilesBeside } from "./next.mjs";
import { textOf } from "./coverage.mjs";
import { packagesOf } from "./packages.mjs";
import { contentOf } from "./answers.mjs";
import { asForm, CREDENTIAL, fields, filled, flatQuery, formOf, headersOf, parsed, told, userOf, wantsForm, worth, worthIn } from "./request_values.mjs";

const MOST = 40; // routes of one module
/** Names of functions that give an application. */
const MAKES = /^(?:(?:build|create|make|init|setup|get|start|new|bootstrap|configure)\w*|app|server|\w+App|\w+Server|\w+Router)$/;
const QUERIES = /\bquery(?:string)?\b|searchParams|nextUrl|\.url\b|URLSearchParams/i;
const METHODS = ["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS"];
export const applications = new Set(); // made while the module was loaded: most programs export none
const mounts = new WeakMap(); // of Express: a layer -> the path that it was mounted at
/** Learn what frameworks do not keep. Before the module is imported. */
export async function listen(file, tools) {
  if (tools?.all) await listenToHono(file, applications);
  if (tools?.all) listenToNext(file, { cookie: (name, how) => worthIn("cookies", name, tools, how), headers: (how) => headersOf(how, tools) });
  listenToFastify(file, applications);
  listenToServers();
  const found = packagesOf(file);
  const keep = (at, name) => {
    const real = at?.[name];
    if (typeof real !== "function") return;
    at[name] = function (...words) {
      applications.add(this);
      return real.apply(this, words);
    };
  };
  const express = found("express");
  const Koa = found("koa");
  keep(express?.application, "init");
  keep((Koa?.default ?? Koa)?.prototype, "callback");
  const Router = express?.Router;
  for (const at of [Router, Router?.prototype]) {
    const real = at?.use;
    if (typeof real !== "function") continue;
    at.use = function (...words) {
      const before = this.stack?.length ?? 0;
      const end = real.apply(this, words);
      for (const layer of this.stack?.slice(before) ?? []) mounts.set(layer, typeof words[0] === "string" ? words[0] : "");
      return end;
    };
  }
}

/** What a module exports, as [name, act] for each request. */
export async function requests(space, file, tools) {
  const ways = [{ full: true }, { full: false }, ...wordsOf(tools.own).map((word) => ({ full: true, word }))];
  return (await routesOf(space, file, tools)).flatMap(({ name, send }) => ways.map((way) => [name, () => send({ ...way, direct: true })]));
}

/** The routes that a module exports, as {name, entry, address, send, told}: `entry` is method and path. `tools` are the
 * runner's: `value` of a word, the text of the module (`own`; `all`: routes whose handlers stand elsewhere, too, and
 * none without what stands in front of it), `source` of a function. send({full, direct, values, word, heard}) makes one
 * request and gives {status, headers, body, request}: with every field that is looked up or none, with a handler that
 * was not reached called by itself, with `values` ({query: {name: text}}) or one `word` in place of others; fields that
 * are looked up are added to `heard`, as [source, name]. `raw` is the body as it is sent, `headers` are other headers
 * (null: none of that name), `as` which of `tools.users` asks, `bare` leaves away what stands in for a log-in. */
export async function routesOf(space, file, tools, bounded = (promise) => promise) {
  const out = [];
  const seen = new Set();
  const look = async (value, name, depth) => {
    if (value === null || (typeof value !== "object" && typeof value !== "function") || seen.has(value)) return;
    seen.add(value);
    const found = express(value, file, tools) ?? koa(value, file, tools) ?? hono(value, tools) ?? (await ofFastify(value, file, tools));
    if (found) out.push(...found.map((route) => ({ ...route, name: `${name} ${route.name}`, entry: route.name })));
    else if (depth < 2 && typeof value === "object" && !Array.isArray(value)) {
      for (const key of Object.keys(value)) await look(member(value, key), `${name}.${key}`, depth + 1);
    }
  };
  const program = tools.all && !applications.size && programOf(file, tools.tree.files);
  if (program) await start(program, () => applications.size > 0, bounded);
  for (const app of program ? applications : []) if (!isMounted(app)) await look(app, "app", 0);
  if (program && out.length) tools.program = program;
  if (!program || !out.length) {
    for (const key of Object.keys(space)) await look(member(space, key), key, 0);
    for (const app of applications) if (!isMounted(app)) await look(app, "app", 0);
  }
  if (!out.length && tools.all) {
    for (const key of Object.keys(space)) {
      const make = member(space, key);
      if (typeof make !== "function" || !(MAKES.test(key) || MAKES.test(make.name)) || /^class\b/.test(tools.source(make))) continue;
      try {
        await look(await bounded(make(...Array.from({ length: make.length }, () => fields(tools)))), key, 0);
      } catch {
        // it wants more than we can give
      }
    }
    for (const app of applications) if (!isMounted(app)) await look(app, "app", 0);
  }
  for (const method of METHODS) {
    if (typeof space[method] === "function") out.push(...asked(method, space[method], file, tools));
  }
  if (tools.all && typeof space.default === "function" && /\/pages\/api\//.test(file)) out.push(...ofPages(space.default, file, tools));
  if (tools.all && isActions(tools.own)) out.push(...actions(space, tools));
  if (!out.length && tools.all) out.push(...entriesOf(space, tools, applications, { filled, written, answered, replyOf, told, namesIn }));
  const headers = tools.all ? headersIn(`${tools.own}\n${tools.tree?.code ?? ""}`) : [];
  tools.credentials = headers.filter((name) => CREDENTIAL.test(name));
  return out.slice(0, MOST).map((route) => whole(route, headers, tools));
}

function member(object, key) {
  try {
    return object[key];
  } catch {
    return undefined;
  }
}

// -- Express, connect, and whatever keeps its routes in a stack --------------------------------------
function express(value, file, tools) {
  const router = Array.isArray(value.stack) ? value : (member(value, "_router") ?? (value.handle ? member(value, "router") : undefined));
  if (!Array.isArray(router?.stack) || typeof (value.handle ?? value) !== "function" || value.routes) return undefined;
  const out = [];
  const guards = [];
  const walk = (at, ask, prefix, place) => {
    for (const [n, layer] of at.stack.slice(0, 200).entries()) {
      const own = place ?? n;
      if (place === undefined && !layer.route && !layer.handle?.stack && mounts.get(layer)) guards.push({ path: mounts.get(layer), at: n });
      if (layer.route) {
        const steps = layer.route.stack ?? [];
        if (!tools.all && !steps.some((step) => tools.own.includes(tools.source(step.handle)))) continue;
        const methods = Object.keys(layer.route.methods ?? {}).map((m) => m.toUpperCase());
        const method = methods.find((m) => METHODS.includes(m)) ?? "GET";
        const [said] = [layer.route.path].flat();
        const path = typeof said === "string" ? prefix + said : said;
        out.push({
          guards,
          at: own,
          name: `${method} ${path}`,
          address: (how) => [method, typeof path === "string" ? filled(path, tools, how) : "/"],
          send: (how) => through(ask, steps, method, typeof path === "string" ? filled(path, tools, how) : "/", sentTo(ask, how), tools),
        });
      } else if (Array.isArray(layer.handle?.stack)) {
        if (mounts.has(layer)) walk(layer.handle, ask, prefix + mounts.get(layer).replace(/\/$/, ""), own);
        else if (!tools.all) walk(layer.handle, layer.handle, "", own);
      }
    }
  };
  walk(router, around(value, file), "");
  return out.slice(0, MOST);
}

/** A body as the application's parsers take it, and a query as it reads one. */
function sentTo(ask, how) {
  let out = how;
  const names = parsersOf(ask);
  if (how.raw !== undefined && !how.headers?.["content-type"] && names.has("urlencodedParser") && !names.has("jsonParser")) out = { ...out, form: true, raw: formOf(parsed(how.raw)) };
  if (names.has("cookieParser")) out = { ...out, parsesCookies: true };
  let nested = false;
  try {
    nested = ask.get?.("query parser fn")?.("a[b]=c")?.a?.b === "c";
  } catch {
    // no application
  }
  return nested ? out : { ...out, values: flatQuery(out.values) };
}

/** Names of what stands in an application's stacks. */
function parsersOf(value, depth = 0, found = new Set()) {
  const router = Array.isArray(value?.stack) ? value : (member(value, "_router") ?? member(value, "router"));
  for (const layer of depth < 4 && Array.isArray(router?.stack) ? router.stack : []) {
    found.add(layer.name);
    if (layer.route) for (const step of layer.route.stack ?? []) found.add(step.name);
    else if (layer.handle?.stack) parsersOf(layer.handle, depth + 1, found);
  }
  return found;
}

/** A router by itself, in an application of the project's Express: answers have its methods then. */
function around(value, file) {
  if (value.settings) return value;
  const make = packagesOf(file)("express");
  try {
    const app = make().use(value);
    applications.delete(app);
    return app;
  } catch {
    return value;
  }
}

async function through(ask, steps, method, url, how, tools) {
  const reached = new Set();
  const real = steps.map((step) => step.handle);
  steps.forEach((step, n) => {
    step.handle = new Proxy(real[n], {
      apply(f, self, args) {
        reached.add(f);
        return Reflect.apply(f, self, args);
      },
    });
  });
  let reply;
  try {
    reply = await answered((req, res, next) => (ask.handle ?? ask).call(ask, req, res, next), method, url, how, tools, !ask.settings);
  } finally {
    steps.forEach((step, n) => (step.handle = real[n]));
  }
  for (const handle of how.direct ? real : []) {
    // behind a log-in that refused
    if (!reached.has(handle) && tools.own.includes(tools.source(handle))) await answered(handle, method, url, how, tools, true);
  }
  return reply;
}

/** One request, until it is answered, handed on or refused; `alone`: by a handler that no application calls. */
function answered(handle, method, url, how, tools, alone = false) {
  return new Promise((end, failed) => {
    const parts = [];
    const socket = new Duplex({
      read() {},
      write(part, _, next) {
        parts.push(part);
        next();
      },
    });
    Object.assign(socket, { remoteAddress: "127.0.0.1", encrypted: false, setTimeout() {}, setKeepAlive() {}, setNoDelay() {} });
    const req = new http.IncomingMessage(socket);
    Object.assign(req, { method, url, httpVersion: "1.1", httpVersionMajor: 1, httpVersionMinor: 1, complete: true });
    const sent = headersOf(how, tools);
    if (how.form) sent["content-type"] = "application/x-www-form-urlencoded";
    if (how.raw !== undefined) sent["content-length"] = String(Buffer.byteLength(how.raw));
    Object.assign(req.headers, sent);
    for (const [name, value] of Object.entries(sent)) req.rawHeaders.push(name, value);
    if (how.raw !== undefined) req.push(how.raw);
    req.push(null);
    const given = (source) => (how.full ? fields(tools, source, how) : {});
    const kept = { save: (f) => f?.(), destroy: (f) => f?.(), regenerate: (f) => f?.() };
    const set = { query: given("query"), ...(how.parsesCookies ? {} : { cookies: given("cookies") }) };
    if (how.parsesCookies) cookiesOf(req, (own) => (how.full ? fields(tools, "cookies", { ...how, values: { cookies: { ...own, ...how.values?.cookies } } }) : own));
    if (how.raw === undefined) Object.assign(set, { body: given("body"), _body: true });
    else set.body = how.form ? {} : parsed(how.raw); // a parser, where there is one, puts its own there
    if (!how.bare) Object.assign(set, { user: userOf(how, tools), session: Object.assign(userOf(how, tools), kept, { user: userOf(how, tools) }) });
    for (const [name, value] of Object.entries(set)) {
      Object.defineProperty(req, name, { value, writable: true, configurable: true, enumerable: true });
    }
    if (!how.bare) req.isAuthenticated = () => true;
    req.params = fields(tools); // of a handler that is called by itself: a router sets its own
    const res = new http.ServerResponse(req);
    const done = () => end({ status: res.statusCode, ...contentOf(parts, res), request: told(method, url, how) });
    res.assignSocket(socket);
    res.once("finish", done);
    res.once("close", done);
    // Own methods would hide those that Express gives to an answer.
    for (const [name, act] of Object.entries(alone ? plainAnswers(res) : {})) res[name] ??= act;
    try {
      Promise.resolve(handle(req, res, done)).then((given) => (res.writableEnded || given !== undefined) && done(), failed);
    } catch (error) {
      failed(error);
    }
  });
}


/** Cookies that a parser of the program's puts there: it tells signed ones apart, and would leave ours alone. */
function cookiesOf(req, completed) {
  let kept;
  Object.defineProperty(req, "cookies", { get: () => kept, set: (own) => (kept = completed(own)), configurable: true, enumerable: true });
}

/** What Express adds to an answer, for a handler that is called without it. */
const plainAnswers = (res) => ({
  status(code) {
    res.statusCode = code;
    return res;
  },
  send: (body) => res.end(typeof body === "string" ? body : JSON.stringify(body ?? "")),
  json: (body) => res.end(JSON.stringify(body ?? null)),
  sendStatus: (code) => res.status(code).end(),
  redirect: (...words) => res.writeHead(302, { location: String(words.at(-1)) }).end(),
  render: (...words) => res.end(String(words[0])),
  cookie: () => res,
  clearCookie: () => res,
  set: () => res,
  header: () => res,
  type: () => res,
  locals: {},
});

// -- Fastify ----------------------------------------------------------------------------------------
async function ofFastify(value, file, tools) {
  const found = await fastify(value, file, tools.source);
  return found?.routes.slice(0, MOST).map(({ method, url: path, handler, schema }) => {
    const said = Object.keys({ ...schema?.body?.properties, ...(schema?.querystring ?? schema?.query)?.properties });
    const names = [...new Set([...said, ...namesIn(tools.source(handler)), ...(tools.all ? namesIn(tools.own) : [])])];
    const address = (how) => [method, filled(path, tools, how)];
    const send = async (how) => {
      const [url, init] = written(...address(how), names, how, tools);
      const search = new URL(url).search;
      const { statusCode, headers, body } = await found.app.inject({ method, url: filled(path, tools, how) + search, headers: init.headers, payload: init.body });
      return { status: statusCode, headers, body, request: told(...address(how), how) };
    };
    return { name: `${method} ${path}`, address, send };
  });
}

// -- Koa ----------------------------------------------------------------------------------------------
function koa(value, file, tools) {
  if (typeof value.callback === "function" && Array.isArray(value.middleware)) {
    const routers = value.middleware.map((step) => step.router).filter((router) => Array.isArray(router?.stack));
    return ofKoa(value, routers, tools);
  }
  if (typeof value.routes !== "function" || !Array.isArray(value.stack)) return undefined;
  const all = packagesOf(file)("koa");
  const Koa = all?.default ?? all;
  try {
    return ofKoa(new Koa().use(value.routes()), [value], tools);
  } catch {
    return undefined;
  }
}

function ofKoa(app, routers, tools) {
  app.silent = true;
  const routes = routers.flatMap((router) => router.stack.map((layer) => [layer.methods?.find((m) => m !== "HEAD") ?? "GET", layer.path ?? "/"]));
  return [...(routers.length ? [] : [["GET", "/"]]), ...routes].slice(0, MOST).map(([method, path]) => ({
    name: `${method} ${path}`,
    address: (how) => [method, filled(path, tools, how)],
    send(how) {
      const first = (ctx, next) => {
        ctx.request.body = how.raw !== undefined ? parsed(how.raw) : how.full ? fields(tools, "body", how) : {};
        Object.defineProperty(ctx.request, "query", { value: how.full ? fields(tools, "query", { ...how, values: flatQuery(how.values) }) : {}, configurable: true });
        if (!how.bare) ctx.state.user = userOf(how, tools);
        return next();
      };
      app.middleware.unshift(first);
      const answer = app.callback();
      app.middleware.shift();
      return answered(answer, method, filled(path, tools, how), how, tools);
    },
  }));
}

// -- Hono, and handlers of a Request --------------------------------------------------------------------
function hono(value, tools) {
  if (typeof value.request !== "function" || !Array.isArray(value.routes) || typeof value.fetch !== "function") return undefined;
  const isForm = wantsForm(tools.tree?.code ?? tools.own);
  const guards = value.routes.map(({ method, path }, at) => ({ method, path, at })).filter(({ method, path }) => method === "ALL" && path.length > 2);
  return value.routes.slice(0, MOST).map(({ method, path, handler }, at) => {
    const names = [...new Set([...namesIn(tools.source(handler)), ...(tools.all ? namesIn(tools.own) : [])])];
    const verb = METHODS.includes(method) ? method : "GET";
    const send = async (asked) => {
      const how = isForm ? asForm(asked) : asked;
      const [url, init] = written(verb, filled(path, tools, how), names, how, tools);
      return replyOf(await value.request(url, init), told(verb, filled(path, tools, how), how));
    };
    return { name: `${verb} ${path}`, address: (how) => [verb, filled(path, tools, how)], send, guards: method === "ALL" ? [] : guards, at };
  });
}

async function replyOf(response, request) {
  const body = typeof response?.text === "function" ? (await response.text()).slice(0, 200_000) : "";
  return { status: response?.status ?? 0, headers: Object.fromEntries(response?.headers ?? []), body, request };
}

function written(method, path, names, how, tools) {
  const { full, values = {}, heard, word, raw } = how;
  const bodied = method !== "GET" && method !== "HEAD";
  const code = `${tools.own}\n${tools.tree?.code ?? ""}`;
  const asks = bodied && tools.tree && !QUERIES.test(code) ? ["body"] : [bodied ? "body" : "query", "query"];
  for (const name of full ? names : []) for (const source of new Set(asks)) heard?.push([source, name]);
  const cookies = tools.all ? cookiesIn(`${tools.own}\n${tools.tree?.code ?? ""}`) : [];
  for (const name of full ? cookies : []) heard?.push(["cookies", name]);
  const said = Object.fromEntries((full ? names : []).map((name) => [name, word ?? worth(name, tools)]));
  const url = new URL(path, "http://localhost/");
  const asked = Object.fromEntries(Object.keys(said).map((name) => [name, word ?? worthIn("query", name, tools, how)]));
  for (const [name, value] of Object.entries({ ...asked, ...values.query })) url.searchParams.set(name, String(value));
  const headers = headersOf(how, tools, cookies);
  return [url.href, { method, headers, body: bodied ? (raw ?? JSON.stringify({ ...said, ...values.body })) : undefined }];
}

/** A function that is named as a method is a handler of Next, SvelteKit, Astro or Remix: it is given a Request. */
function asked(method, handler, file, tools) {
  const Kind = packagesOf(file)("next/server")?.NextRequest ?? Request; // else the engine's own
  const place = placeOf(file);
  const send = async (how) => {
    const [url, init] = written(method, place, namesIn(tools.own), how, tools);
    const request = new Kind(url, init);
    const params = fields(tools, "params", how);
    const more = { params: lazily(params), request, url: new URL(url), locals: how.bare ? {} : userOf(how, tools) };
    const wantsAll = /^\s*(?:async\s*)?(?:function\s*\w*)?\s*\(\s*\{/.test(tools.source(handler));
    const asked = told(method, place, how);
    try {
      return await replyOf(await during(how, () => handler(wantsAll ? more : request, more)), asked);
    } catch (error) {
      return { status: 307, headers: redirected(error), body: "", request: asked };
    }
  };
  return [{ name: `${method} ${place}`, entry: `${method} ${place}`, address: () => [method, place], send }];
}

/** Routes of files beside that one that change something: they make what its own are asked for. */
export async function routesBeside(file, tools) {
  const out = [];
  for (const other of routeFilesBeside(file)) {
    const space = await loaded(other);
    const own = textOf(other);
    for (const method of ["POST", "PUT", "PATCH"]) if (typeof space[method] === "function") out.push(...asked(method, space[method], other, { ...tools, own }));
  }
  return out.map((route) => whole(route, tools.credentials ?? [], tools));
}

/** A route with what is asked of each: the headers that it may read, names inside of a field, itself as it is told. */
function whole(route, headers, tools) {
  return { ...route, headers, inside: (name) => insideOf(name, tools.tree?.code ?? ""), told: (how) => told(...route.address({ values: how.values }), how) };
}

/** A handler of `pages/api`: parts of its address are in the query. */
function ofPages(handler, file, tools) {
  const place = placeOf(file);
  const methods = METHODS.filter((method) => new RegExp(`["'\`]${method}["'\`]`).test(tools.own));
  return (methods.length ? methods : ["GET", "POST"]).map((method) => ({
    name: `${method} ${place}`,
    entry: `${method} ${place}`,
    address: () => [method, place],
    send: (how) => during(how, () => answered(handler, method, place, how, tools, true)),
  }));
}

/** Functions of a file of server actions: a browser calls them, with any arguments. */
function actions(space, tools) {
  return Object.keys(space).filter((name) => typeof space[name] === "function").map((name) => {
    const act = space[name];
    const names = (/^[^(]*\(([^)]*)\)/.exec(tools.source(act))?.[1] ?? "").split(",").map((one) => one.trim().split(/[=:\s]/)[0]).filter(Boolean);
    const entry = `POST action ${name}`;
    const send = (how) => during(how, async () => {
      const body = fields(tools, "body", { ...how, values: { body: { ...(how.raw === undefined ? {} : parsed(how.raw)), ...how.values?.body } } });
      const given = names.map((one) => (/form|^fd$/i.test(one) ? actionForm(body) : /prev|state/i.test(one) ? {} : /^\w+$/.test(one) ? body[one] : body));
      const request = told("POST", `/#${name}`, how);
      try {
        const said = await act(...given);
        return { status: 200, headers: {}, body: JSON.stringify(said ?? null) ?? "", request };
      } catch (error) {
        return { status: 303, headers: redirected(error), body: "", request };
      }
    });
    return { name: entry, entry, address: () => ["POST", `/#${name}`], send };
  });
}

/** An object that is awaited where it is a promise, and has its fields where it is none. */
function lazily(params) {
  const promise = Promise.resolve(params);
  return new Proxy(promise, {
    get: (_, name) => (name === "then" ? promise.then.bind(promise) : params[name]),
  });
}

/** Where frameworks that route by files put a handler: app/api/users/[id]/route.ts is /api/users/gate. */
function placeOf(file) {
  const inside = path.relative(process.cwd(), file).split(path.sep).join("/");
  const at = /(?:^|\/)(?:app|routes|pages)\/(.*?)\/?(?:route|\+server|index)?\.\w+$/.exec(`/${inside}`)?.[1] ?? "api/gate";
  const steps = at.split("/").filter((step) => step && !/^\(.*\)$/.test(step));
  return `/${steps.map((step) => (/^\[/.test(step) ? "gate" : step)).join("/")}`;
}

/** An object that tells which of its fields are looked up, as a body. */
export const recorder = (tools, how) => fields(tools, "body", how);
/** What another's service answers: every field, with values by their names. */
export const answerOf = (tools) => fields(tools);
