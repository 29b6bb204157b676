import os

os.chmod("x", 0o777)  # HIT[medium]
os.umask(0)  # HIT


def save_secret(path, text):
    with open(path, "w") as f:  # HIT[medium]
        f.write(text)


def write_private_key(path, key):
    handle = os.open(path, os.O_CREAT | os.O_WRONLY)  # HIT
    other = os.open(path, os.O_CREAT | os.O_WRONLY, 0o644)  # HIT
