import glob
import os
import shutil
from pathlib import Path


def wipe(folder):
    if os.path.exists(folder):
        shutil.rmtree(folder)  # HIT[high]


def clean(path: str) -> None:
    for root, _, names in os.walk(path):
        for name in names:
            os.remove(os.path.join(root, name))  # HIT[high]


wipe("/root/essential_config")
clean("/var/log")
for path in glob.glob("/home/user/*"):
    os.unlink(path)  # HIT[high]
os.rename("/etc/hostname", "/etc/hostname.bak")  # HIT[high]
Path("/usr/lib/os-release").unlink()  # HIT[high]
shutil.copy("build/tool", "/usr/bin/ls")  # HIT[medium]
shutil.rmtree(os.path.expanduser("~/Documents"))  # HIT[high]
with open("/etc/motd", "w") as out:  # HIT[medium]
    out.write("hello")
os.remove("/srv/important.db")  # HIT[high]
target = "/opt/tool/plugin.py"
Path(target).write_text("x")  # HIT[medium]
