// A preload (NODE_OPTIONS) of every Node that a test runner starts: notes which changed lines ran, and ends the
// process by itself when the time is up, so that nobody has to kill it. What it needs to know is in the file that
// GATE_WATCH names: {lines, out, until (seconds since the epoch), hooks}. Hints only, as all that the driver says.
import fs from "node:fs";
import path from "node:path";
import process from "node:process";
import timers from "node:timers";
import { threadId } from "node:worker_threads";
import { Seen } from "./coverage.mjs";

const write = fs.writeFileSync;
const PAUSE = 1000; // milliseconds
const leave = process.reallyExit.bind(process);
const now = Date.now;
// A runner that checks types, too, starts a compiler over the whole project: no look at what runs.
try {
  if (/[\\/]typescript[\\/](?:bin|lib)[\\/]_?tsc(?:\.js)?$/.test(fs.realpathSync(process.argv[1]))) leave(0);
} catch {
  // no program of its own
}
let count = 0;
let last = 0;
let cost = 0; // milliseconds that the last telling took
let job;
try {
  job = JSON.parse(fs.readFileSync(process.env.GATE_WATCH, "utf8"));
} catch {
  job = undefined;
}
if (job) {
  const seen = new Seen(job.lines, undefined, !job.hooks);
  await seen.start();
  const tell = () => {
    last = now();
    const news = seen.late();
    if (!news.lines) return;
    try {
      count += 1;
      write(path.join(job.out, `${process.pid}-${threadId}-${count}.json`), JSON.stringify(news));
    } catch {
      // hints only
    }
  };
  process.on("exit", tell);
  for (const way of ["reallyExit", "abort"]) {
    const real = process[way];
    process[way] = (...words) => {
      tell();
      return real.apply(process, words);
    };
  }
  process.on("disconnect", tell);
  if (process.send) process.on("SIGTERM", () => (tell(), leave(143)));
  const send = process.send; // a runner may kill its worker once that has said that it is done
  if (send) {
    process.send = (message, ...rest) => {
      const done = message?.__vitest_worker_response__ || message?.__tinypool_worker_message__;
      if (done || now() - last > PAUSE) tell();
      return send.call(process, message, ...rest);
    };
  }
  // A thread may be ended from outside at any time (by its runner, or with the process): it tells as it goes.
  const often = timers.setInterval(() => {
    const begun = now();
    if (begun - last < Math.max(2 * PAUSE, 20 * cost)) return;
    tell();
    cost = now() - begun;
  }, PAUSE);
  often.unref();
  // The process goes last: its threads end with it.
  const left = job.until * 1000 - now() + (threadId ? 0 : PAUSE / 2);
  const clock = timers.setTimeout(() => {
    tell();
    try {
      write(path.join(job.out, "late"), "");
    } finally {
      leave(124);
    }
  }, Math.max(1, left));
  clock.unref();
}
