import subprocess
import urllib.request

import requests

urllib.request.urlretrieve("https://x.example/data.csv", "data.csv")
subprocess.run(["git", "status"])
subprocess.run(["curl", "-o", "x.zip", "https://x.example/x.zip"])


def fetch(path):
    with open(path, "wb") as file:
        file.write(requests.get("https://x.example").content)
    subprocess.run(["ls", "other"])
