import ctypes
import ctypes.util
import mmap

libc = ctypes.CDLL(None)
ssl = ctypes.CDLL(ctypes.util.find_library("ssl"))
view = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
number = ctypes.c_int(4)
