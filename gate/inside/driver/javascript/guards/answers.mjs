// The word for what came of a call, as ../../answers.py has it: true, false, none, a status, an exception. Trusted.
import { saidBy } from "./making.mjs";
import { wasSaid } from "./listening.mjs";
import { isThing, placeOf } from "./things.mjs";
import { quietly } from "./world.mjs";

/** Names of what says in an answer that somebody is let in. */
const OK = new RegExp(
  "^(?:ok|okay|allow(?:ed)?|valid|isValid|success|authori[sz]ed|authenticated|granted|permitted|accepted|verified" +
    "|pass(?:ed)?)$",
);
const LOG_IN = /log-?in|sign-?in|auth|denied|forbidden|unauthor/i;
const NAMES = 5;

/** The word for what a call gave, or did with its `next` and its response. */
export function meaning(value, world) {
  return quietly(() => {
    if (world.passed?.error) return refusal(world.passed.error);
    if (world.passed?.through) return "through";
    if (world.passed?.status) return statusWord(world.passed.status);
    const status = statusOf(value);
    if (status) return statusWord(status, value);
    const said = world.context ? saidBy(world.context) : undefined;
    if (said) return statusWord(said);
    if (value === undefined || value === null) return "none";
    if (typeof value === "boolean") return String(value);
    if (value === 0 || value === 1) return String(Boolean(value));
    if (Number.isInteger(value) && value >= 200 && value <= 599) return `status ${value}`;
    if (typeof value === "object") {
      const key = Object.keys(value).find((one) => OK.test(one) && typeof value[one] === "boolean");
      if (key) return String(value[key]);
    }
    return "value";
  });
}

function statusOf(value) {
  if (value === null || typeof value !== "object") return 0;
  if (typeof value.gateStatus === "number") return value.gateStatus;
  const status = value.status ?? value.statusCode;
  if (typeof status === "function" || !Number.isInteger(status) || status < 100 || status > 599) return 0;
  if (value.headers?.get?.("x-middleware-next") === "1") return -1;
  return status;
}
function statusWord(status, value) {
  if (status < 0) return "through";
  if (status >= 300 && status < 400) {
    const to = value?.headers?.get?.("location") ?? "";
    return LOG_IN.test(to) ? "status 401" : `status ${status}`;
  }
  return `status ${status}`;
}

/** `raised ForbiddenError Error status 403 said`: nearest name first; `said` where the code itself throws it. */
export function refusal(error) {
  if (isThing(error)) return `raised ${placeOf(error)}`.slice(0, 80);
  const names = [];
  if (error !== null && typeof error === "object") {
    for (let at = error; at && at !== Object.prototype && names.length < NAMES; at = Object.getPrototypeOf(at)) {
      const own = Object.hasOwn(at, "name") ? at.name : at.constructor?.name;
      if (typeof own === "string" && /^[\w$]+$/.test(own) && !names.includes(own)) names.push(own);
    }
    if (typeof error.code === "string" && /^[A-Z][A-Z_]{2,40}$/.test(error.code)) names.push(error.code);
  }
  if (!names.length) names.push("Error");
  let status = error?.status ?? error?.statusCode ?? error?.getStatus?.();
  if (!Number.isInteger(status) || status < 100 || status > 599) status = undefined;
  return `raised ${names.join(" ")}${status ? ` status ${status}` : ""}${wasSaid(error) ? " said" : ""}`;
}
