from urllib.parse import urlparse, urlsplit

import requests
from flask import Flask, abort, request

app = Flask(__name__)
DOCS = {"docs.product.example", "help.product.example"}
DEFAULT = "http://localhost:8000"


def allowed(url):
    parts = urlsplit(url)
    return parts.scheme == "https" and parts.netloc in DOCS


def ensure_known(url):
    if urlparse(url).hostname not in DOCS:
        raise ValueError("unknown")


@app.get("/preview")
def preview():
    url = request.args["url"]
    if not allowed(url):
        abort(400)
    return requests.get(url, timeout=5, allow_redirects=False).text


def read_page(url: str) -> str:
    ensure_known(url)
    return requests.get(url, timeout=5).text


def read_any(url: str) -> str:
    return requests.get(url, timeout=5).text


TOOLS = {"read_page": {"call": read_page}, "read_any": read_any}
