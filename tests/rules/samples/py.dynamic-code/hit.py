import builtins
from flask import request


def go(text):
    exec(text)  # HIT[medium]


def view():
    code = request.args.get("c")
    return str(eval(code))  # HIT[high]


match eval:
    case run:
        run(other())  # HIT

values = [eval(line) for line in open("x")]  # HIT
list(map(eval, lines))  # HIT


@exec  # HIT
def text():
    pass


def later(value=eval(source())):  # HIT
    return value


class C:
    exec(body())  # HIT


eval("1 + 1")  # HIT[low]
builtins.exec(input())  # HIT[medium]
