import os
import subprocess
from pathlib import Path

print(open(os.path.expanduser("~/.bashrc")).read())
Path("~/.cache/app/state.json").write_text("{}")
subprocess.run("make > build.log", shell=True)
open("profile", "w")
os.rename("a.txt", "b.txt")
Path(".git/hooks").is_dir()
subprocess.run(["crontab", "-l"])
