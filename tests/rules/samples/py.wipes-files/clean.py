import os
import shutil
import subprocess

shutil.rmtree("build")
shutil.rmtree(os.path.expanduser("~/.cache/app"))
subprocess.run(["rm", "-rf", "build"])
os.system("rm -rf /tmp/app-build")
for folder, _, names in os.walk("build"):
    for name in names:
        os.remove(os.path.join(folder, name))
