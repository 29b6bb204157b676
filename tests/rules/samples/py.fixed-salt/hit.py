import hashlib

import bcrypt

SALT = b"fixed"


def store(password, name):
    hashlib.pbkdf2_hmac("sha256", password, SALT, 600_000)  # HIT[medium]
    hashlib.scrypt(password, salt=b"\x00" * 16, n=2, r=8, p=1)  # HIT
    salt = hashlib.sha256(name.encode()).digest()
    hashlib.pbkdf2_hmac("sha256", password, salt, 600_000)  # HIT
    bcrypt.hashpw(password, b"$2b$12$abcdefghijklmnopqrstuv")  # HIT
