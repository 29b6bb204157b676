import shutil
import tarfile


def unpack(path, folder):
    with tarfile.open(path) as tar:
        tar.extractall(folder)  # HIT[medium]
    shutil.unpack_archive(path, folder)  # HIT[low]


def by_hand(path, folder):
    import os
    import zipfile

    with zipfile.ZipFile(path) as archive:
        for name in archive.namelist():
            target = os.path.join(folder, name)
            with open(target, "wb") as out:  # HIT
                out.write(archive.read(name))


def by_path(path, folder):
    import zipfile
    from pathlib import Path

    with zipfile.ZipFile(path) as archive:
        for info in archive.infolist():
            target = Path(folder) / info.filename
            target.write_bytes(archive.read(info))  # HIT
