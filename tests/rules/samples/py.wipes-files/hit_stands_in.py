import os
import shutil
from pathlib import Path

ROOT = os.environ.get("CACHE") or os.path.expanduser("~")


def trim():
    root = Path(os.environ.get("THUMBS_CACHE", Path.home()))
    shutil.rmtree(root, ignore_errors=True)  # HIT


def clear():
    shutil.rmtree(ROOT)  # HIT


def reset(folder="/home"):
    shutil.rmtree(Path(folder).expanduser())  # HIT
