import hashlib
import os


def store(password, text):
    salt = os.urandom(16)
    hashlib.scrypt(password, salt=salt, n=2**14, r=8, p=1)
    hashlib.pbkdf2_hmac("sha256", password, salt, 600_000)
    return hashlib.sha256(text.encode())
