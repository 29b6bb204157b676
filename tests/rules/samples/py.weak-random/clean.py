import random
import secrets


def jitter():
    return random.uniform(0, 1)


token = secrets.token_urlsafe()
color = random.choice(["red", "green"])
password = secrets.choice(words)
tokens = tokenizer(random.sample(texts, 3))
rng = random.SystemRandom()
otp = rng.randint(0, 9)
