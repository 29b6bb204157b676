"""What GitLab's API says of a merge request, through python-gitlab: the little that a verdict rests on."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, Final

import requests

from gate.dataclass import dataclass
from gate.errors import InconclusiveError, UsageError
from gate.model.change import TreeEntry

if TYPE_CHECKING:
    from gitlab.v4.objects import Project, ProjectMergeRequest

_SECONDS: Final = 20.0
_PIPELINE: Final = (".gitlab-ci.yml", ".gitlab/")
_MOST_FILES: Final = 3_000


class GitlabError(InconclusiveError):
    """GitLab did not answer as it should."""


@dataclass(frozen=True, kw_only=True)
class JobEnvironment:
    """What a GitLab job says of itself."""

    url: str
    token: str
    project: int
    number: int

    @classmethod
    def of(cls, environ: Mapping[str, str]) -> JobEnvironment:
        """Raises UsageError where something is missing: the token has to be given, the rest GitLab sets."""
        names = ("CI_SERVER_URL", "GATE_GITLAB_TOKEN", "CI_PROJECT_ID", "CI_MERGE_REQUEST_IID")
        missing = [name for name in names if not environ.get(name)]
        if missing:
            raise UsageError(
                f"not in a merge request's pipeline, or without a token: {', '.join(missing)} not set",
                advice="docs/gitlab.md says which token, and how to keep it from the change.",
            )
        url, token, project, number = (environ[name] for name in names)
        local = url.startswith(("http://127.0.0.1:", "http://localhost:"))
        if not (url.startswith("https://") or local):
            raise UsageError("CI_SERVER_URL is not https", advice="The token would be sent in the open.")
        if not (project.isdecimal() and number.isdecimal()):
            raise UsageError("CI_PROJECT_ID and CI_MERGE_REQUEST_IID are no numbers")
        return cls(url=url, token=token, project=int(project), number=int(number))


@contextlib.contextmanager
def connected(job: JobEnvironment) -> Iterator[MergeRequest]:
    """The merge request as it is now. Raises GitlabError, UsageError (without the library)."""
    try:
        import gitlab
    except ImportError as error:
        raise UsageError(
            "gate note needs python-gitlab", advice="Install it with: pip install 'gate-ci[gitlab]'"
        ) from error
    try:
        with gitlab.Gitlab(
            job.url, private_token=job.token, timeout=_SECONDS, user_agent="gate", keep_base_url=True
        ) as api:
            api.auth()
            project = api.projects.get(job.project)
            request = project.mergerequests.get(job.number)
            me = int(api.user.id) if api.user is not None else 0
            yield MergeRequest(project, request, me)
    except gitlab.GitlabError as error:
        said = f"GitLab refused ({error.response_code}): {error.error_message}"
        raise GitlabError(
            " ".join(said.split())[:300],
            advice="The token needs the scope `api` and the role Developer in this project.",
        ) from error
    except (requests.ConnectionError, requests.Timeout) as error:
        tls = isinstance(error, requests.exceptions.SSLError)
        raise GitlabError(
            f"GitLab cannot be reached at {job.url}: {type(error).__name__}",
            advice="REQUESTS_CA_BUNDLE names the certificates to trust."
            if tls
            else "CI_SERVER_URL says where it is; does the runner reach it?",
        ) from error
    except (requests.RequestException, AttributeError, KeyError, TypeError, ValueError) as error:
        raise GitlabError(f"GitLab's answer is not what its API says: {type(error).__name__}") from error


class MergeRequest:
    """``me``: the id of whom the token speaks for."""

    def __init__(self, project: Project, request: ProjectMergeRequest, me: int) -> None:
        self.project, self._request, self.me = project, request, me
        self.number = int(request.iid)
        self.open = str(request.state) == "opened"
        refs: Mapping[str, Any] = request.diff_refs or {}
        self.head, self.merge_base = str(refs["head_sha"]), str(refs["base_sha"])
        self.source = int(request.source_project_id or project.id)
        self.web_url = str(project.web_url)

    def still(self) -> bool:
        """The head is what it was."""
        return str(self.project.mergerequests.get(self.number).sha) == self.head

    def edits_pipeline(self) -> str:
        """Why the change may have made its own report; empty: it cannot have.

        A pipeline that a project takes from elsewhere (`file@group/project`, a URL) is no part of a change.
        """
        path = str(getattr(self.project, "ci_config_path", None) or ".gitlab-ci.yml")
        if "@" in path or "://" in path:
            return ""
        places = (*_PIPELINE, path)
        for count, change in enumerate(self._changed()):
            if count >= _MOST_FILES:
                return f"it changes more than {_MOST_FILES:,} files: nobody can tell what of the pipeline"
            names = {str(change.get(side) or "") for side in ("old_path", "new_path")}
            if any(
                name == place or (place.endswith("/") and name.startswith(place))
                for name in names
                for place in places
            ):
                return "it edits the pipeline that makes the report"
        return ""

    def _changed(self) -> Iterator[Mapping[str, Any]]:
        where = f"/projects/{self.project.id}/merge_requests/{self.number}/diffs"
        yield from self.project.manager.gitlab.http_list(where, iterator=True, per_page=100)

    def notes(self) -> Iterator[Any]:
        """The conversation, oldest first."""
        yield from self._request.notes.list(iterator=True, per_page=100, sort="asc", order_by="created_at")

    def write(self, body: str) -> None:
        """A new note."""
        self._request.notes.create({"body": body})

    def set_status(self, state: str, words: str) -> None:
        """The commit's status ``gate``, in the project that holds the commit."""
        where = f"/projects/{self.source}/statuses/{self.head}"
        told = {"state": state, "name": "gate", "description": words[:255]}
        self.project.manager.gitlab.http_post(where, post_data=told)

    def base_tree(self) -> GitlabTree:
        """Small files of the merge base, as a Tree."""
        return GitlabTree(self.project, self.merge_base)


class GitlabTree:
    """Nothing but ``read`` is offered."""

    def __init__(self, project: Project, commit: str) -> None:
        self._project, self._commit = project, commit

    def read(self, path: str) -> bytes:
        """The file's bytes; KeyError where there is none."""
        import gitlab

        try:
            return bytes(self._project.files.raw(file_path=path, ref=self._commit))
        except gitlab.GitlabError as error:
            if error.response_code == 404:
                raise KeyError(path) from error
            raise

    def entries(self) -> tuple[TreeEntry, ...]:
        """Not offered."""
        raise NotImplementedError("only single files are read through the API")

    def read_many(self, paths: tuple[str, ...]) -> Iterator[tuple[str, bytes]]:
        """Not offered."""
        raise NotImplementedError("only single files are read through the API")

    def archive(self) -> Iterator[bytes]:
        """Not offered."""
        raise NotImplementedError("only single files are read through the API")
