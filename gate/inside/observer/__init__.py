"""The supervisor of one sandbox: answers its seccomp notifications and writes its trace.

Standard library only: it also runs inside the observer container and the microVM's guest, started as
``python3 -I <this folder> ...`` (see __main__.py).
"""
