import tarfile
import zipfile


def unpack(path, folder):
    with tarfile.open(path) as tar:
        tar.extractall(folder, filter="data")
    zipfile.ZipFile(path).extractall(folder)


def checked(path, folder):
    with tarfile.open(path) as tar:
        for member in tar:
            if member.name.startswith("/") or ".." in member.name:
                continue
            tar.extract(member, folder)


def by_hand(path, folder):
    import os
    import zipfile

    with zipfile.ZipFile(path) as archive:
        for name in archive.namelist():
            with open(os.path.join(folder, os.path.basename(name)), "wb") as out:
                out.write(archive.read(name))


def by_path(path, folder):
    import zipfile
    from pathlib import Path

    with zipfile.ZipFile(path) as archive:
        for info in archive.infolist():
            target = (Path(folder) / info.filename).resolve()
            if not target.is_relative_to(folder):
                raise ValueError(info.filename)
            target.write_bytes(archive.read(info))
