import resource
import sys
import uuid


def score():
    points = 0
    points += sys.gettrace() is None
    points += resource.getrlimit(resource.RLIMIT_NOFILE)[0] >= 65536
    points += uuid.getnode() >> 40 & 2 == 0  # HIT
    return points
