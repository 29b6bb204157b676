import os
import shutil
import tempfile
from pathlib import Path


def wipe(folder):
    shutil.rmtree(folder)


def route(path="/etc"):
    return path


wipe("build")
shutil.rmtree("/tmp/app-build")
with open("/etc/hosts") as hosts:
    print(hosts.read())
shutil.copy("/etc/hosts", "hosts.copy")
with open("/dev/null", "w") as nothing:
    nothing.write("x")
folder = tempfile.mkdtemp()
os.remove(os.path.join(folder, "a"))
Path("out", "usr").mkdir(parents=True)
os.makedirs("./etc", exist_ok=True)
text = "a/b".replace("/", "/etc/")
os.unlink(os.path.join(os.getcwd(), "etc", "x"))
route("/usr")
