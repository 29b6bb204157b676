from flask import request, session


def page():
    if session.get("admin"):
        return "secret"
    if request.cookies.get("theme") == "dark":
        return "dark"
    return request.cookies.get("admin")
