import hashlib
import random
import secrets
import time

ALPHABET = "abcdefghijkmnpqrstuvwxyz23456789"
COLOURS = ["red", "green", "blue"]


def _new_code():
    rng = random.SystemRandom()
    return "".join(rng.choice(ALPHABET) for _ in range(24))


def colour():
    rng = random.Random(7)
    key = rng.choice(COLOURS)
    return key


def token(user):
    reset_token = hashlib.sha256(f"{user.email}{time.time()}{secrets.token_hex(16)}".encode()).hexdigest()
    return reset_token


def cache_name(page):
    return hashlib.md5(f"{page}{time.time()}".encode()).hexdigest()
