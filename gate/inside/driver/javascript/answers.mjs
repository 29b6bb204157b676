// What a server of this process has written to a socket: headers and body. Headers that are given to `writeHead` are in no
// list of the answer's, and what has no length comes in chunks (RFC 9112, 7.1). Trusted.
const MOST = 200_000; // bytes

/** {headers, body}: names in lower case, several of one name as a list; the body as text. */
export function contentOf(parts, res) {
  const all = Buffer.concat(parts.map((part) => Buffer.from(part)));
  const at = all.indexOf("\r\n\r\n");
  const headers = at < 0 ? {} : headersIn(all.subarray(0, at).toString("latin1"));
  const rest = at < 0 ? Buffer.alloc(0) : all.subarray(at + 4, at + 4 + MOST);
  const body = /\bchunked\b/i.test(String(headers["transfer-encoding"] ?? "")) ? joined(rest) : rest;
  return { headers: { ...headers, ...res.getHeaders() }, body: body.toString("utf8") };
}

function headersIn(head) {
  const found = {};
  for (const line of head.split("\r\n").slice(1)) {
    const [, name, value] = /^([^:\s]+):\s*(.*)$/.exec(line) ?? [];
    if (name === undefined) continue;
    const key = name.toLowerCase();
    found[key] = key in found ? [found[key], value].flat() : value;
  }
  return found;
}

function joined(rest) {
  const out = [];
  for (let at = 0; at < rest.length; ) {
    const end = rest.indexOf("\r\n", at);
    const size = end < 0 ? NaN : parseInt(rest.subarray(at, end).toString("latin1"), 16);
    if (!(size > 0)) break;
    out.push(rest.subarray(end + 2, end + 2 + size));
    at = end + 2 + size + 2;
  }
  return Buffer.concat(out);
}
