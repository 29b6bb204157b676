from pathlib import Path

from mcp.server.fastmcp import FastMCP

mcp = FastMCP("files")
ROOT = Path.home() / "workspace"


def locate(name):
    return ROOT / name


@mcp.tool()
def read_file(name: str) -> str:
    return (ROOT / name).read_text()  # HIT[high]


@mcp.tool()
def delete_file(name: str) -> None:
    path = locate(name)
    path.unlink()  # HIT[high]


@mcp.tool()
def read_anything(path: str) -> str:
    return open(path).read()  # HIT[medium]
