#!/usr/bin/env bash
# Installs gate for action.yml into a new environment of this job's own and names its Python in GITHUB_OUTPUT.
# What is kept between jobs (cache: true) is downloads only: pip takes none whose SHA-256 is not the lock's, so a
# poisoned cache can make a job slow or fail, never run something else.
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
if [ "${GATE_INPUT_CACHE:-false}" = true ] && [ -n "${RUNNER_TOOL_CACHE:-}" ]; then
    export PIP_CACHE_DIR=$RUNNER_TOOL_CACHE/gate-pip
fi
# Jobs that look at no code (they tell what another found, or ask whether to deploy): a fifth of the packages do.
case "${GATE_INPUT_MODE:-check}" in
publish | deploy) lock=requirements-publish.txt ;;
*) lock=requirements-image.txt ;;
esac
# The lock is complete, and of what is installed a job loads a part: bytecode of all of it would take as long again.
venv=$(mktemp -d "$RUNNER_TEMP/gate.XXXXXXXX")
# The runner's own pip installs into it where it can (22.3 or newer): one of its own would take longer than all else.
if python3 -I -c 'import pip, sys; sys.exit(tuple(map(int, pip.__version__.split(".")[:2])) < (22, 3))' 2>/dev/null; then
    python3 -I -m venv --without-pip "$venv"
    pip=(python3 -I -m pip --python "$venv/bin/python")
else
    python3 -I -m venv "$venv"
    pip=("$venv/bin/python" -I -m pip)
fi
"${pip[@]}" install -q --disable-pip-version-check --require-hashes --only-binary :all: \
    --no-deps --no-compile -r "$lock"

# What pyproject.toml puts into a wheel, without a build tool that would have to be fetched.
site=$("$venv/bin/python" -I -c 'import sysconfig; print(sysconfig.get_path("purelib"))')
cp -R gate "$site/gate"
cp -R rules "$site/gate/_rules"
mkdir -p "$site/gate/_image"
cp Dockerfile "$site/gate/_image/Dockerfile"
printf 'python=%s\n' "$venv/bin/python" >>"$GITHUB_OUTPUT"
