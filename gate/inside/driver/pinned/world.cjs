// Pins chance and the clock in a Node program: loaded before the program's own code (../pinned_world.py).
"use strict";
const crypto = require("node:crypto");

const [seed, start] = (process.env.GATE_PINNED || "").split(" ");
if (seed) {
  const digest = crypto.createHash;
  let row = 0;
  const bytes = (size) => {
    const parts = [];
    let have = 0;
    while (have < size) {
      row += 1;
      const part = digest("sha512").update(`${seed}:node:${row}`).digest();
      parts.push(part);
      have += part.length;
    }
    return Buffer.concat(parts).subarray(0, size);
  };
  const fill = (buffer, offset = 0, size = buffer.byteLength - offset) => {
    const view = ArrayBuffer.isView(buffer)
      ? new Uint8Array(buffer.buffer, buffer.byteOffset, buffer.byteLength)
      : new Uint8Array(buffer);
    view.set(bytes(size), offset);
    return buffer;
  };
  const later = (answer) => (...words) => {
    const then = words.at(-1);
    if (typeof then !== "function") return answer(...words);
    const out = answer(...words.slice(0, -1));
    process.nextTick(then, null, out);
    return undefined;
  };
  const uuid = () => {
    const raw = bytes(16);
    raw[6] = (raw[6] & 0x0f) | 0x40;
    raw[8] = (raw[8] & 0x3f) | 0x80;
    const hex = raw.toString("hex");
    return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join("-");
  };
  // What a version of Node does not let us replace stays as it is: the program must run as ever.
  const put = (home, name, value) => {
    try {
      Object.defineProperty(home, name, { value, writable: true, configurable: true });
    } catch {
      return;
    }
  };
  const random = later((size) => Buffer.from(bytes(size)));
  put(crypto, "randomBytes", random);
  put(crypto, "pseudoRandomBytes", random);
  put(crypto, "randomFillSync", fill);
  put(crypto, "randomFill", later(fill));
  put(crypto, "randomUUID", uuid);
  put(
    crypto,
    "randomInt",
    later((low, high) => {
      const [from, to] = high === undefined ? [0, low] : [low, high];
      return from + (bytes(6).readUIntBE(0, 6) % (to - from));
    }),
  );
  for (const home of [crypto, Object.getPrototypeOf(crypto.webcrypto)]) {
    put(home, "getRandomValues", (view) => fill(view));
    put(home, "randomUUID", uuid);
  }
  put(Math, "random", () => bytes(6).readUIntBE(0, 6) / 2 ** 48);
  const Real = Date;
  const begin = Math.trunc(Number(start) * 1000);
  let looks = 0;
  const now = () => begin + (looks += 1);
  const Pinned = new Proxy(Real, {
    construct: (_, words, as) => Reflect.construct(Real, words.length ? words : [now()], as),
    apply: () => new Real(now()).toString(),
    get: (real, name) => (name === "now" ? now : Reflect.get(real, name)),
  });
  put(Real.prototype, "constructor", Pinned);
  put(globalThis, "Date", Pinned);
}
