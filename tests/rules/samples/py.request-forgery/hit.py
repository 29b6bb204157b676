import httpx
import requests
from flask import Flask, request
from urllib.request import urlopen

app = Flask(__name__)


@app.route("/a")
def a():
    requests.get(request.args["url"])  # HIT[high]
    name = request.args.get("name")
    requests.get("https://api.example/users/%s" % name)  # HIT
    urlopen("http://" + name)  # HIT
    requests.request("GET", name)  # HIT
