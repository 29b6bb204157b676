import subprocess

from flask import request

from app.settings import PROGRAM, options


def snapshot():
    arguments = [PROGRAM] + options() + [request.args["url"]]
    subprocess.run(arguments)
