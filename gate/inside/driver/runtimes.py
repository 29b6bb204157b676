"""Where Node and Deno are in this sandbox, and how Deno is kept quiet."""

from __future__ import annotations

import os
import shutil

from . import argument_values

DENO = "/opt/runtime/deno"
"""Where the sandbox shows Deno when it is not part of its image."""
NODE = "/opt/runtime/node"
"""Where the sandbox shows a Node of ours: a new one, whose loader takes TypeScript (javascript/hooks.mjs)."""
NOWHERE = argument_values.TEXT_FILE + "/deno"
"""Below a plain file: Deno then keeps no caches, whose names would differ from one change to the next."""
QUIET = {"DENO_NO_UPDATE_CHECK": "1", "NO_COLOR": "1", "DENO_DIR": NOWHERE}
NPM = {"npm_config_update_notifier": "false"}
"""Else npm asks its registry for a newer npm, whatever it was called for: no doing of the change's."""
NAMES = "/opt/runtime/bin"
"""Where the sandbox lets Deno be called ``node``."""


def find_deno() -> str | None:
    """The program's path, None where there is none."""
    return DENO if os.access(DENO, os.X_OK) else shutil.which("deno")


def find_node() -> tuple[str | None, bool]:
    """Node's path, and whether it is ours."""
    if os.access(NODE, os.X_OK):
        return NODE, True
    return shutil.which("node"), False


def offer_node() -> None:
    """Let ours answer to Node's name; where there is none, Deno: called so, it reads Node's command line."""
    if os.access(NODE, os.X_OK):
        os.environ["PATH"] = f"{NAMES}:{os.environ.get('PATH', '')}"
        return
    if shutil.which("node") or not os.access(NAMES + "/node", os.X_OK):
        return
    argument_values.lay_out()
    os.environ.update(QUIET)
    os.environ["PATH"] = f"{NAMES}:{os.environ.get('PATH', '')}"
