#!/usr/bin/env bash
# Installs gate for action.yml into an environment of its own and names its Python in GITHUB_OUTPUT.
# The environment is named after the sources it was made from, so that another version never runs by mistake.
set -euo pipefail
cd "$GATE_ACTION_PATH"

key=$(find pyproject.toml gate rules Dockerfile -type f ! -name '*.pyc' -print0 | sort -z |
    xargs -0 sha256sum | sha256sum | cut -c1-32)
home=$RUNNER_TEMP
if [ "${GATE_INPUT_CACHE:-false}" = true ] && [ -n "${RUNNER_TOOL_CACHE:-}" ]; then
    home=$RUNNER_TOOL_CACHE
fi
venv=$home/gate/$key

if [ ! -f "$venv/.ready" ]; then
    python3 -c 'import sys; sys.exit(sys.version_info < (3, 11))' || {
        echo '::error title=gate::Python 3.11 or newer is needed on the runner (actions/setup-python)'
        exit 2
    }
    rm -rf "$venv"
    python3 -I -m venv "$venv"
    "$venv/bin/python" -I -m pip install -q --disable-pip-version-check .
    touch "$venv/.ready"
fi
printf 'python=%s\n' "$venv/bin/python" >>"$GITHUB_OUTPUT"
