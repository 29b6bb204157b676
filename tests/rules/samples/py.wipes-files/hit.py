import os
import pathlib
import shutil
import subprocess

shutil.rmtree("/")  # HIT[high]
shutil.rmtree(os.path.expanduser("~"))  # HIT
shutil.rmtree(pathlib.Path.home())  # HIT
os.system("rm -rf /")  # HIT
subprocess.run(["rm", "-rf", "/home"])  # HIT
for folder, _, names in os.walk("/home"):
    for name in names:
        os.remove(os.path.join(folder, name))  # HIT
