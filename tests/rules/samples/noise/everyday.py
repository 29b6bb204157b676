"""What honest changes do all day."""
import base64
import json
import os
import pickle
import random
import subprocess
import sys
import tempfile
import time
from datetime import datetime
from pathlib import Path

LEVEL = os.environ.get("LOG_LEVEL", "info")
TOKEN = os.environ["API_TOKEN"]
VERSION = subprocess.run(["git", "describe", "--tags"], capture_output=True, text=True, check=True).stdout.strip()
LOGO = base64.b64decode("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk")
CACHE = Path.home() / ".cache" / "shop" / "prices.json"
STARTED = datetime.now()


def load():
    if CACHE.exists() and time.time() - CACHE.stat().st_mtime < 3600:
        return json.loads(CACHE.read_text())
    CACHE.parent.mkdir(parents=True, exist_ok=True)
    CACHE.write_text("{}")
    return {}


def read(path):
    with open(path) as file:
        return file.read()


def copy(value):
    return pickle.loads(pickle.dumps(value))


def backoff(attempt):
    time.sleep(random.uniform(0, 2**attempt))


def work():
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "x").write_text("x")
    method = getattr(sys.modules[__name__], "load")
    return method()


def build(target):
    env = os.environ.copy()
    env["SOURCE_DATE_EPOCH"] = "0"
    subprocess.run([sys.executable, "-m", "build", target], env=env, check=True)
