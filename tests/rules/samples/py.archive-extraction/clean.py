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
