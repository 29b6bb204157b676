"""Runs JavaScript and TypeScript: modules, main programs and tests, by Node or Deno (docs/probes.md)."""
