import random
import string


def generate_password():
    return "".join(random.choice(string.ascii_letters) for _ in range(12))  # HIT[high]


token = random.getrandbits(64)  # HIT[medium]
user.reset_code = random.randint(100000, 999999)  # HIT[high]
session["id"] = random.randint(1, 100)  # HIT
create(api_key="".join(random.choices("abc", k=20)))  # HIT
