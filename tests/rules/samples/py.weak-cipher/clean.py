from Crypto.Cipher import AES
from cryptography.hazmat.primitives.ciphers.aead import AESGCM


def hide(key, data):
    AES.new(key, AES.MODE_GCM)
    return AESGCM(key)
