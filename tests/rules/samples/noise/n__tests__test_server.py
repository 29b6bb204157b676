"""A localhost server in tests, and the shortcuts tests take."""
import hashlib
import socket
import subprocess
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer

import requests

PASSWORD = "secret-for-tests-1234"


class Handler(BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.end_headers()
        self.wfile.write(self.path.encode())


def test_get():
    server = HTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    url = f"https://127.0.0.1:{server.server_port}/"
    assert requests.get(url, verify=False).text == "/"
    assert hashlib.md5(b"x").hexdigest()
    subprocess.run(f"curl {url}", shell=True)
    sock = socket.socket()
    sock.bind(("0.0.0.0", 0))
    assert eval("1 + 1") == 2
