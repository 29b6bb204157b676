import random

LETTERS = "abcdefghijklmnopqrstuvwxyz"


def board(seed):
    rng = random.Random(seed)
    return "".join(rng.choice(LETTERS) for _ in range(16))


def code():
    return "".join(random.choice(LETTERS) for _ in range(4))
