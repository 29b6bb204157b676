import os
import subprocess
from urllib.request import urlopen

urlopen("http://collect.invalid")  # HIT[high]
os.system("id")  # HIT[medium]


class Start:
    subprocess.Popen(["id"])  # HIT
