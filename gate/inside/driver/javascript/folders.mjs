// Folders that only a deployment has: one that is listed and missing, or empty, gets an entry of ours, and where an entry
// is asked for its repository, it becomes one with a commit. Only in the tree. Trusted.
import childProcess from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import process from "node:process";

const { execFileSync } = childProcess;
const { existsSync, mkdirSync, readdirSync, writeFileSync } = fs;
const ENTRY = "gate";
const top = process.cwd() + path.sep;
const AUTHOR = ["-c", "user.name=gate", "-c", "user.email=gate@example.invalid"];

function quietly(act) {
  try {
    return act();
  } catch {
    return undefined; // no place for it
  }
}

/** That folder is listed. */
export function listed(name) {
  const whole = path.resolve(name);
  if (!whole.startsWith(top) || whole.includes("node_modules")) return;
  const has = quietly(() => readdirSync(whole));
  if (has?.length || (!has && existsSync(whole))) return;
  quietly(() => mkdirSync(path.join(whole, ENTRY), { recursive: true }));
  quietly(() => writeFileSync(path.join(whole, `${ENTRY}.txt`), "gate\n"));
}

/** Something looks for a repository there: `.git` itself, or a folder that git is to work in. */
export function looked(name) {
  const at = /^(.*)[\\/]\.git(?:[\\/]|$)/.exec(path.resolve(name))?.[1] ?? path.resolve(name);
  if (!at.startsWith(top) || path.basename(at) !== ENTRY || existsSync(path.join(at, ".git"))) return;
  quietly(() => {
    mkdirSync(at, { recursive: true });
    const git = (...words) => execFileSync("git", ["-C", at, ...AUTHOR, ...words], { stdio: "ignore", timeout: 3000 });
    git("init", "-q");
    writeFileSync(path.join(at, "gate.txt"), "gate\n");
    git("add", "-A");
    git("commit", "-q", "-m", "gate");
  });
}

/** A program is started, perhaps by a shell: where git is to work in a folder, it is looked at. */
export function started(file, words, folder) {
  const said = [String(file), ...words].join(" ");
  if (!/(?:^|[\s/])git\s/.test(said)) return;
  const dir = /\bgit\s+-C\s+["']?([^\s"']+)/.exec(said)?.[1] ?? folder;
  if (typeof dir === "string" && dir) looked(dir);
}
