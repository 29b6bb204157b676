from flask import make_response


def view(options):
    response = make_response("x")
    response.set_cookie("session_id", make(), secure=True, httponly=True)
    response.set_cookie("session_id", make(), **options)
    response.delete_cookie("session_id")
    response.set_cookie("session_id", make(), secure=options.secure)
