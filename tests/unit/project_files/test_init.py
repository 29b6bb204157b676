"""`gate init`: what it writes by what it finds; it overwrites nothing, and changes nothing yet."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest
import yaml

from gate.cli import main
from gate.project_files.plan import PRE_COMMIT
from gate.project_files.settings_text import CHOSEN, settings_text
from gate.settings import Config, load
from tests.e2e.pulls import Pull, build
from tests.paths import REPOSITORY

Said = pytest.CaptureFixture[str]


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    return build(Pull(name="init", head={"README.md": "# prices\n"}, verdicts=()), tmp_path)


def init(repo: Path, *words: str) -> int:
    return main(["init", "--repo", str(repo), *words])


def test_where_no_forge_is_known_only_the_settings_are_written(repo: Path, capsys: Said) -> None:
    assert init(repo) == 0
    out, err = capsys.readouterr()
    assert "wrote gate.toml" in out
    assert "--forge github" in err
    assert f"  gate init --repo {repo} --forge github " in out
    assert out.rstrip().splitlines()[-2:] == [
        "  gate doctor              what this machine offers",
        "  gate check --worktree    judge these files, and what else is not committed",
    ]
    assert not (repo / ".github").exists()
    assert not (repo / PRE_COMMIT).exists()


@pytest.mark.parametrize(
    ("found", "written"),
    [
        (".github/dependabot.yml", [".github/workflows/gate.yml"]),
        (".gitlab-ci.yml", ["gate.gitlab-ci.yml"]),
    ],
)
def test_the_workflow_is_that_of_the_forge(found: str, written: list[str], repo: Path) -> None:
    (repo / found).parent.mkdir(exist_ok=True)
    (repo / found).write_text("version: 2\n")
    assert init(repo) == 0
    for name in written:
        assert (repo / name).read_text() == next((REPOSITORY / "examples").rglob(Path(name).name)).read_text()


def test_a_remote_tells_the_forge_too_and_strangers_get_the_split_workflow(repo: Path, capsys: Said) -> None:
    with (repo / ".git" / "config").open("a") as config:
        config.write('[remote "origin"]\n\turl = https://github.com/octo/shop.git\n')
    assert init(repo, "--forks") == 0
    assert {p.name for p in (repo / ".github" / "workflows").iterdir()} == {
        "gate-check.yml",
        "gate-publish.yml",
    }
    assert "Put the release that you trust where the zeros are" in capsys.readouterr().out


def test_a_repository_with_the_split_workflow_keeps_that_form(repo: Path, capsys: Said) -> None:
    assert init(repo, "--forge", "github", "--forks") == 0
    workflows = repo / ".github" / "workflows"
    (workflows / "gate-publish.yml").unlink()
    capsys.readouterr()
    assert init(repo) == 0
    assert {p.name for p in workflows.iterdir()} == {"gate-check.yml", "gate-publish.yml"}
    assert "left .github/workflows/gate-check.yml" in capsys.readouterr().err


def test_the_split_workflow_beside_the_whole_one_says_which_goes(repo: Path, capsys: Said) -> None:
    assert init(repo, "--forge", "github") == 0
    capsys.readouterr()
    assert init(repo, "--forks") == 0
    assert "gate.yml: the two files replace it; remove it" in capsys.readouterr().err


def test_gitlab_is_told_what_the_pipeline_still_needs(repo: Path, capsys: Said) -> None:
    assert init(repo, "--forge", "gitlab") == 0
    said = capsys.readouterr().out
    for needed in ("image", "runner", "include", "GATE_GITLAB_TOKEN", "docs/gitlab.md"):
        assert needed in said.partition("Next:")[2]


def test_what_is_there_is_left_alone_without_force(repo: Path, capsys: Said) -> None:
    (repo / "gate.toml").write_text("[policy]\nwarn = 12\n")
    assert init(repo, "--forge", "github") == 0
    assert (repo / "gate.toml").read_text() == "[policy]\nwarn = 12\n"
    assert "--force overwrites it" in capsys.readouterr().err
    assert (repo / ".github" / "workflows" / "gate.yml").exists()
    assert init(repo, "--forge", "none", "--force") == 0
    assert (repo / "gate.toml").read_text() == settings_text()


def test_settings_in_pyproject_are_enough(repo: Path, capsys: Said) -> None:
    (repo / "pyproject.toml").write_text("[tool.gate.policy]\nwarn = 12\n")
    assert init(repo) == 0
    assert not (repo / "gate.toml").exists()
    assert "has [tool.gate] already" in capsys.readouterr().err


def test_a_dry_run_prints_and_writes_nothing(repo: Path, capsys: Said) -> None:
    assert init(repo, "--dry-run", "--forge", "github", "--pre-commit") == 0
    out = capsys.readouterr().out
    assert "--- .github/workflows/gate.yml" in out
    assert "gate check --staged --fast" in out
    assert f"Next:\n  gate init --repo {repo} --forge github --pre-commit\n" in out
    assert "[policy]" in out
    assert {p.name for p in repo.iterdir()} == {".git", "README.md", "pyproject.toml", "src", "tests"}


def test_the_hook_goes_behind_the_others_and_their_text_stays(repo: Path) -> None:
    before = "# ours\nrepos:\n  - repo: local\n    hooks:\n      - {id: ruff, entry: r, language: system}\n"
    (repo / PRE_COMMIT).write_text(before)
    assert init(repo) == 0
    after = (repo / PRE_COMMIT).read_text()
    assert after.startswith(before)
    hooks = [hook["id"] for item in yaml.safe_load(after)["repos"] for hook in item["hooks"]]
    assert hooks == ["ruff", "gate-fast"]
    assert init(repo) == 0  # a second time adds nothing
    assert (repo / PRE_COMMIT).read_text() == after


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("repos: []\n", "by hand"),
        ("repos:\n- repo: local\n  hooks: [{id: a}]\nfail_fast: true\n", "by hand"),
        ("- a list\n", "cannot be read"),
        ("repos: [\n", "cannot be read"),
    ],
)
def test_a_hook_configuration_laid_out_otherwise_is_not_touched(
    text: str, said: str, repo: Path, capsys: Said
) -> None:
    (repo / PRE_COMMIT).write_text(text)
    assert init(repo) == 0
    assert (repo / PRE_COMMIT).read_text() == text
    assert said in capsys.readouterr().err


def test_nothing_is_written_through_a_link(repo: Path, tmp_path: Path, capsys: Said) -> None:
    (tmp_path / "elsewhere").mkdir()
    (repo / ".github").symlink_to(tmp_path / "elsewhere")
    assert init(repo) == 2
    assert "symbolic link" in capsys.readouterr().err
    assert not list((tmp_path / "elsewhere").iterdir())


def test_outside_of_a_repository_it_says_so(tmp_path: Path) -> None:
    assert init(tmp_path) == 2


def test_the_settings_written_change_nothing_and_hold_the_defaults(tmp_path: Path) -> None:
    file = tmp_path / "gate.toml"
    file.write_text(settings_text())
    assert load(file=file, environ={}).config == Config()
    lines = settings_text().splitlines()
    inside = [line[2:] if " = " in line and line.startswith("# ") else line for line in lines[5:]]
    file.write_text("\n".join(line for line in inside if not line.startswith("#")))
    assert tomllib.loads(file.read_text())["policy"]["warn"] == 30
    assert load(file=file, environ={}).config == Config()
    assert {(table, key) for table, keys in CHOSEN.items() for key, _ in keys} == {
        tuple(key.split(".")) for key in load(file=file, environ={}).origin
    }
    assert lines[0].startswith("#:schema https://")
