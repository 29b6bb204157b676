import shutil
import tarfile


def unpack(path, folder):
    with tarfile.open(path) as tar:
        tar.extractall(folder)  # HIT[medium]
    shutil.unpack_archive(path, folder)  # HIT[low]
