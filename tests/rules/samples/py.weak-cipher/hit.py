from Crypto.Cipher import *
from Crypto.Cipher import AES, DES
from cryptography.hazmat.primitives.ciphers import algorithms, modes


def hide(key, data):
    DES.new(key, DES.MODE_CBC)  # HIT[medium]
    ARC4.new(key)  # HIT
    AES.new(key, AES.MODE_ECB)  # HIT
    algorithms.TripleDES(key)  # HIT
    modes.ECB()  # HIT
