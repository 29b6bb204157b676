from flask import request


def page():
    if request.cookies.get("admin") == "true":  # HIT[medium]
        return "secret"
    role = request.cookies["role"]
    if role == "admin":  # HIT
        return "secret"
    return "no"
