// Signatures that the tree's own code computes (HMAC): what was computed since the last request, and by which key. What
// packages compute for themselves (signed cookies, tokens) is theirs. Trusted.
import crypto from "node:crypto";
import Module from "node:module";

const MOST = 8;
const EMPTY = new Set(["", "undefined", "null"]);
const here = new URL(".", import.meta.url).pathname;
const keys = new WeakMap();
/** [{raw, empty}]: the bytes, and whether the key was none. */
export const computed = [];

/** Does a line of a package ask for it, rather than one of the tree? */
function isPackages() {
  const { stackTraceLimit } = Error;
  Error.stackTraceLimit = 8;
  const lines = String(new Error().stack).split("\n").slice(1);
  Error.stackTraceLimit = stackTraceLimit;
  const caller = lines.find((line) => !line.includes(here) && !/\bnode:|\(native|<anonymous>\)$|ext:/.test(line));
  return caller === undefined || /[\\/]node_modules[\\/]/.test(caller);
}

function note(raw, key) {
  if (computed.length >= MOST || isPackages()) return;
  const text = typeof key === "string" ? key : ArrayBuffer.isView(key) ? Buffer.from(key.buffer, key.byteOffset, key.byteLength).toString("latin1") : "a key";
  computed.push({ raw, empty: EMPTY.has(text) });
}

/** Before the module is imported. */
export function listen() {
  const make = crypto.createHmac;
  crypto.createHmac = function (name, key, ...rest) {
    const made = make.call(this, name, key, ...rest);
    keys.set(made, key);
    return made;
  };
  const shape = crypto.Hmac?.prototype;
  const digest = shape?.digest;
  if (typeof digest === "function") {
    shape.digest = function (encoding) {
      const raw = digest.call(this);
      if (!Buffer.isBuffer(raw)) return raw;
      note(raw, keys.get(this));
      return encoding && encoding !== "buffer" ? raw.toString(encoding) : raw;
    };
  }
  const subtle = globalThis.crypto?.subtle;
  const sign = subtle?.sign;
  if (typeof sign === "function") {
    Object.defineProperty(subtle, "sign", {
      async value(kind, ...rest) {
        const made = await sign.call(subtle, kind, ...rest);
        if (/^hmac$/i.test(kind?.name ?? kind)) note(Buffer.from(made), "a key");
        return made;
      },
      configurable: true, writable: true,
    });
  }
  Module.syncBuiltinESMExports?.();
}
