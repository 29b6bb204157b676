import os

from Crypto.Cipher import AES
from Crypto.Random import get_random_bytes


def hide(key, iv):
    AES.new(key, AES.MODE_CBC, iv)
    AES.new(key, AES.MODE_CBC, get_random_bytes(16))
    AES.new(key, AES.MODE_CBC, os.urandom(16))
