// Moves the clock that JavaScript sees, inside one process, and shortens its sleeps: for sandboxes without a clock of
// their own. It reaches Date, Intl, Temporal and performance.timeOrigin of this realm, and nothing else: worker
// threads, vm contexts, file times and raw calls still see the real clock, and so do programs that the code
// starts, where there is no libfaketime for them (clock_preload.py).
// Like clock_shift.py it is in the language, so the code can tell that it is there, and undo it.
import { performance } from "node:perf_hooks";
import timers from "node:timers";
import timersPromises from "node:timers/promises";
import { promisify } from "node:util";

/** A function that answers in place of another and looks like it (name, length, "[native code]"). */
const instead = (real, apply) => new Proxy(real, { apply: (_, self, words) => apply(self, words) });

/** Put `apply` in the place of a method, with the flags that the method has. */
function replace(home, name, apply) {
  const slot = home && Object.getOwnPropertyDescriptor(home, name);
  const key = slot?.get ? "get" : "value";
  const real = slot?.[key];
  if (typeof real !== "function") return;
  Object.defineProperty(home, name, { ...slot, [key]: instead(real, (self, words) => apply(real, self, words)) });
}

/** From now on everything that tells the time of day is off by `seconds`. Throws where it cannot be. */
export function shift(seconds) {
  const offset = Math.trunc(seconds * 1000);
  const Real = globalThis.Date;
  const now = Real.now;
  const moved = () => now() + offset;
  const make = (words, as) => Reflect.construct(Real, words.length ? words : [moved()], as);
  const Moved = new Proxy(Real, {
    construct: (_, words, as) => make(words, as),
    apply: () => make([], Real).toString(),
  });
  replace(Real, "now", moved);
  Object.defineProperty(Real.prototype, "constructor", { value: Moved, writable: true, configurable: true });
  Object.defineProperty(globalThis, "Date", { value: Moved, writable: true, configurable: true });
  for (const home of [performance, Object.getPrototypeOf(performance)]) {
    replace(home, "timeOrigin", (real, self) => Reflect.apply(real, self, []) + offset);
    replace(home, "toJSON", (real, self) => {
      const told = Reflect.apply(real, self, []);
      return { ...told, timeOrigin: self.timeOrigin };
    });
  }
  // Without a moment these ask the engine's own clock.
  const form = Intl.DateTimeFormat.prototype;
  replace(form, "formatToParts", (real, self, [when]) => Reflect.apply(real, self, [when ?? moved()]));
  replace(form, "format", (real, self) => {
    const bound = Reflect.apply(real, self, []);
    return instead(bound, (_, [when]) => bound(when === undefined ? moved() : when));
  });
  shiftTemporal(globalThis.Temporal?.Now, offset);
  if (Math.abs(Date.now() - now() - offset) > 60_000) throw new Error("the clock was not moved");
}

function shiftTemporal(home, offset) {
  if (!home) return;
  const { instant, timeZoneId } = home;
  const moved = () => Reflect.apply(instant, home, []).add({ milliseconds: offset });
  const zoned = (zone) => moved().toZonedDateTimeISO(zone === undefined ? timeZoneId() : zone);
  replace(home, "instant", moved);
  replace(home, "zonedDateTimeISO", (_, __, [zone]) => zoned(zone));
  for (const part of ["PlainDateTime", "PlainDate", "PlainTime"]) {
    replace(home, `p${part.slice(1)}ISO`, (_, __, [zone]) => zoned(zone)[`to${part}`]());
  }
}

/** Cap timers and sleeps at `longest` seconds, so that a delayed act shows itself in time; 0 leaves them alone. */
export function shorten(longest) {
  if (!longest) return;
  const short = (ms) => Math.min(Number(ms) || 0, longest * 1000);
  const { setTimeout: sleep, setInterval: tick, scheduler } = timersPromises;
  timersPromises.setTimeout = (ms, ...rest) => sleep(short(ms), ...rest);
  timersPromises.setInterval = (ms, ...rest) => tick(short(ms), ...rest);
  if (scheduler?.wait) replace(Object.getPrototypeOf(scheduler), "wait", (real, self, [ms, ...rest]) =>
    Reflect.apply(real, self, [short(ms), ...rest]));
  for (const home of [globalThis, timers]) {
    for (const name of ["setTimeout", "setInterval"]) {
      const real = home[name];
      home[name] = Object.assign((f, ms, ...rest) => real(f, short(ms), ...rest), real);
    }
    Object.defineProperty(home.setTimeout, promisify.custom, { value: timersPromises.setTimeout });
  }
}
