# The images that gate runs code in (sandbox) and watches it from (observer): gate builds them itself on first
# use; by hand: docker build --target sandbox --build-arg BASE=python:3.12-slim .
# And gate itself (gate, gate-action): scripts/image.py, or docker build --target gate .
# BASE is any Debian or Ubuntu image with Python 3.9+. What it lacks of the tools below is added from the
# network; the base that gate makes itself from Debian packages (no registry needed) has them all.
# Two builds of the same files on the same base hold the same (scripts/compare_images.py): a step begins with NEW,
# removes what programs noted on the way (QUIET), and SAME gives all that it touched one time. What is copied
# comes from a folder of that time, to /, since a builder gives the folder it copies into the time of the day.
ARG BASE=python:3.12-slim
ARG GATE_BASE=${BASE}
ARG NEW="touch /dev/shm/new && sleep 0.1"
ARG QUIET="rm -rf /var/lib/apt/lists/* /var/cache/apt/*.bin /var/cache/ldconfig/* /var/log/apt /var/log/*.log"
ARG SAME="find / -xdev -cnewer /dev/shm/new -exec touch -hd @0 {} +"

# Nothing in a read-only container can keep compiled code, and compiling takes longer than running: it is done here.
ARG COMPILE="python3 -m compileall -qq --invalidation-mode unchecked-hash"

# --- our own files of the two
FROM ${BASE} AS ours
ARG COMPILE
COPY gate/inside/driver/ /made/sandbox/opt/gate/driver/
COPY gate/inside/launcher/ /made/sandbox/opt/gate/launcher/
COPY gate/inside/runtimes/ /made/sandbox/opt/gate/runtimes/
COPY gate/inside/observer/ /made/observer/opt/gate/observer/
COPY gate/inside/sinkhole/ /made/observer/opt/gate/sinkhole/
RUN set -eu; eval "$COMPILE" -s /made/sandbox -p / /made/sandbox; eval "$COMPILE" -s /made/observer -p / /made/observer; \
    cp -r /made/sandbox/opt/gate /opt/gate; python3 -I -S -B /opt/gate/launcher/pack.py >/made/sandbox/opt/gate/launcher/launch.pack; \
    chmod -R a+rX,go-w /made && find /made -exec touch -hd @0 {} +

