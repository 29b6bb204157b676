from flask import make_response, request


def view():
    response = make_response("x")
    response.set_cookie("session_id", make())  # HIT[medium]
    response.set_cookie("theme", "dark")  # HIT[low]
    response.set_cookie("c", request.args["c"])  # HIT[medium]


SESSION_COOKIE_SECURE = False  # HIT


def settings(app):
    app.config.update(SESSION_COOKIE_SECURE=False)  # HIT
