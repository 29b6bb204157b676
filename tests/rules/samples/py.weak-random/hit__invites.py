import hashlib
import random
import time

import numpy as np

ALPHABET = "abcdefghijkmnpqrstuvwxyz23456789"


def _new_code(now):
    rng = random.Random(int(now))
    return "".join(rng.choice(ALPHABET) for _ in range(24))  # HIT[high]


class Invitations:
    def __init__(self):
        self._rng = random.Random(42)

    def create(self):
        code = "".join(self._rng.choices(ALPHABET, k=12))  # HIT[high]
        return code


def reset_password(user):
    generator = np.random.default_rng(int(time.time()))
    user.reset_token = generator.integers(10**9, 10**10)  # HIT[high]


def legacy(user):
    state = np.random.RandomState(int(time.time()))
    user.access_key = state.bytes(16)  # HIT[high]


def by_clock(user):
    user.reset_token = hashlib.sha256(f"{user.email}{time.time()}".encode()).hexdigest()  # HIT[high]


def with_name(user):
    stamp = str(time.time())
    session_token = hashlib.md5((user.name + stamp).encode()).hexdigest()  # HIT[high]
    return session_token
