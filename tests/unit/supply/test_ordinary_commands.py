"""Commands of a workflow where secrets are in reach: what is ordinary, and what is for a person."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gate.supply.workflows.ordinary_commands import are_ordinary

ORDINARY = {
    "the project's own build": "uv build",
    "an output": 'echo "sha=$(git rev-parse HEAD)" >> "$GITHUB_OUTPUT"',
    "outputs in a block": '{\n  echo "a<<END"\n  echo "a=${IMAGE_TAG}"\n  echo END\n} >> "$GITHUB_OUTPUT"',
    "a condition": 'if [[ -n "$TAG" ]]; then\n  A=b\nelif [[ "$REF" =~ ^refs/tags/v ]]; then\n  A=c\nfi',
    "an expression of the workflow": 'TAG="${{ inputs.tag }}"\necho "building $TAG"',
    "a variable for later steps": 'echo "SOURCE_DATE_EPOCH=$(git log -1 --pretty=%ct)" >> $GITHUB_ENV',
    "checksums of what was built": "cd dist && sha256sum * | sort",
    "packages of the lock": "npm clean-install --no-fund\npnpm install --frozen-lockfile",
    "a name for commits": 'git config user.name "bot"',
    "a summary": 'echo "## Built" >> "$GITHUB_STEP_SUMMARY" 2>/dev/null',
}
OTHERS = {
    "a program of the tree": "./scripts/release.sh",
    "an interpreter": 'python -c "import os; print(os.environ)"',
    "another module of it": "python -m release",
    "what a file of the tree says": "make release",
    "a secret": 'echo "$TOKEN" | cut -c1-4',
    "a secret by another name": 'X="$TOKEN"\necho "${X:0:4}"',
    "a secret by its name's name": 'Y=TOKEN\necho "${!Y}"',
    "a secret of an expression": 'echo "${{ secrets.TOKEN }}" | cut -c1-4',
    "a function of a known name": "echo() { ./x; }\necho done",
    "a file of the tree is written": 'echo "x" > setup.py',
    "a file that is added to": "cat notes >> build.sh",
    "how programs are found": 'echo "$PWD/bin" >> $GITHUB_PATH',
    "a variable that steers programs": 'echo "LD_PRELOAD=$PWD/x.so" >> $GITHUB_ENV',
    "a second variable in the first": "printf 'A=b\\nNODE_OPTIONS=-r./x' >> $GITHUB_ENV",
    "variables that one does not see": "cat variables >> $GITHUB_ENV",
    "another path": "PATH=$PWD/bin:$PATH uv build",
    "the token that the checkout keeps": "cat .git/config",
    "what the machine holds": "head -c 100 /proc/self/maps",
    "keys at home": "cat ~/.docker/config.json",
    "an address": "uv sync --index-url https://packages.example/simple",
    "a command that a variable names": '"$TOOL" build',
    "a package by name": "npm install left-pad",
    "a package from elsewhere": "npm install --registry=x",
    "git runs a program": "git config core.fsmonitor ./x",
    "git reaches out": "git push origin main",
    "no shell": "import os",
    "broken off": 'echo "a',
}


@pytest.mark.parametrize("script", ORDINARY.values(), ids=ORDINARY)
def test_ordinary(script: str) -> None:
    assert are_ordinary(script, {line.strip() for line in script.splitlines()}, {"TOKEN"})


@pytest.mark.parametrize("script", OTHERS.values(), ids=OTHERS)
def test_for_a_person(script: str) -> None:
    assert not are_ordinary(script, {line.strip() for line in script.splitlines()}, {"TOKEN"})


def test_only_added_lines_count() -> None:
    assert are_ordinary("./scripts/release.sh\necho done\n", {"echo done"}, ())


def test_a_very_long_script_is_for_a_person() -> None:
    assert not are_ordinary("echo done\n" * 5_000, {"echo done"}, ())


@settings(deadline=None, max_examples=200)
@given(st.text(alphabet="echo $(){}<>&|;'\"\\\n=~./gitxé", max_size=60))
def test_no_text_crashes_it(script: str) -> None:
    are_ordinary(script, set(script.splitlines()), {"x"})


@settings(deadline=None, max_examples=100)
@given(st.sampled_from(sorted(OTHERS.values())), st.sampled_from(sorted(ORDINARY.values())))
def test_ordinary_lines_beside_it_hide_nothing(other: str, plain: str) -> None:
    script = f"{plain}\n{other}"
    assert not are_ordinary(script, {line.strip() for line in script.splitlines()}, {"TOKEN"})
