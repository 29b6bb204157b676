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
# The runner's own pip installs into it where it can (22.3 or newer): one of its own would take longer than all else.
if python3 -I -c 'import pip, sys; sys.exit(tuple(map(int, pip.__version__.split(".")[:2])) < (22, 3))' 2>/dev/null; then
    python3 -I -m venv --without-pip "$venv"
    pip=(python3 -I -m pip --python "$venv/bin/python")
else
    python3 -I -m venv "$venv"
    pip=("$venv/bin/python" -I -m pip)
fi
locked=(-q --require-hashes --only-binary :all: --no-deps)
export PIP_DISABLE_PIP_VERSION_CHECK=1 UV_NO_CONFIG=1 UV_NO_CACHE=1 UV_PYTHON_DOWNLOADS=never

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

# All of the lock; $@: where from, if not from where pip is configured to look. The whole lock by uv, itself one of its
# wheels: a sixth of pip's time. The lock is complete, and a job loads a part of it: bytecode of all would take longer.
install() {
    if [ "$lock" = requirements-image.txt ]; then
        from_uv=("$@")
        awk '/^[^ #]/ { ours = /^uv==/ } ours' "$lock" >"$venv/uv.txt"
        if [ -s "$venv/uv.txt" ] && { [ $# -gt 0 ] || say_to_uv; } &&
            "${pip[@]}" install "${locked[@]}" --no-compile "$@" -r "$venv/uv.txt" &&
            "$venv/bin/uv" pip install "${locked[@]}" --python "$venv/bin/python" "${from_uv[@]}" -r "$lock"; then
            return
        fi
    fi
    "${pip[@]}" install "${locked[@]}" --no-compile "$@" -r "$lock"
}

if [ "${GATE_INPUT_CACHE:-false}" = true ] && [ -n "${RUNNER_TOOL_CACHE:-}" ]; then
    kept=$RUNNER_TOOL_CACHE/gate-wheels/$(sha256sum "$lock" | cut -c -16)
    if ! { [ -d "$kept" ] && install --no-index --find-links "$kept" 2>/dev/null; }; then
        mkdir -p "$RUNNER_TOOL_CACHE/gate-wheels"
        part=$(mktemp -d "$RUNNER_TOOL_CACHE/gate-wheels/part.XXXXXXXX")
        "${pip[@]}" download "${locked[@]}" -d "$part" -r "$lock"
        rm -rf "$kept"
        mv -T "$part" "$kept" || rm -rf "$part" # another job was faster
        find "$RUNNER_TOOL_CACHE/gate-wheels" -mindepth 1 -maxdepth 1 -mtime +30 -exec rm -rf {} +
        install --no-index --find-links "$kept"
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
