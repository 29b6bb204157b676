// Arguments of a guard out of a world, each at the path of its name, and what stands around a middleware. Trusted.
import { parser } from "./rewrite.mjs";
import { part, putInto, thing } from "./things.mjs";
import { quietly } from "./world.mjs";

const source = (f) => Function.prototype.toString.call(f);
const isClass = (f) => /^class\b/.test(source(f));
const GUARDED = /^(?:f|fn|func|function|view|handler|wrapped|method|endpoint|callback|cb|action|controller|resolver)$/;
const NEXT = /^(?:next|done)$/;
const OPTIONS = { ecmaVersion: "latest", sourceType: "module", checkPrivateFields: false };
const known = new WeakMap();

/** The parameters' nodes of a function or class; empty where nobody can tell. */
export function parametersOf(f) {
  if (!known.has(f)) known.set(f, read(f));
  return known.get(f);
}
function read(f) {
  for (const text of [`(${source(f)})`, `({${source(f)}})`, `(class {${source(f)}})`]) {
    try {
      const { expression } = parser.parse(text, OPTIONS).body[0];
      if (expression.params) return expression.params;
      const members = expression.properties ?? expression.body?.body ?? [];
      if (/^class\b/.test(text.slice(1))) {
        const made = members.find((one) => one.kind === "constructor");
        const parent = Object.getPrototypeOf(f);
        return made ? made.value.params : typeof parent === "function" && isClass(parent) ? parametersOf(parent) : [];
      }
      const { value } = members[0];
      if (value?.params) return value.params;
    } catch {
      // another form
    }
  }
  return [];
}

export const signatureOf = (f) => parametersOf(f).map((one) => one.name ?? one.left?.name ?? one.type).join(", ");

/** What a guard is given to let through: that it is called is the answer. */
function through(world) {
  return (...words) => {
    const [error] = words;
    const refused = error instanceof Error || (error && typeof error === "object" && (error.status ?? error.statusCode));
    world.passed ??= refused ? { error } : { through: true };
    return "gate-through";
  };
}

/** Arguments of a call. Parameters with a default are left out where the world does not give them. */
export function argumentsOf(f, world, prefix = "") {
  const nodes = parametersOf(f);
  const names = nodes.map((one) => one.name ?? one.left?.name ?? "");
  const words = nodes.map((one, n) => argument(one, names, n, world, prefix));
  const isGiven = (n) => prefix + names[n] in world.given;
  while (words.length && words.at(-1) === undefined && !isGiven(words.length - 1)) words.pop();
  return words;
}

function argument(node, names, n, world, prefix) {
  if (node.type === "RestElement") return undefined;
  const pattern = node.type === "AssignmentPattern" ? node.left : node;
  if (pattern.type === "ObjectPattern") return taken(pattern, world, prefix);
  if (pattern.type === "ArrayPattern") return [part(world, `${prefix}[*]`)];
  const path = prefix + names[n];
  if (node.type === "AssignmentPattern" && !(path in world.given)) {
    world.asked.set(path);
    return undefined;
  }
  if (path in world.given) return part(world, path);
  if (NEXT.test(names[n])) return through(world);
  const handled = responseAt(names);
  if (handled === n) return response(world);
  const alone = names.length === 1 || NEXT.test(names[n + 1]);
  if (alone && /^(?:ctx|c|context)$/.test(names[n])) return context(world, path);
  if (GUARDED.test(names[n])) return through(world);
  return part(world, path);
}

/** `{ user, note }`: what has a default is left out where the world does not give it. */
function taken(pattern, world, prefix) {
  const kept = new Map();
  for (const one of pattern.properties) {
    const name = one.key?.name ?? one.key?.value;
    if (one.type !== "Property" || one.value.type !== "AssignmentPattern" || typeof name !== "string") continue;
    world.asked.set(prefix + name);
    if (!(prefix + name in world.given)) kept.set(name, undefined);
  }
  return thing(world, prefix.replace(/\.$/, ""), Object.fromEntries(kept));
}

const REQUEST = /^_?(?:req|request)$/;
const RESPONSE = /^_?(?:res|response|reply|rep)$/;
const SAYS = ["json", "send", "end", "render", "sendFile", "jsonp"];
const SETS = "set header setHeader cookie clearCookie type vary append removeHeader on once".split(" ");
const responseAt = (names) => names.findIndex((one, n) => n > 0 && RESPONSE.test(one) && REQUEST.test(names[n - 1]));

const each = (names, f) => Object.fromEntries(names.map((name) => [name, f]));

/** A response of Express, Fastify or Node: what is answered is noted. */
function response(world) {
  const said = {};
  const end = () => {
    world.passed ??= { status: said.status ?? 200 };
    return self;
  };
  const self = thing(world, "res", {
    status: (code) => ((said.status = code), self),
    code: (code) => ((said.status = code), self),
    sendStatus: (code) => ((said.status = code), end()),
    writeHead: (code) => ((said.status = code), self),
    redirect: (...words) => {
      said.status = shut(words.find((one) => typeof one === "string"));
      return end();
    },
    headersSent: false,
    sent: false,
    ...each(SETS, () => self),
    ...each(SAYS, () => {
      said.status ??= putInto(self).get("statusCode");
      return end();
    }),
  });
  return self;
}
/** To a page for logging in means: not let in. */
const shut = (to) => (/log-?in|sign-?in|auth|denied|forbidden|unauthor/i.test(to ?? "") ? 401 : 302);

/** A context of Koa or Hono. */
function context(world, path) {
  const answer = (status) => ({ gateStatus: status ?? self.gateStatus ?? 200 });
  const self = thing(world, path, {
    json: (_, status) => answer(status?.status ?? status),
    text: (_, status) => answer(status?.status ?? status),
    html: (_, status) => answer(status?.status ?? status),
    body: (_, status) => answer(status?.status ?? status),
    redirect: (to) => {
      const status = shut(String(to));
      self.gateStatus = status;
      return { gateStatus: status };
    },
    notFound: () => answer(404),
    throw: (status, text) => {
      throw Object.assign(new Error(String(text)), { status });
    },
    assert: (value, status) => {
      if (!value) throw Object.assign(new Error("assert"), { status });
    },
    status: (code) => (self.gateStatus = code),
    set: () => undefined,
    header: () => undefined,
    gateStatus: undefined,
  });
  world.context = self;
  return self;
}

/** What a context was made to say; undefined where nothing was. */
export function saidBy(self) {
  const put = quietly(() => putInto(self));
  const status = put.get("status");
  if (typeof status === "number") return status;
  return put.get("gateStatus") ?? undefined;
}
