import datetime
import hashlib
import os
import socket
import subprocess
import sys

EXPECTED = "5e884898da28047151d0e56f8dc6292773603d0d6aabbdd62a11ef721d1542d8"


def install(data):
    if hashlib.sha256(data).hexdigest() != EXPECTED:
        raise ValueError("checksum")
    subprocess.run(["tar", "xf", "-"], input=data)


def checked(data):
    assert hashlib.sha256(data).hexdigest() == EXPECTED
    subprocess.run(["tar", "xf", "-"], input=data)


def changed(old, new):
    if hashlib.sha256(old).hexdigest() == hashlib.sha256(new).hexdigest():
        return
    subprocess.run(["make"])


def system():
    if sys.platform == "win32":
        os.system("cls")
    if sys.version_info >= (3, 12):
        os.system("true")
    if os.name == "nt" and os.environ.get("COMSPEC"):
        os.system("cls")


def told():
    if socket.gethostname() == "alpha":
        print("on alpha")
    if os.environ.get("CI"):
        print("in a pipeline")
    if os.environ.get("VERBOSE"):
        os.system("true")


def dated():
    if datetime.date.today() > datetime.date(2031, 1, 1):
        os.system("told by another rule")


def marked():
    if os.path.exists("/.dockerenv"):
        os.system("told by another rule")


def named(host):
    if host != socket.gethostname():
        subprocess.run(["ssh", host])


