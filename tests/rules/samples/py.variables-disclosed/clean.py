import argparse
import inspect
import json
import logging
import sys
import traceback

import requests

logger = logging.getLogger(__name__)


class Cart:
    def __init__(self, items):
        self.items = items

    def save(self, client):
        client.send(vars(self))
        return json.dumps(self.__dict__)

    def __repr__(self):
        return f"Cart({self.__dict__!r})"


def name_of(value):
    for name, other in inspect.currentframe().f_back.f_locals.items():
        if other is value:
            return name
    return repr(sys._getframe(1).f_locals.get("name"))


def looked_up(text):
    frame = sys._getframe(1)
    if "request" in frame.f_locals:
        return str(frame.f_locals["request"])
    return eval(text, frame.f_globals, frame.f_locals)


def filled(template):
    return template.format(**sys._getframe(1).f_locals)


def stacks(reporter):
    lines = ["".join(traceback.format_stack(frame)) for frame in sys._current_frames().values()]
    reporter.report("stalled", lines=lines)


def main():
    args = argparse.ArgumentParser().parse_args()
    logger.info("called with %s", vars(args))
    requests.post("https://builds.example", json=vars(args))


def copied(old, new):
    new.__dict__.update(vars(old))
    return Cart(**vars(old))


def written(thing):
    return json.dumps(thing, default=lambda one: one.__dict__)


def size_of(thing):
    size, things = 0, [thing]
    while things:
        one = things.pop()
        size += sys.getsizeof(one)
        if hasattr(one, "__dict__"):
            things.append(one.__dict__)
    return size


def done(data):
    logger.info("ran: %s bytes", size_of(data))


def made_again(kind, thing):
    return kind(**{key: value for key, value in vars(thing).items() if value is not None})


def names(thing):
    return sorted(key for key in vars(thing))


def described(thing):
    return len(vars(thing))
