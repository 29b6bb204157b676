import getpass
import logging
import socket

import requests

logging.info("on %s", socket.gethostname())
sock = socket.socket()
sock.connect((socket.gethostname(), 80))
requests.post("https://api.example", json={"name": name})
print(getpass.getuser())
requests.post("https://api.example", data=open("report.json").read())
