from Crypto.PublicKey import DSA, RSA
from cryptography.hazmat.primitives.asymmetric import ec, rsa

RSA.generate(1024)  # HIT[medium]
BITS = 512
DSA.generate(BITS)  # HIT
rsa.generate_private_key(public_exponent=65537, key_size=1024)  # HIT
ec.generate_private_key(ec.SECP192R1())  # HIT
