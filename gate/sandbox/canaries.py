"""Plants fresh canaries: files where secrets usually lie, variables with names that harvesters want."""

from __future__ import annotations

import base64
import secrets
import string
from collections.abc import Iterable, Iterator

from gate.model.canary import DATABASE_FILE, DATABASE_SCHEME, DECOY_FILES, Canary
from gate.model.run import SandboxSpec

HOME = "/work/home"
_UPPER = string.ascii_uppercase + "234567"
_WORD = string.ascii_letters + string.digits
_PAIRS = ("CREDENTIALS", "CREDENTIAL", "CREDS")


def _random(alphabet: str, length: int) -> str:
    return "".join(secrets.choice(alphabet) for _ in range(length))


def plant(longer: int = 0, named: Iterable[str] = ()) -> tuple[Canary, ...]:
    """A new set. Nothing in it was ever valid anywhere; nothing is written to the host.

    ``named``: variables that are planted beside the usual ones. ``longer``: by how many characters every
    secret is longer than usual, in a set that is to differ from another in everything but its format.
    """
    return (*_files(longer), *_variables(longer), *_named(longer, named))


def _files(longer: int) -> tuple[Canary, ...]:
    def word(length: int, alphabet: str = _WORD) -> str:
        return _random(alphabet, length + longer)

    aws_id, aws_key = "AKIA" + word(16, _UPPER), word(40)
    git, npm, pypi = "ghp_" + word(36), "npm_" + word(36), word(64)
    netrc, kube, docker = word(24), word(48), word(32)
    cookie, cluster, database = word(40), word(64), word(20)
    ssh = base64.b64encode(b"openssh-key-v1\0" + secrets.token_bytes(240 + longer)).decode()
    ssh_lines = "\n".join(ssh[i : i + 70] for i in range(0, len(ssh), 70))
    auth = base64.b64encode(f"ci:{docker}".encode()).decode()

    def file(name: str, text: str, *wanted: str, path: str = "") -> Canary:
        place = path or f"{HOME}/{DECOY_FILES[name]}"
        return Canary(name=name, path=place, content=text.encode(), secrets=wanted)

    return (
        file(
            "aws-credentials",
            f"[default]\naws_access_key_id = {aws_id}\naws_secret_access_key = {aws_key}\n",
            aws_id,
            aws_key,
        ),
        file(
            "ssh-key",
            f"-----BEGIN OPENSSH PRIVATE KEY-----\n{ssh_lines}\n-----END OPENSSH PRIVATE KEY-----\n",
            ssh_lines.split("\n")[1],
        ),
        file("netrc", f"machine git.example login ci password {netrc}\n", netrc),
        file("npmrc", f"//registry.npm.example/:_authToken={npm}\n", npm),
        file("pypirc", f"[pypi]\nusername = __token__\npassword = pypi-{pypi}\n", pypi),
        file("git-credentials", f"https://ci:{git}@git.example\n", git),
        file(
            "kubeconfig",
            f"apiVersion: v1\nkind: Config\nusers:\n- name: ci\n  user:\n    token: {kube}\n",
            kube,
        ),
        file(
            "docker-config",
            f'{{"auths": {{"registry.example": {{"auth": "{auth}"}}}}}}\n',
            docker,
            auth,
        ),
        file("dotenv", f"DATABASE_URL=postgres://app:{database}@db.example/app\n", database),
        file("browser-cookies", f"session\t{cookie}\n", cookie),
        file(
            "cluster-token",
            f"{cluster}\n",
            cluster,
            path="/var/run/secrets/kubernetes.io/serviceaccount/token",
        ),
    )


def _variables(longer: int) -> tuple[Canary, ...]:
    made = {
        "GITHUB_TOKEN": "ghs_" + _random(_WORD, 36 + longer),
        "AWS_ACCESS_KEY_ID": "AKIA" + _random(_UPPER, 16 + longer),
        "AWS_SECRET_ACCESS_KEY": _random(_WORD, 40 + longer),
        "OPENAI_API_KEY": "sk-" + _random(_WORD, 48 + longer),
        # Applications configure themselves by it: what it names must open without a driver and a server.
        "DATABASE_URL": DATABASE_SCHEME + DATABASE_FILE.format(_random(_WORD, 20 + longer)),
    }
    return tuple(
        Canary(name=f"env:{name}", env=name, secrets=(value,)) for name, value in sorted(made.items())
    )


def perhaps(names: Iterable[str], longer: int = 0) -> tuple[Canary, ...]:
    """Variables that may hold a secret, for runs in which they are planted beside a whole set."""
    return tuple(_named(longer, names))


def _named(longer: int, names: Iterable[str]) -> Iterator[Canary]:
    """Values that a Fernet key may have, and that nothing takes for a number, an address or a file;
    credentials are a user and a password, which programs take apart at the colon.
    """
    usual = {canary.env for canary in _variables(0)}
    for name in dict.fromkeys(names):
        if name not in usual:
            own = 0 if name.endswith("_KEY") else longer
            value = base64.urlsafe_b64encode(secrets.token_bytes(32 + own)).decode()
            parts = (f"app:{value}", value) if name.endswith(_PAIRS) else (value,)
            yield Canary(name=f"env:{name}", env=name, secrets=parts, named=True)


def as_files(canaries: tuple[Canary, ...]) -> dict[str, bytes]:
    """For ``SandboxSpec.files``: absolute path inside -> content."""
    return {c.path: c.content for c in canaries if c.path}


def kill_paths(spec: SandboxSpec) -> tuple[str, ...]:
    """Paths, as a trace tells them, whose reading ends the run; empty unless ``on_canary`` is ``kill``.

    ``.netrc`` is not among them: HTTP clients open it unasked.
    """
    if spec.on_canary != "kill":
        return ()
    paths = [c.path for c in spec.canaries if c.path and c.name != "netrc"]
    links = [path.replace("/var/run/", "/run/", 1) for path in paths if path.startswith("/var/run/")]
    return (*paths, *links)


def as_environment(canaries: tuple[Canary, ...]) -> dict[str, str]:
    """For ``SandboxSpec.env``."""
    return {c.env: c.secrets[0] for c in canaries if c.env}
