import hashlib
import os

import bcrypt


def store(password, stored):
    salt = os.urandom(16)
    hashlib.pbkdf2_hmac("sha256", password, salt, 600_000)
    bcrypt.hashpw(password, bcrypt.gensalt())
    return hashlib.scrypt(password, salt=stored.salt, n=2, r=8, p=1)