# --- what a probe runs in: Python, pytest, the trusted launcher, and the tools that payloads reach for, so
#     that a second stage shows itself (nothing leaves: the sandbox has no network); no setuid file, no root
FROM ${BASE} AS sandbox
ARG NEW QUIET SAME
RUN set -eu; eval "$NEW"; \
    { command -v curl && command -v wget && command -v nc && command -v git && command -v make && command -v ps \
        && ls /usr/lib/*/faketime/libfaketime.so.1; } >/dev/null 2>&1 || { \
        apt-get -qq update; \
        apt-get -qq install -y --no-install-recommends \
            ca-certificates curl wget netcat-openbsd git make procps libfaketime >/dev/null; \
        eval "$QUIET"; }; \
    python3 -B -c 'import pytest, requests' 2>/dev/null || \
        python3 -B -m pip install --no-compile --no-cache-dir --root-user-action=ignore \
            'pytest>=8,<10' 'requests>=2.31,<3'; \
    dpkg --log=/dev/null --purge --force-depends python3-h11 python3-cryptography python3-cffi-backend >/dev/null 2>&1 || true; \
    echo 'runner:x:65532:65532:,,,:/work/home:/bin/bash' >>/etc/passwd; \
    echo 'runner:x:65532:' >>/etc/group; \
    find / -xdev -type f -perm /6000 -exec chmod a-s {} +; \
    mkdir -p /work /run/gate; \
    eval "$SAME"
COPY --from=ours /made/sandbox/ /
USER 65532:65532
WORKDIR /work
ENTRYPOINT ["python3", "-I", "-S", "-B", "/opt/gate/launcher/start.py"]

# --- what watches from outside: holds no code under test, reads its memory through /proc
FROM ${BASE} AS observer
ARG NEW SAME
RUN set -eu; eval "$NEW"; \
    python3 -B -c 'import cryptography, h11' 2>/dev/null || \
        python3 -B -m pip install --no-compile --no-cache-dir --root-user-action=ignore \
            'h11>=0.14,<1' 'cryptography>=38'; \
    find / -xdev -type f -perm /6000 -exec chmod a-s {} +; \
    mkdir -p /run/gate; \
    eval "$SAME"
COPY --from=ours /made/observer/ /
WORKDIR /
ENTRYPOINT ["python3", "-I", "-B", "/opt/gate/observer/many.py", "/run/gate"]

# --- gate itself, for people who would rather run an image than install Python packages. Needs the engine's
#     socket: docker run --rm --group-add "$(stat -c %g /var/run/docker.sock)" \
#         -v /var/run/docker.sock:/var/run/docker.sock -v "$PWD:/src:ro" gate check --base main --head HEAD
#     Every package is one of requirements-image.txt, by hash. Wheels in wheels/ (scripts/image.py puts them
#     there) make the build need no network; without them pip fetches the same ones.
FROM ${GATE_BASE} AS gate-build
COPY requirements-image.txt wheel[s]/*.whl /wheels/
RUN set -eu; \
    python3 -m venv --without-pip --symlinks /opt/gate; \
    pip=$(find /wheels -name 'pip-*.whl'); \
    if [ -n "$pip" ]; then set -- "$pip/pip" --python /opt/gate/bin/python install --no-index -f /wheels; \
    else set -- -m pip --python /opt/gate/bin/python install; fi; \
    python3 "$@" -q --no-compile --no-cache-dir --disable-pip-version-check --root-user-action=ignore \
        --require-hashes --no-deps --only-binary :all: -r /wheels/requirements-image.txt; \
    rm -f /opt/gate/bin/pip*  # gate runs it as a module: installations in a sandbox (sandbox.setup) are its doing
COPY gate/ /tmp/src/gate/
COPY rules/ /tmp/src/gate/_rules/
COPY examples/ /tmp/src/gate/_examples/
COPY Dockerfile /tmp/src/gate/_image/Dockerfile
RUN set -eu; \
    cp -r /tmp/src/gate /opt/gate/lib/python3*/site-packages/; \
    printf '#!/opt/gate/bin/python -I\nfrom gate.cli import entry\nentry()\n' >/opt/gate/bin/gate; \
    chmod 755 /opt/gate/bin/gate; \
    chmod -R a+rX,go-w /opt/gate; \
    /opt/gate/bin/python -I -m compileall -q --invalidation-mode unchecked-hash /opt/gate || true; \
    mkdir -p /made/opt; mv /opt/gate /made/opt/; \
    find /made -exec touch -hd @0 {} +

FROM ${GATE_BASE} AS gate
ARG NEW QUIET SAME
RUN set -eu; eval "$NEW"; \
    command -v git >/dev/null || { \
        apt-get -qq update; \
        apt-get -qq install -y --no-install-recommends git >/dev/null; \
        eval "$QUIET"; }; \
    find / -xdev -type f -perm /6000 -exec chmod a-s {} +; \
    echo 'gate:x:65532:65532:gate:/home/gate:/bin/sh' >>/etc/passwd; \
    echo 'gate:x:65532:' >>/etc/group; \
    mkdir -m 1777 /home/gate; \
    mkdir /src; \
    eval "$SAME"
COPY --from=gate-build /made/ /
ENV PATH=/opt/gate/bin:/usr/local/bin:/usr/bin:/bin HOME=/home/gate
USER 65532:65532
WORKDIR /src
ENTRYPOINT ["gate"]

# --- the same as a container action (`uses: docker://...`). GitHub starts those as root and gives the work
#     space to another user: the entry point becomes that user before it reads a byte of the change.
FROM gate AS gate-action
USER 0:0
ENTRYPOINT ["/opt/gate/bin/python", "-I", "-m", "gate.container_entry"]
