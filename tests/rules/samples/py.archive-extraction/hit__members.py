import tarfile
from pathlib import Path


def unpack(archive, folder):
    with tarfile.open(archive) as tar:
        for member in tar.getmembers():
            target = Path(folder) / member.name
            if member.isfile():
                target.write_bytes(tar.extractfile(member).read())  # HIT[medium]
