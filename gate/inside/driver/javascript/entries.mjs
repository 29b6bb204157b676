// Entry points without a framework: a function that `http.createServer` is given, `fetch(request, env)` of a worker,
// `handler(event)` of a cloud's function. Where they answer is told by the paths that their text names. Trusted.
import http from "node:http";
import { asForm, wantsForm } from "./request_values.mjs";

const MOST = 12; // paths
const servers = new Set();

/** Functions that servers are made of are kept. Before the module is imported. */
export function listenToServers() {
  const real = http.createServer;
  http.createServer = function (...words) {
    const handler = words.find((word) => typeof word === "function");
    if (handler) servers.add(handler);
    return real.apply(this, words);
  };
}

/** Paths that a text compares with, as patterns. */
function pathsOf(text) {
  const whole = [...text.matchAll(/(?:[=!]==?\s*|\bcase\s+|\(\s*|,\s*)["'`](\/[\w./-]{0,80})["'`]/g)].map(([, path]) => path);
  const begun = new Set([...text.matchAll(/startsWith\(\s*["'`](\/[\w./-]{0,80})["'`]/g)].map(([, path]) => path));
  const parts = [...text.matchAll(/\^\\\/((?:[\w-]+\\?\/?)+)\(/g)].map(([, path]) => `/${path.replaceAll("\\", "")}`);
  for (const path of parts) begun.add(path);
  const all = [...begun].map((path) => (path.endsWith("/") ? `${path}:rest` : path)).concat(whole.filter((path) => !begun.has(path)));
  return [...new Set(all)].slice(0, MOST);
}

/** Each path with each method that the text knows of. */
function placesOf(text) {
  const methods = ["POST", "PUT", "PATCH", "DELETE"].filter((method) => new RegExp(`["'\`]${method}["'\`]`).test(text));
  const paths = pathsOf(text);
  return (paths.length ? paths : ["/"]).flatMap((path) => ["GET", ...methods].map((method) => [method, path]));
}

/** `ways` are routes.mjs's own: filled, written, answered, replyOf, told, namesIn. */
export function entriesOf(space, tools, applications, ways) {
  // Where the module's own text names no path, its handlers stand in other files.
  const text = pathsOf(tools.own).length ? tools.own : `${tools.own}\n${tools.tree?.code ?? ""}`;
  const out = [];
  const worker = space.default?.fetch ?? space.fetch;
  const isWorker = typeof worker === "function" && !Array.isArray(space.default?.routes);
  const isForm = wantsForm(tools.tree?.code ?? tools.own);
  const add = (ask) => {
    const send = (method, path, how) => ask(method, path, isForm ? asForm(how) : how);
    for (const [method, path] of placesOf(text)) {
      const address = (how) => [method, ways.filled(path, tools, how)];
      out.push({ name: `${method} ${path}`, entry: `${method} ${path}`, address, send: (how) => send(method, ways.filled(path, tools, how), how) });
    }
  };
  if (!applications.size) {
    for (const handler of servers) {
      if (handler.handle || handler.stack) continue;
      add((method, path, how) => {
        const [url] = ways.written(method, path, ways.namesIn(text), how, tools);
        const search = new URL(url).search;
        return ways.answered(handler, method, path + search, how, tools);
      });
    }
  }
  if (isWorker) {
    add(async (method, path, how) => {
      const [url, init] = ways.written(method, path, ways.namesIn(text), how, tools);
      const context = { waitUntil() {}, passThroughOnException() {} };
      const answer = await worker.call(space.default, new Request(url, init), settings(tools), context);
      return ways.replyOf(answer, ways.told(method, path, how));
    });
  }
  if (typeof space.handler === "function" && /\bevent\b/.test(tools.source(space.handler))) add((method, path, how) => called(space.handler, method, path, how, tools, ways));
  return out;
}

/** What a worker is given: texts and stores by any name. */
const settings = (tools) => new Proxy({}, { get: (_, name) => (typeof name === "string" ? tools.value(name) : undefined), has: () => true });

async function called(handler, method, path, how, tools, ways) {
  const [url, init] = ways.written(method, path, ways.namesIn(tools.own), how, tools);
  const { pathname, searchParams } = new URL(url);
  const query = Object.fromEntries(searchParams);
  const params = new Proxy({ ...how.values?.params }, {
    get(known, name) {
      if (typeof name !== "string") return undefined;
      how.heard?.push(["params", name]);
      return (known[name] ??= String(tools.value(name)));
    },
  });
  const event = {
    version: "2.0", httpMethod: method, path: pathname, rawPath: pathname, resource: pathname, rawQueryString: String(searchParams),
    headers: init.headers, queryStringParameters: query, pathParameters: params, body: init.body ?? null, isBase64Encoded: false,
    requestContext: { http: { method, path: pathname }, identity: {}, authorizer: how.bare ? {} : { claims: tools.users?.[how.as ?? 0] ?? {} } },
  };
  const answer = await handler(event, { awsRequestId: "gate", functionName: "gate", getRemainingTimeInMillis: () => 1000 });
  const body = typeof answer?.body === "string" ? answer.body : JSON.stringify(answer ?? "");
  return { status: answer?.statusCode ?? 200, headers: { ...answer?.headers }, body, request: ways.told(method, path, how) };
}
