// What the application itself made while it was asked: identifiers of new objects, signed tokens. They lead to what no
// text of the tree names. Trusted.
const ID = ["id", "_id", "uuid", "slug", "key", "code", "name"];
const MOST = 6;
const JWT = /\beyJ[\w-]{5,}\.eyJ[\w-]{5,}\.[\w-]{10,}/g;

/** The identifier of what an answer says was made; undefined where it says none. */
export function identifierOf(body) {
  try {
    const said = JSON.parse(body);
    for (const one of [said, said?.data, ...Object.values(said ?? {})]) {
      if (one === null || typeof one !== "object" || Array.isArray(one)) continue;
      const name = ID.find((key) => typeof one[key] === "string" || typeof one[key] === "number");
      if (name) return one[name];
    }
  } catch {
    // no object
  }
  return undefined;
}

const header = ({ headers = {} }, wanted) => String(Object.entries(headers).find(([name]) => name.toLowerCase() === wanted)?.[1] ?? "");

/** The path that an answer leads to; empty where it leads nowhere, or to another site. */
export function ledTo(reply) {
  const place = reply?.status >= 300 && reply.status < 400 ? header(reply, "location") : reply?.status === 201 ? header(reply, "location") : "";
  try {
    const url = place && new URL(place, "http://localhost/");
    return url && url.hostname === "localhost" ? url.pathname : "";
  } catch {
    return "";
  }
}

/** The identifier at the end of such a path: of `/notes/7` and `/notes/7/edit` it is 7. */
function identifierIn(place) {
  const parts = place.split("/").filter(Boolean).map((part) => part.replace(/\.\w+$/, ""));
  if (parts.length < 2) return undefined;
  return parts.slice(1).reverse().find((part) => /\d/.test(part)) ?? parts.at(-1);
}

/** What an answer says was made, in its body or by where it leads. */
export const madeBy = (reply) => identifierOf(reply?.body ?? "") ?? identifierIn(ledTo(reply));

/** The parameters of a route's address for that path: `{id: "7"}` of `GET /notes/:id` for `/notes/7`; undefined where it
 * is no place of the route's. */
export function paramsOf(entry, place) {
  const parts = (entry.split(" ")[1] ?? "").split("/");
  const given = place.split("/");
  if (!place || parts.length !== given.length) return undefined;
  const found = {};
  for (const [n, part] of parts.entries()) {
    const name = /^[:{]:?(\w+)/.exec(part)?.[1];
    if (name) found[name] = given[n];
    else if (part !== given[n]) return undefined;
  }
  return found;
}

/** Keeps what answers made: `ids`, the newest first, and `tokens`. */
export class Made {
  ids = [];
  tokens = new Set();

  /** Take note of an answer to a request that changes something. */
  take(entry, reply) {
    if (!(reply?.status < 400)) return;
    const texts = `${reply.body ?? ""}\n${Object.values(reply.headers ?? {}).join("\n")}`;
    for (const [token] of texts.matchAll(JWT)) if (this.tokens.size < MOST) this.tokens.add(token);
    if (/^(?:GET|HEAD)\b/.test(entry)) return;
    const id = madeBy(reply);
    if (id === undefined || this.ids.includes(id)) return;
    this.ids.unshift(id);
    this.ids.length = Math.min(this.ids.length, MOST);
  }
}
