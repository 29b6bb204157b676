// Asks web applications and routers that a module exports, in this process and without a socket: Express and its like
// by their own `handle`, Koa by its callback, Hono by `request`, handlers named GET, POST ... by a Request. Each request
// is made twice: with every field that the code looks up, and with none. Trusted, no packages of ours.
import http from "node:http";
import Module from "node:module";
import { Duplex } from "node:stream";

const MOST = 40; // routes of one module
const METHODS = ["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS"];
const LOOKED_UP = [
  /\b(?:body|query|params|data|input|payload)\??\.(\w{1,40})/g,
  /\.(?:get|getAll|query|param|has)\(\s*["'`]([\w-]{1,40})["'`]/g,
  /\{([^{}]{1,400})\}\s*=\s*(?:await\s+)?[\w.]*\b(?:body|query|params|json|req|request|parse\w*)\b/g,
];

/** What a module exports, as [name, act] for each request; `tools` are the runner's: `value` of a word, the text of
 * the module (`own`), `source` of a function. */
export function requests(space, file, tools) {
  const out = [];
  const seen = new Set();
  const look = (value, name, depth) => {
    if (value === null || (typeof value !== "object" && typeof value !== "function") || seen.has(value)) return;
    seen.add(value);
    const found = express(value, tools) ?? koa(value, file, tools) ?? hono(value, tools);
    if (found) out.push(...found.map(([route, act]) => [`${name} ${route}`, act]));
    else if (depth < 2 && typeof value === "object" && !Array.isArray(value)) {
      for (const key of Object.keys(value)) look(member(value, key), `${name}.${key}`, depth + 1);
    }
  };
  for (const key of Object.keys(space)) look(member(space, key), key, 0);
  for (const method of METHODS) {
    if (typeof space[method] === "function") out.push(...asked(method, space[method], file, tools));
  }
  return out.slice(0, MOST * 2);
}

function member(object, key) {
  try {
    return object[key];
  } catch {
    return undefined;
  }
}

// -- values -----------------------------------------------------------------------------------------
/** An object that has every field that is looked up, with values by their names. */
export function fields(tools) {
  const known = Object.create(null);
  return new Proxy(known, {
    get(_, name) {
      if (typeof name === "symbol" || name === "then" || name === "toJSON") return undefined;
      if (name in Object.prototype) return Object.prototype[name];
      return (known[name] ??= worth(name, tools));
    },
    has: (_, name) => typeof name === "string",
  });
}

function worth(name, tools) {
  const value = tools.value(name);
  return typeof value === "function" ? "gate" : value;
}

/** Names of fields that a text looks up; a hint of what to send, no more. */
function namesIn(text) {
  const found = new Set();
  for (const pattern of LOOKED_UP) {
    for (const [, words] of text.matchAll(pattern)) {
      for (const word of words.split(",")) {
        const name = word.split(/[:=]/)[0].trim();
        if (/^[\w-]{1,40}$/.test(name)) found.add(name);
      }
    }
  }
  return [...found].slice(0, 30);
}

const filled = (path, tools) => String(path).replace(/[:*](\w+)(?:\([^)]*\))?[?*+]?|\{\/?:?(\w+)\}|\*/g, (_, a, b) => encodeURIComponent(String(worth(a ?? b ?? "id", tools))));

// -- Express, connect, and whatever keeps its routes in a stack --------------------------------------
function express(value, tools) {
  const router = Array.isArray(value.stack) ? value : (member(value, "_router") ?? (value.handle ? member(value, "router") : undefined));
  if (!Array.isArray(router?.stack) || typeof (value.handle ?? value) !== "function" || value.routes) return undefined;
  const out = [];
  const walk = (at, ask) => {
    for (const layer of at.stack.slice(0, 200)) {
      if (layer.route) {
        const steps = layer.route.stack ?? [];
        if (!steps.some((step) => tools.own.includes(tools.source(step.handle)))) continue;
        const methods = Object.keys(layer.route.methods ?? {}).map((m) => m.toUpperCase());
        const method = methods.find((m) => METHODS.includes(m)) ?? "GET";
        const path = [layer.route.path].flat()[0];
        const url = typeof path === "string" ? filled(path, tools) : "/";
        for (const full of [true, false]) {
          out.push([`${method} ${url}`, () => through(ask, steps, method, url, full, tools)]);
        }
      } else if (Array.isArray(layer.handle?.stack)) walk(layer.handle, layer.handle);
    }
  };
  walk(router, value);
  return out.slice(0, MOST * 2);
}

async function through(ask, steps, method, url, full, tools) {
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
  try {
    await answered((req, res, next) => (ask.handle ?? ask).call(ask, req, res, next), method, url, full, tools);
  } finally {
    steps.forEach((step, n) => (step.handle = real[n]));
  }
  for (const handle of real) {
    // behind a log-in that refused
    if (!reached.has(handle) && tools.own.includes(tools.source(handle))) await answered(handle, method, url, full, tools);
  }
}

/** One request, until it is answered, handed on or refused. */
function answered(handle, method, url, full, tools) {
  return new Promise((done, failed) => {
    const socket = new Duplex({ read() {}, write: (_, __, next) => next() });
    Object.assign(socket, { remoteAddress: "127.0.0.1", encrypted: false, setTimeout() {}, setKeepAlive() {}, setNoDelay() {} });
    const req = new http.IncomingMessage(socket);
    Object.assign(req, { method, url, httpVersion: "1.1", httpVersionMajor: 1, httpVersionMinor: 1, complete: true });
    Object.assign(req.headers, { host: "localhost", accept: "*/*", "content-type": "application/json", authorization: "Bearer gate" });
    req.push(null);
    const given = () => (full ? fields(tools) : {});
    const set = { body: given(), query: given(), user: fields(tools), session: Object.assign(fields(tools), { save: (f) => f?.(), destroy: (f) => f?.() }), cookies: given(), _body: true };
    for (const [name, value] of Object.entries(set)) {
      Object.defineProperty(req, name, { value, writable: true, configurable: true, enumerable: true });
    }
    req.isAuthenticated = () => true;
    if (handle.length >= 0 && !req.params) req.params = fields(tools);
    const res = new http.ServerResponse(req);
    res.assignSocket(socket);
    res.once("finish", done);
    res.once("close", done);
    for (const [name, act] of Object.entries(plainAnswers(res))) res[name] ??= act;
    try {
      Promise.resolve(handle(req, res, done)).then((end) => (res.writableEnded || end !== undefined) && done(), failed);
    } catch (error) {
      failed(error);
    }
  });
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

// -- Koa ----------------------------------------------------------------------------------------------
function koa(value, file, tools) {
  if (typeof value.callback === "function" && Array.isArray(value.middleware)) {
    const routers = value.middleware.map((step) => step.router).filter((router) => Array.isArray(router?.stack));
    return ofKoa(value, routers, tools);
  }
  if (typeof value.routes !== "function" || !Array.isArray(value.stack)) return undefined;
  let Koa;
  try {
    Koa = Module.createRequire(file)("koa");
    Koa = Koa.default ?? Koa;
    return ofKoa(new Koa().use(value.routes()), [value], tools);
  } catch {
    return undefined;
  }
}

function ofKoa(app, routers, tools) {
  app.silent = true;
  const routes = routers.flatMap((router) => router.stack.map((layer) => [layer.methods?.find((m) => m !== "HEAD") ?? "GET", filled(layer.path ?? "/", tools)]));
  return [...(routers.length ? [] : [["GET", "/"]]), ...routes].slice(0, MOST).flatMap(([method, url]) =>
    [true, false].map((full) => [
      `${method} ${url}`,
      () => {
        const first = (ctx, next) => {
          ctx.request.body = full ? fields(tools) : {};
          Object.defineProperty(ctx.request, "query", { value: full ? fields(tools) : {}, configurable: true });
          ctx.state.user = fields(tools);
          return next();
        };
        app.middleware.unshift(first);
        const answer = app.callback();
        app.middleware.shift();
        return answered(answer, method, url, full, tools);
      },
    ]),
  );
}

// -- Hono, and handlers of a Request --------------------------------------------------------------------
function hono(value, tools) {
  if (typeof value.request !== "function" || !Array.isArray(value.routes) || typeof value.fetch !== "function") return undefined;
  return value.routes.slice(0, MOST).flatMap(({ method, path, handler }) => {
    const text = tools.source(handler);
    const verb = METHODS.includes(method) ? method : "GET";
    return [true, false].map((full) => {
      const [url, init] = written(verb, filled(path, tools), full ? namesIn(text) : [], tools);
      return [`${verb} ${path}`, () => value.request(url, init)];
    });
  });
}

function written(method, path, names, tools) {
  const said = Object.fromEntries(names.map((name) => [name, worth(name, tools)]));
  const url = new URL(path, "http://localhost/");
  for (const [name, value] of Object.entries(said)) url.searchParams.set(name, String(value));
  const headers = { "content-type": "application/json", authorization: "Bearer gate" };
  const body = method === "GET" || method === "HEAD" ? undefined : JSON.stringify(said);
  return [url.href, { method, headers, body }];
}

/** A function that is named as a method is a handler of Next, SvelteKit, Astro or Remix: it is given a Request. */
function asked(method, handler, file, tools) {
  let Kind = Request;
  try {
    const ask = Module.createRequire(file);
    ask.resolve("next/server");
    Kind = ask("next/server").NextRequest ?? Request;
  } catch {
    // a Request of the engine's
  }
  return [true, false].map((full) => {
    const act = () => {
      const [url, init] = written(method, "/api/gate", full ? namesIn(tools.own) : [], tools);
      const request = new Kind(url, init);
      const params = fields(tools);
      const more = { params: Object.assign(Promise.resolve(params), { id: worth("id", tools) }), request, url: new URL(url), locals: fields(tools) };
      return handler(/^\s*(?:async\s*)?(?:function\s*\w*)?\s*\(\s*\{/.test(tools.source(handler)) ? more : request, more);
    };
    return [`${method} request`, act];
  });
}
