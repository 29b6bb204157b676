"""Where Node and Deno are in this sandbox, and how Deno is kept quiet."""

from __future__ import annotations

import os
import shutil

import driver_arguments

DENO = "/opt/runtime/deno"
"""Where the wall shows Deno when it is not part of its image."""
NOWHERE = driver_arguments.TEXT_FILE + "/deno"
"""Below a plain file: Deno then keeps no caches, whose names would differ from one change to the next."""
QUIET = {"DENO_NO_UPDATE_CHECK": "1", "NO_COLOR": "1", "DENO_DIR": NOWHERE}
NPM = {"npm_config_update_notifier": "false"}
"""Else npm asks its registry for a newer npm, whatever it was called for: no doing of the change's."""
NAMES = "/opt/runtime/bin"
"""Where the wall lets Deno be called ``node``."""


def find_deno() -> str | None:
    """The program's path, None where there is none."""
    return DENO if os.access(DENO, os.X_OK) else shutil.which("deno")


def offer_node() -> None:
    """Where there is no Node, let Deno answer to its name: called so, it reads Node's command line."""
    if shutil.which("node") or not os.access(NAMES + "/node", os.X_OK):
        return
    driver_arguments.lay_out()
    os.environ.update(QUIET)
    os.environ["PATH"] = f"{NAMES}:{os.environ.get('PATH', '')}"
