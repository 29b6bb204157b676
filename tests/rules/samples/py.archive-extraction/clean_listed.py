import zipfile
from pathlib import Path


def install(stream, target: Path):
    archive = zipfile.ZipFile(stream)
    members = [info for info in archive.infolist() if not info.is_dir()]
    for info in members:
        path = (target / info.filename).resolve()
        if not path.is_relative_to(target.resolve()):
            raise ValueError(info.filename)
        path.write_bytes(archive.read(info))
