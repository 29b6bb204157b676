#!/bin/sh
# Makes .venv with the project (editable) and its development tools. Does nothing when it is up to date.
# Safe to stop and to run twice at once: a lock, and the stamp is written last.
set -eu
cd "$(dirname "$0")/.."
python=${1:-python3}
venv=.venv

say() { printf 'setup: %s\n' "$*"; }
stop() { printf 'setup: %s\n' "$*" >&2; exit 1; }

"$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null ||
    stop "Python 3.11 or newer is needed ('$python' is not); try: make PYTHON=python3.12 $*"

want=$(sha256sum pyproject.toml | cut -d' ' -f1)
fresh() { [ -x "$venv/bin/python" ] && [ "$(cat "$venv/.ready" 2>/dev/null)" = "$want" ]; }
fresh && exit 0

# flock is in util-linux; where it is missing two set-ups at once are on their own.
if [ -z "${GATE_VENV_LOCKED:-}" ] && command -v flock >/dev/null; then
    mkdir -p "$venv"
    GATE_VENV_LOCKED=1 exec flock "$venv" sh "$0" "$python"
fi
fresh && exit 0

# Debian splits ensurepip out of python3.
if ! "$python" -c 'import ensurepip, venv' 2>/dev/null; then
    if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
        say "installing python3-venv (Debian keeps it apart from python3)"
        DEBIAN_FRONTEND=noninteractive apt-get -qq update
        DEBIAN_FRONTEND=noninteractive apt-get -qq install -y --no-install-recommends python3-venv >/dev/null
    else
        stop "this Python has no venv module; on Debian and Ubuntu: apt-get install python3-venv"
    fi
fi
if [ ! -x "$venv/bin/python" ] || ! "$venv/bin/python" -m pip --version >/dev/null 2>&1; then
    say "making $venv with $("$python" --version)"
    "$python" -m venv "$venv"
fi
say "installing the project and its development tools into $venv (a minute or two the first time)"
"$venv/bin/python" -m pip install -q --disable-pip-version-check -e '.[dev]'
printf '%s\n' "$want" >"$venv/.ready"
