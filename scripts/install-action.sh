#!/usr/bin/env bash
# Installs gate for action.yml into a new environment of this job's own and names its Python in GITHUB_OUTPUT.
# Every file that is installed has a SHA-256 of the lock, wherever it comes from: kept wheels (cache: true) that
# somebody changed make a job slow, and never run something else.
set -euo pipefail
cd "$GATE_ACTION_PATH"

[ "$(uname -s)" = Linux ] || {
    echo '::error title=gate::gate runs on Linux: give it a job of its own with runs-on: ubuntu-latest'
    exit 2
}
python3 -c 'import sys; sys.exit(sys.version_info < (3, 11))' || {
    echo '::error title=gate::Python 3.11 or newer is needed on the runner (actions/setup-python)'
    exit 2
}
# Jobs that look at no code (they tell what another found, or ask whether to deploy): an eighth of the packages do.
case "${GATE_INPUT_MODE:-check}" in
publish | deploy) lock=requirements-publish.txt ;;
*) lock=requirements-image.txt ;;
esac
venv=$(mktemp -d "$RUNNER_TEMP/gate.XXXXXXXX")
python3 -I -m venv --without-pip "$venv"
locked=(-q --require-hashes --only-binary :all: --no-deps)
export PIP_DISABLE_PIP_VERSION_CHECK=1 UV_NO_CONFIG=1 UV_NO_CACHE=1 UV_PYTHON_DOWNLOADS=never

# The lock's lines of uv; none in the short lock.
awk '/^[^ #]/ { ours = /^uv==/ } ours' "$lock" >"$venv/uv.txt"

# The runner's own pip where it can install elsewhere (22.3 or newer): one of the environment's own would take longer
# than all else.
find_pip() {
    [ -z "${pip+found}" ] || return 0
    if python3 -I -c 'import pip, sys; sys.exit(tuple(map(int, pip.__version__.split(".")[:2])) < (22, 3))' 2>/dev/null; then
        pip=(python3 -I -m pip --python "$venv/bin/python")
    else
        "$venv/bin/python" -I -m ensurepip >/dev/null
        pip=("$venv/bin/python" -I -m pip)
    fi
}

# uv's program out of its wheel in the folder $1, where the lock has that wheel's SHA-256: no pip is needed then.
uv_of() {
    "$venv/bin/python" -I - "$venv/uv.txt" "$1" "$venv/bin/uv" <<'PYTHON'
import hashlib, io, pathlib, re, sys, zipfile
ours, kept, uv = map(pathlib.Path, sys.argv[1:])
locked = set(re.findall("sha256:([0-9a-f]{64})", ours.read_text()))
for wheel in kept.glob("uv-*.whl"):
    data = wheel.read_bytes()
    if hashlib.sha256(data).hexdigest() in locked:
        with zipfile.ZipFile(io.BytesIO(data)) as packed:
            [name] = (name for name in packed.namelist() if name.endswith(".data/scripts/uv"))
            uv.write_bytes(packed.read(name))
        uv.chmod(0o755)
        sys.exit()
sys.exit(1)
PYTHON
}

# Where pip is configured to look, in uv's words (from_uv); fails where more is configured than is said here.
say_to_uv() {
    local configured key value one
    from_uv=()
    configured=$("${pip[@]}" config list)
    while IFS='=' read -r key value; do
        value=${value#\'} value=${value%\'}
        case ${key##*.} in
        index-url) from_uv+=(--default-index "$value") ;;
        find-links) for one in $value; do from_uv+=(--find-links "$one"); done ;;
        no-index) from_uv+=(--no-index) ;;
        '' | cache-dir | config-file | disable-pip-version-check | no-input | progress-bar | root-user-action) ;;
        *) return 1 ;;
        esac
    done <<<"$configured"
}

# All of the lock; $1: the folder of wheels that are kept, if not from where pip is configured to look. By uv, itself one
# of its wheels: a sixth of pip's time. The lock is complete, and a job loads a part of it: bytecode of all would take
# longer.
install() {
    if [ $# -gt 0 ] && uv_of "$1"; then
        uv_install --no-index --find-links "$1" && return
    fi
    find_pip
    if [ $# -eq 0 ] && [ -s "$venv/uv.txt" ] && say_to_uv &&
        "${pip[@]}" install "${locked[@]}" --no-compile -r "$venv/uv.txt" && uv_install "${from_uv[@]}"; then
        return
    fi
    "${pip[@]}" install "${locked[@]}" --no-compile ${1:+--no-index --find-links "$1"} -r "$lock"
}

uv_install() {
    "$venv/bin/uv" pip install "${locked[@]}" --python "$venv/bin/python" "$@" -r "$lock"
}

if [ "${GATE_INPUT_CACHE:-false}" = true ] && [ -n "${RUNNER_TOOL_CACHE:-}" ]; then
    kept=$RUNNER_TOOL_CACHE/gate-wheels/$(sha256sum "$lock" | cut -c -16)
    if ! { [ -d "$kept" ] && install "$kept" 2>/dev/null; }; then
        find_pip
        mkdir -p "$RUNNER_TOOL_CACHE/gate-wheels"
        part=$(mktemp -d "$RUNNER_TOOL_CACHE/gate-wheels/part.XXXXXXXX")
        "${pip[@]}" download "${locked[@]}" -d "$part" -r "$lock"
        rm -rf "$kept"
        mv -T "$part" "$kept" || rm -rf "$part" # another job was faster
        find "$RUNNER_TOOL_CACHE/gate-wheels" -mindepth 1 -maxdepth 1 -mtime +30 -exec rm -rf {} +
        install "$kept"
    fi
else
    install
fi

# What pyproject.toml puts into a wheel, without a build tool that would have to be fetched.
site=$("$venv/bin/python" -I -c 'import sysconfig; print(sysconfig.get_path("purelib"))')
cp -R gate "$site/gate"
cp -R rules "$site/gate/_rules"
mkdir -p "$site/gate/_image"
cp Dockerfile "$site/gate/_image/Dockerfile"
printf 'python=%s\n' "$venv/bin/python" >>"$GITHUB_OUTPUT"
