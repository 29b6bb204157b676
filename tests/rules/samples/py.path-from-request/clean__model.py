import os
from pathlib import Path

from mcp.server.fastmcp import FastMCP

mcp = FastMCP("files")
ROOT = (Path.home() / "workspace").resolve()


@mcp.tool()
def read_file(name: str) -> str:
    path = (ROOT / name).resolve()
    if not path.is_relative_to(ROOT):
        raise ValueError("outside")
    return path.read_text()


@mcp.tool()
def last_part(name: str) -> str:
    return (ROOT / os.path.basename(name)).read_text()


@mcp.tool()
def last_part_of_a_path(name: str) -> str:
    kept = Path(name.replace("\\", "/")).name.strip()
    return (ROOT / kept).read_text()
