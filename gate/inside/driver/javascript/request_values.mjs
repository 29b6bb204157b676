// What a request of ours holds: fields by their names, who asks, headers, addresses, bodies, and how it is told. Trusted.
/** An object that has every field that is looked up, with values by their names. */
export function fields(tools, source = "", how = {}) {
  const { values = {}, heard, word } = how;
  const known = Object.assign(Object.create(null), values[source]);
  return new Proxy(known, {
    get(_, name) {
      if (typeof name === "symbol" || name === "then" || name === "toJSON") return undefined;
      if (name === "__proto__") return Object.prototype;
      if (name in Object.prototype) return Object.prototype[name];
      if (source) heard?.push([source, name]);
      return (known[name] ??= (source && word) || worthIn(source, name, tools, how));
    },
    has: (_, name) => typeof name === "string",
  });
}

/** Headers of a log-in beside `authorization`. */
export const CREDENTIAL = /^x-(?:[\w-]+-)?(?:token|session(?:-id)?|api-?key|auth|key|user(?:-id)?|account-id)$|^(?:api-?key|token|session)$/;
const SIGNED_IN = /sess|\bsid\b|token|auth|jwt|login/i;
/** Fields of a query that hold one. */
const QUERY_KEY = /^(?:[a-z]+[_-]?)?(?:key|token)$/i;
/** The value of a field by its name; of a cookie of a session, or of a key in a query, that of who asks. */
export function worthIn(source, name, tools, how = {}) {
  if (source === "query" && !how.bare && QUERY_KEY.test(name) && tools.users?.[how.as ?? 0]?.signed) return credentialOf(how, tools);
  if (source === "cookies" && tools.users?.[how.as ?? 0]?.cookies?.[name]) return tools.users[how.as ?? 0].cookies[name];
  if (source === "cookies" && tools.users && SIGNED_IN.test(name)) return credentialOf(how, tools);
  return worth(name, tools);
}

function credentialOf({ as = 0 }, tools) {
  return tools.users?.[as]?.credential ?? "gate";
}

/** Who is logged in, where the application asks its framework. */
export function userOf(how, tools) {
  return fields(tools, "", { values: { "": tools.users?.[how.as ?? 0] } });
}

/** The headers of a request, names in lower case. */
export function headersOf(how, tools, cookies = []) {
  const { values = {}, headers = {} } = how;
  const all = { host: "localhost", accept: "*/*", "content-type": "application/json", authorization: `Bearer ${credentialOf(how, tools)}` };
  if (tools.origin) Object.assign(all, { origin: tools.origin, referer: `${tools.origin}/`, "sec-fetch-site": "same-origin" });
  for (const name of how.bare ? [] : (tools.credentials ?? [])) all[name] = /user|account/.test(name) ? tools.users?.[how.as ?? 0]?.id : credentialOf(how, tools);
  const kept = { ...(how.bare ? {} : tools.users?.[how.as ?? 0]?.cookies), ...Object.fromEntries(cookies.map((name) => [name, worthIn("cookies", name, tools, how)])), ...values.cookies };
  const told = Object.entries(kept).map(([name, value]) => `${name}=${encodeURIComponent(String(value))}`);
  if (told.length) all.cookie = told.join("; ");
  for (const [name, value] of [...Object.entries(values.headers ?? {}), ...Object.entries(headers)]) {
    if (value === null) delete all[name];
    else all[name] = String(value).replace(/[^\t\x20-\x7e]/g, "");
  }
  return all;
}

export function worth(name, tools) {
  const value = tools.value(name);
  return typeof value === "function" ? "gate" : value;
}

export function filled(path, tools, { values = {}, heard } = {}) {
  return String(path).replace(/[:*](\w+)(?:\([^)]*\))?[?*+]?|\{\/?:?(\w+)\}|\*/g, (_, a, b) => {
    const name = a ?? b ?? "0";
    heard?.push(["params", name]);
    return encodeURIComponent(String(values.params?.[name] ?? worth(name, tools)));
  });
}


export function parsed(text) {
  try {
    return JSON.parse(text);
  } catch {
    return {};
  }
}

/** [name, value] of each text of an object, names of inner ones in brackets. */
export function pairsOf(object, prefix = "") {
  return Object.entries(object ?? {}).flatMap(([name, value]) => {
    const whole = prefix ? `${prefix}[${name}]` : name;
    return value !== null && typeof value === "object" ? pairsOf(value, whole) : [[whole, String(value)]];
  });
}

export const formOf = (object) => new URLSearchParams(pairsOf(object)).toString();
/** Does a program that parses bodies itself take forms, and no JSON? */
export const wantsForm = (code) => /new URLSearchParams\(|\b(?:querystring|qs)\.(?:parse|decode)\(|\.formData\(\)|\.parseBody\(/.test(code) && !/JSON\.parse\(|\.json\(\s*\)/.test(code);
/** The same request with its body as a form. */
export const asForm = (how) => (how.raw === undefined || how.headers?.["content-type"] ? how : { ...how, form: true, raw: formOf(parsed(how.raw)), headers: { ...how.headers, "content-type": "application/x-www-form-urlencoded" } });
export const flatQuery = (values) => (values?.query ? { ...values, query: Object.fromEntries(pairsOf(values.query)) } : values);

/** The request as somebody could send it: what was asked for stands in it. */
export function told(method, url, { values = {}, raw, form, headers = {} }) {
  const [place, before = ""] = String(url).split(/\?(.*)/s);
  const asked = new URLSearchParams(before);
  for (const [name, value] of pairsOf(values.query)) asked.set(name, value);
  const query = asked.toString();
  const body = raw ?? (values.body ? JSON.stringify(values.body) : "");
  const cookies = Object.entries(values.cookies ?? {}).map(([name, value]) => `${name}=${value}`);
  const other = [...Object.entries(values.headers ?? {}), ...Object.entries(headers)].filter(([, value]) => value !== null);
  const typed = other.some(([name]) => name.toLowerCase() === "content-type");
  const all = [...(body && !typed ? [["Content-Type", form ? "application/x-www-form-urlencoded" : "application/json"]] : []), ...(cookies.length ? [["Cookie", cookies.join("; ")]] : []), ...other.map(([name, value]) => [name, String(value)])];
  return { method, url: query ? `${place}?${query}` : url, headers: all, body: Buffer.from(body).toString("base64") };
}
