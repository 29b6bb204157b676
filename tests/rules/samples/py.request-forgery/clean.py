import requests
from flask import Flask, request
from urllib.parse import quote, urlparse

app = Flask(__name__)
ALLOWED = ("api.example",)


@app.route("/a")
def a():
    requests.get("https://api.example/users", params={"name": request.args["name"]})
    requests.get("https://api.example/users/" + quote(request.args["name"]))
    url = request.args["url"]
    if urlparse(url).hostname not in ALLOWED:
        return ""
    return requests.get(url).text


def fetch(url):
    return requests.get(url)
