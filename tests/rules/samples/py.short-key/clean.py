from Crypto.PublicKey import RSA
from cryptography.hazmat.primitives.asymmetric import ec, rsa

RSA.generate(3072)
rsa.generate_private_key(65537, 4096)
ec.generate_private_key(ec.SECP256R1())
RSA.generate(bits)
