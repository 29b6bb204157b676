# The images that gate runs code in and watches it from. gate builds them itself on first use;
# by hand: docker build --target sandbox --build-arg BASE=python:3.12-slim .
# BASE is any Debian or Ubuntu image with Python 3.9+. What it lacks of the tools below is added from the
# network; the base that gate makes itself from Debian packages (no registry needed) has them all.
ARG BASE=python:3.12-slim

# --- what a probe runs in: Python, pytest, the trusted launcher, and the tools that payloads reach for, so
#     that a second stage shows itself (nothing leaves: the wall has no network); no setuid file, no root
FROM ${BASE} AS sandbox
RUN set -eu; \
    { command -v curl && command -v wget && command -v nc && command -v git && command -v ps; } >/dev/null || { \
        apt-get -qq update; \
        apt-get -qq install -y --no-install-recommends \
            ca-certificates curl wget netcat-openbsd git procps >/dev/null; \
        rm -rf /var/lib/apt/lists/*; }; \
    python3 -c 'import pytest, requests' 2>/dev/null || \
        python3 -m pip install --no-cache-dir --root-user-action=ignore 'pytest>=8,<10' 'requests>=2.31,<3'; \
    dpkg --purge --force-depends python3-h11 python3-cryptography python3-cffi-backend >/dev/null 2>&1 || true; \
    echo 'dev:x:65532:65532:dev:/work/home:/bin/sh' >>/etc/passwd; \
    echo 'dev:x:65532:' >>/etc/group; \
    find / -xdev -type f -perm /6000 -exec chmod a-s {} +; \
    mkdir -p /work /run/gate /opt/gate
COPY gate/sandbox/launcher/ /opt/gate/
RUN chmod -R a+rX,go-w /opt/gate
USER 65532:65532
WORKDIR /work
ENTRYPOINT ["python3", "-I", "-S", "-B", "/opt/gate/launch.py"]

# --- what watches from outside: holds no code under test, reads its memory through /proc
FROM ${BASE} AS observer
RUN set -eu; \
    python3 -c 'import cryptography, h11' 2>/dev/null || \
        python3 -m pip install --no-cache-dir --root-user-action=ignore 'h11>=0.14,<1' 'cryptography>=38'; \
    find / -xdev -type f -perm /6000 -exec chmod a-s {} +; \
    mkdir -p /run/gate /opt/gate
COPY gate/sandbox/observer/ /opt/gate/observer/
COPY gate/sandbox/sinkhole/ /opt/gate/sinkhole/
RUN chmod -R a+rX,go-w /opt/gate
WORKDIR /
ENTRYPOINT ["python3", "-I", "-B", "/opt/gate/observer/many.py", "/run/gate"]
