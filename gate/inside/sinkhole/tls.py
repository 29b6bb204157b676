"""Certificates for names that nobody knew in advance: of an authority of this run's own."""

from __future__ import annotations

import datetime
import functools
import ipaddress
import ssl
import tempfile

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

_DAY = datetime.timedelta(days=1)


def make_authority() -> bytes:
    """A throw-away authority: its key and certificate as PEM, the certificate last."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = _name("Internet Root R4")
    made = (
        _unsigned(name, name, key.public_key())
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .add_extension(_usage(signs=True), critical=True)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
        .sign(key, hashes.SHA256())
    )
    return _pem_key(key) + made.public_bytes(serialization.Encoding.PEM)


def certificate_of(authority: bytes) -> bytes:
    """The certificate alone."""
    return authority[authority.index(b"-----BEGIN CERTIFICATE-----") :]


class Authority:
    """Signs certificates for any name, with one key for all of them."""

    def __init__(self, pem: bytes) -> None:
        loaded = serialization.load_pem_private_key(pem, None)
        if not isinstance(loaded, ec.EllipticCurvePrivateKey):
            raise ValueError("not an authority of ours")
        self._key = loaded
        self._own = x509.load_pem_x509_certificate(certificate_of(pem))
        self._leaf = ec.generate_private_key(ec.SECP256R1())
        self.context = functools.lru_cache(maxsize=256)(self._context)

    def _context(self, name: str) -> ssl.SSLContext:
        """A server's context for one name or address."""
        leaf = (
            _unsigned(_name(name[:60]), self._own.subject, self._leaf.public_key())
            .add_extension(x509.SubjectAlternativeName([_alternative(name)]), critical=False)
            .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
            .add_extension(_usage(signs=False), critical=True)
            .add_extension(x509.ExtendedKeyUsage([x509.oid.ExtendedKeyUsageOID.SERVER_AUTH]), critical=False)
            .add_extension(
                x509.AuthorityKeyIdentifier.from_issuer_public_key(self._key.public_key()), critical=False
            )
            .sign(self._key, hashes.SHA256())
        )
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.set_alpn_protocols(["http/1.1"])
        with tempfile.NamedTemporaryFile() as file:
            file.write(_pem_key(self._leaf) + leaf.public_bytes(serialization.Encoding.PEM))
            file.flush()
            context.load_cert_chain(file.name)
        return context


def _name(text: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, text or "-")])


def _alternative(name: str) -> x509.GeneralName:
    try:
        return x509.IPAddress(ipaddress.ip_address(name))
    except ValueError:
        return x509.DNSName(name)


def _unsigned(
    subject: x509.Name, issuer: x509.Name, key: ec.EllipticCurvePublicKey
) -> x509.CertificateBuilder:
    now = datetime.datetime.now(datetime.UTC)
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(key)
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - 400 * _DAY)  # the code's clock may have been moved
        .not_valid_after(now + 3650 * _DAY)
    )


def _usage(*, signs: bool) -> x509.KeyUsage:
    return x509.KeyUsage(
        digital_signature=True,
        content_commitment=False,
        key_encipherment=False,
        data_encipherment=False,
        key_agreement=False,
        key_cert_sign=signs,
        crl_sign=signs,
        encipher_only=False,
        decipher_only=False,
    )


def _pem_key(key: ec.EllipticCurvePrivateKey) -> bytes:
    return key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
