import tarfile
from pathlib import Path


def unpack(archive, folder):
    root = Path(folder).resolve()
    with tarfile.open(archive) as tar:
        for member in tar.getmembers():
            target = (root / member.name).resolve()
            if target.is_relative_to(root) and member.isfile():
                target.write_bytes(tar.extractfile(member).read())
