"""Reads ~/.ssh/id_rsa in the documentation only."""
import os
from pathlib import Path

cache = Path.home() / ".cache" / "app" / "index.json"
config = os.path.expanduser("~/.config/app.toml")
open(cache).read()
print("copy your key to ~/.ssh/id_rsa and try again")
EXAMPLE = "/etc/passwd"
hosts = open("/etc/hosts").read()
NETRC = (".netrc", "_netrc")
