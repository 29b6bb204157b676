import tempfile
from tempfile import mktemp

name = tempfile.mktemp()  # HIT[medium]
other = mktemp(".txt")  # HIT
open("/tmp/state.json", "w")  # HIT[medium]


def cache():
    import os

    path = os.path.join(tempfile.gettempdir(), "cache.json")
    open(path, "w")  # HIT[medium]
