import os

os.chmod("x", 0o755)
old = os.umask(0)
os.chmod("dir", 0o1777)


def save_secret(path, text):
    with open(path, "w") as f:
        f.write(text)
    os.chmod(path, 0o600)


def write_token(path, text):
    handle = os.open(path, os.O_CREAT | os.O_WRONLY, 0o600)
    with open(handle, "w") as f:
        f.write(text)


def save_report(path, text):
    open(path, "w").write(text)
