import ctypes
import mmap
import tempfile
from ctypes import CDLL

lib = ctypes.CDLL("./build/libfast.so")  # HIT[medium]
tmp = CDLL("/tmp/.x.so")  # HIT[high]
CDLL(tempfile.mkdtemp() + "/x.so")  # HIT[critical]
page = mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_EXEC)  # HIT[high]
ctypes.windll.kernel32.VirtualAlloc(0, 10, 0x3000, 0x40)  # HIT[high]
libc = CDLL("libc.so.6")  # HIT[low]
