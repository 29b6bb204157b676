from Crypto.Cipher import AES
from cryptography.hazmat.primitives.ciphers import modes


def hide(key):
    iv = b"\x00" * 16
    AES.new(key, AES.MODE_CBC, iv)  # HIT[medium]
    AES.new(key, AES.MODE_CBC, iv=b"x" * AES.block_size)  # HIT
    modes.CBC(b"0123456789abcdef")  # HIT
