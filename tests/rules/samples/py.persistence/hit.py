import os
import shutil
import subprocess
from pathlib import Path

with open(os.path.expanduser("~/.bashrc"), "a") as f:  # HIT[high]
    f.write("python3 /tmp/x.py &\n")
Path("/etc/cron.d/update").write_text("* * * * * root id\n")  # HIT
os.system("(crontab -l; echo '* * * * * id') | crontab -")  # HIT
subprocess.run("echo id >> ~/.profile", shell=True)  # HIT
shutil.copy("unit", "/etc/systemd/system/unit.service")  # HIT
(Path.home() / ".ssh" / "authorized_keys").open("a").write(KEY)  # HIT
open(site.getsitepackages()[0] + "/sitecustomize.py", "w").write(CODE)  # HIT
target = os.path.join(home, ".config", "autostart", "x.desktop")
open(target, mode="w")  # HIT
