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

/** Keeps what answers made: `ids`, the newest first, and `tokens`. */
export class Made {
  ids = [];
  tokens = new Set();

  /** Take note of an answer to a request that changes something. */
  take(entry, reply) {
    if (!(reply?.status < 300)) return;
    const texts = `${reply.body ?? ""}\n${Object.values(reply.headers ?? {}).join("\n")}`;
    for (const [token] of texts.matchAll(JWT)) if (this.tokens.size < MOST) this.tokens.add(token);
    if (/^(?:GET|HEAD)\b/.test(entry)) return;
    const id = identifierOf(reply.body);
    if (id === undefined || this.ids.includes(id)) return;
    this.ids.unshift(id);
    this.ids.length = Math.min(this.ids.length, MOST);
  }
}
