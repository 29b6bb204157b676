import ipaddress
import socket
from urllib.parse import urlparse

import requests
from flask import Flask, abort, request

app = Flask(__name__)
DENIED = {"localhost", "metadata.internal"}


@app.get("/preview")
def preview():
    url = request.args["url"]
    host = urlparse(url).hostname
    if host in DENIED:
        abort(400)
    if not ipaddress.ip_address(socket.gethostbyname(host)).is_global:
        abort(400)
    return requests.get(url, timeout=5, allow_redirects=False).text
