import os
import shutil
from pathlib import Path


def trim():
    root = Path(os.environ.get("THUMBS_CACHE", Path.home() / ".cache" / "thumbs"))
    shutil.rmtree(root, ignore_errors=True)


def clear(folder=None):
    shutil.rmtree(folder or Path.home().joinpath(".cache", "app"))


def reset(folder):
    shutil.rmtree(Path(folder).expanduser())
