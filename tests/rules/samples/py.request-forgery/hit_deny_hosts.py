from urllib.parse import urlparse, urlsplit

import httpx
import requests
from flask import Flask, abort, request

app = Flask(__name__)
DENIED_HOSTS = {"localhost", "127.0.0.1", "0.0.0.0", "::1"}
TOOLS = {}


def allowed(url):
    parts = urlsplit(url)
    return parts.scheme in ("http", "https") and parts.hostname not in DENIED_HOSTS


def ensure_outside(url):
    host = urlparse(url).hostname
    if host in DENIED_HOSTS or host.endswith(".internal"):
        raise ValueError("inside")


@app.get("/preview")
def preview():
    url = request.args["url"]
    if not allowed(url):
        abort(400)
    return requests.get(url, timeout=5).text  # HIT[high]


@app.get("/pieces")
def pieces():
    url = request.args["url"]
    if any(word in url for word in DENIED_HOSTS):
        abort(400)
    return httpx.get(url).text  # HIT[high]


@app.get("/raises")
def raises():
    url = request.args.get("url", "")
    ensure_outside(url)
    return requests.get(url, timeout=5).text  # HIT[high]


@app.get("/starts")
def starts():
    url = request.args["url"]
    if not url.startswith(("http://", "https://")):
        abort(400)
    host = urlparse(url).hostname
    if host == "localhost" or host.startswith("192.168."):
        abort(400)
    return requests.get(url, timeout=5).text  # HIT[high]


def read_page(url: str) -> str:
    if not allowed(url):
        return "no"
    return requests.get(url, timeout=5).text  # HIT[high]


TOOLS["read_page"] = {"call": read_page}
TOOL_TABLE_TOOLS = {"read_page": {"call": read_page}}
