from django.http import HttpResponseRedirect
from flask import Flask, redirect, request, url_for

app = Flask(__name__)


@app.route("/a")
def a():
    return redirect(request.args.get("next"))  # HIT[medium]


@app.route("/b")
def b():
    target = request.args.get("next") or url_for("index")
    return redirect(target)  # HIT


def c(request):
    return HttpResponseRedirect(request.GET["next"])  # HIT


def by_header(response):
    response.headers["Location"] = request.args["to"]  # HIT
    return response


def handler():
    import tornado.web

    class Page(tornado.web.RequestHandler):
        def get(self):
            self.redirect(self.get_argument("next"))  # HIT

    return Page
