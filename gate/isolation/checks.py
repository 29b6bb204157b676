"""Every check there is: id, criterion, the program that answers it, and what it is about.

Drawn from amicontained, deepce, CDK, docker-bench-security section 5, SandboxEscapeBench, SandboxEval and
SandboxBench (public checkers and papers), and from this project's own list of threats (IS-1 to IS-11).
"""

from __future__ import annotations

from typing import Final

from gate.isolation.interface import Check, Kind

_CRITERION: Final = {
    "command": 1,
    "privilege": 2,
    "network": 3,
    "near": 4,
    "after": 4,
    "leak": 5,
    "write": 6,
    "technology": 7,
}

_MACHINE: Final = """
standing | command.shell | a shell runs, with no more rights than the code
standing | command.loader | programs through the dynamic loader and from memory
standing | command.no-new-rights | what is executed inherits filter and no_new_privs
forks | command.fork | processes are limited
fork-bomb | command.fork-bomb | a fork bomb ends at its deadline, and the next sandbox works
memory | command.memory | memory is limited, without swap
processor | command.cpu | processor time is limited
scratch | command.disk | scratch space is limited
scratch | command.file-size | one file holds no more than the scratch, sparse ones neither
scratch | command.descriptors | open files are limited
scratch | command.inodes | the number of files is limited
flood | command.output | a flood of output is counted, not kept
deaf | command.sleep | sleeping past the deadline, deaf to signals, ends in time
deaf | command.orphan | no orphan is left after the deadline
heartbeat | command.daemon | no daemon goes on after a good end
kill-launcher | command.kill-launcher | the launcher cannot be killed or stopped
host | command.abort | the host ends a running sandbox at once
standing | privilege.uid | not root
standing | privilege.groups | no extra groups (docker, lxd, disk ...)
standing | privilege.capabilities | no capability in any set
standing | privilege.no-new-privileges | no_new_privs is set
standing | privilege.seccomp | system calls are filtered
standing | privilege.call-sweep | calls for administrators, every one
standing | privilege.foreign-calls | i386 and x32 system calls
standing | privilege.become-root | setuid(0), setgid(0), setgroups
standing | privilege.setuid-files | setuid programs have no effect
standing | privilege.setuid-effect | sudo, su, pkexec
standing | privilege.docker-socket | no engine's socket (docker, containerd, podman, crio)
standing | privilege.mount | mount
standing | privilege.umount | umount
standing | privilege.pivot-root | pivot_root
standing | privilege.chroot | chroot
standing | privilege.mount-api | fsopen, open_tree, mount_setattr
standing | privilege.unshare | new namespaces by unshare
standing | privilege.clone-namespace | a user namespace by clone
standing | privilege.setns | joining other namespaces
standing | privilege.ptrace | ptrace and process_vm_readv of others
standing | privilege.memory-of-others | /proc/PID/mem of others
standing | privilege.modules | kernel modules
standing | privilege.bpf | bpf
standing | privilege.perf | perf events
standing | privilege.userfaultfd | userfaultfd
standing | privilege.io-uring | io_uring
standing | privilege.keyrings | kernel keyrings
standing | privilege.file-handles | open_by_handle_at (Shocker)
standing | privilege.kexec | kexec
standing | privilege.reboot | reboot
standing | privilege.swap | swapon, swapoff
standing | privilege.hostname | host and domain name
standing | privilege.accounting | acct, quotactl
standing | privilege.kernel-ring | reading the kernel ring by syslog(2)
standing | privilege.fanotify | fanotify
standing | privilege.time | setting the clock
standing | privilege.ports | I/O ports
standing | privilege.core-pattern | core_pattern, uevent_helper, modprobe, binfmt_misc
standing | privilege.sysctl | every setting below /proc/sys
standing | privilege.cgroup-release-agent | control groups, release_agent (CVE-2022-0492)
standing | privilege.own-executable | /proc/self/exe (CVE-2019-5736)
standing | privilege.leaked-folder | leaked folder descriptors (CVE-2024-21626)
standing | privilege.descriptors | inherited descriptors
standing | privilege.devices | device nodes in /dev
standing | privilege.make-device | making device nodes
standing | privilege.user-map | maps of the user namespace, oom_score_adj
standing | privilege.priority | priorities, real-time scheduling
standing | privilege.terminal | keys into the terminal (TIOCSTI)
standing | privilege.dirty-pipe | the kernel is not open to Dirty Pipe (CVE-2022-0847)
host | privilege.seen-from-host | as the host sees the process: no root, no capability
network | network.interfaces | no interface but loopback
network | network.tcp | TCP to the outside
network | network.udp | UDP to the outside
network | network.metadata | cloud metadata services
network | network.private | private ranges
network | network.ipv6 | IPv6
network | network.icmp | ICMP
network | network.raw | raw and packet sockets
network | network.other-families | vsock, alg, Bluetooth and other families
network | network.dns | data in names, by the system's resolver
network | network.dns-direct | data in names, by a resolver of its own choice
network | network.host-loopback | a listener on the host's loopback
network | network.host-addresses | a listener on the host's addresses (gateway)
network | network.host-names | host.docker.internal, kubernetes.default.svc
network | network.abstract-sockets | abstract Unix sockets of the host
network | network.broadcast | broadcast and multicast
network | network.proxy | proxies in the environment
network | network.change-it | tun devices, routes, interface flags
network | network.route-localnet | route_localnet (CVE-2020-8558)
host | network.seen-from-host | nobody came to the host's listeners
near | near.files | two at once: files
near | near.processes | two at once: processes
near | near.tcp | two at once: TCP on loopback
near | near.udp | two at once: UDP on loopback
near | near.unix-sockets | two at once: Unix sockets
near | near.shared-memory | two at once: System V memory, queues, semaphores
near | near.signals | two at once: signals
neighbours-after | after.files | leftovers: files
neighbours-after | after.processes | leftovers: processes
neighbours-after | after.tcp | leftovers: TCP listeners
neighbours-after | after.udp | leftovers: UDP sockets
neighbours-after | after.unix-sockets | leftovers: Unix sockets
neighbours-after | after.shared-memory | leftovers: System V objects
neighbours-after | after.signals | leftovers: other processes
host | after.host | leftovers on the host: containers, volumes, mounts, control groups, processes, folders
standing | leak.environment | the environment is an allow-list
standing | leak.environment-secrets | no secret of the host's environment
standing | leak.flag-file | a file of the host's, by its path and detours
standing | leak.flag-walk | a file of the host's, anywhere
standing | leak.kernel-ring | the kernel's messages
standing | leak.kernel-memory | the kernel's memory
standing | leak.kernel-symbols | the kernel's addresses
standing | leak.proc | what /proc tells about the machine
standing | leak.boot-line | the kernel's command line
standing | leak.hardware | serial numbers, vendors, disks, cards
standing | leak.processes | other people's processes
standing | leak.launcher | the launcher's environment, memory map, files
standing | leak.mounts | host paths in the list of mounts
standing | leak.disks | the host's disks in the list of mounts
standing | leak.cgroup-path | the path of the control group
standing | leak.names | the host's and its user's names
standing | leak.shadow | password hashes, sudo rules
standing | leak.secret-files | credentials and histories of tools
standing | leak.homes | other people's homes
standing | leak.services | services and listening ports
standing | leak.randomised-memory | addresses are randomised
standing | leak.sockets | sockets of the host's services
standing | write.system-folders | new files in system folders
standing | write.device-folders | new files in /dev, /proc, /sys, /run
standing | write.any-folder | new files anywhere but in scratch
standing | write.programs | changing programs, libraries, settings
standing | write.remove-system | removing or renaming system folders
standing | write.traversal | out of the tree by ../
standing | write.symlink | through symlinks
standing | write.hard-link | hard links to files of root's
standing | write.setuid | a setuid copy of a shell
standing | write.file-capabilities | capabilities on a file
standing | write.remount | the root is mounted read-only
standing | write.scratch-flags | scratch is nosuid and nodev
standing | write.launcher-channel | the channel of the results
standing | write.results-are-data | links under the names of results
host | write.upload | a tree that leaves its folder by links and dots is refused
host | write.host-unchanged | nothing on the host changed
host | write.output-only | nothing came out but capped output
standing | technology.pid-namespace | own process namespace
standing | technology.network-namespace | own network namespace
standing | technology.ipc-namespace | own ipc namespace
standing | technology.uts-namespace | own uts namespace
standing | technology.mount-namespace | own mount namespace
standing | technology.cgroup-namespace | own cgroup namespace
standing | technology.user-namespace | own user namespace
standing | technology.kernel | the kernel is the one that the sandbox claims
standing | technology.first-process | process 1 is ours
standing | technology.security-module | confined by AppArmor or SELinux where the host has one
standing | technology.markers | what gives the technology away
standing | technology.tracer | the observer does not show as a debugger
standing | technology.propagation | no mount is shared with the host
standing | technology.limits | limits as the process sees them
standing | technology.raise-limits | limits cannot be raised
"""

_WASM: Final = """
probe | wasm.command.subprocess | subprocess.run(['id'])
host | wasm.command.system | os.system
probe | wasm.command.fork | os.fork()
probe | wasm.command.deno-command | js.Deno.Command('id')
probe | wasm.command.node-child | import('node:child_process')
probe | wasm.command.worker | a Worker with every permission
host | wasm.command.sleep | an endless loop ends at its deadline
host | wasm.command.memory | memory is limited
probe | wasm.privilege.permissions | no permission is left
probe | wasm.privilege.request | Deno.permissions.request
probe | wasm.privilege.native-code | Deno.dlopen of the C library
probe | wasm.privilege.constructor | JsProxy.constructor.constructor('...')()
probe | wasm.privilege.eval | js.eval
probe | wasm.privilege.binding | process.binding('fs')
probe | wasm.privilege.load-binary | pyodide_js._api.loadBinaryFile
probe | wasm.privilege.ctypes | ctypes and a system call
probe | wasm.network.socket | socket.connect to 192.0.2.1:80
probe | wasm.network.tcp | Deno.connect
probe | wasm.network.listen | Deno.listen
probe | wasm.network.dns | Deno.resolveDns of a name that carries data
probe | wasm.network.node | node:net
probe | wasm.network.fetch | fetch of an outside address
probe | wasm.network.metadata | fetch of the cloud metadata service
probe | wasm.network.private | fetch of a private address
probe | wasm.network.host | fetch of a listener on the host's loopback
host | wasm.network.seen-from-host | nobody came to the host's listeners
probe | wasm.after.files | leftovers of the run before
host | wasm.after.host | leftovers on the host
probe | wasm.leak.environment | Deno.env
probe | wasm.leak.python-environment | os.environ is an allow-list
probe | wasm.leak.flag-file | the host's flag file, by Python and by Deno
probe | wasm.leak.flag-file-deno | the host's flag file by Deno
probe | wasm.leak.passwd | /etc/passwd by Deno and by node:fs
probe | wasm.leak.proc | /proc/self/environ by Deno
probe | wasm.leak.host-name | Deno.hostname
probe | wasm.leak.interfaces | Deno.networkInterfaces
probe | wasm.leak.memory | Deno.systemMemoryInfo
probe | wasm.leak.program | Deno.execPath
probe | wasm.write.file | Deno.writeTextFile to /tmp, /work and the host's folder
probe | wasm.write.remove | Deno.remove of the tree
probe | wasm.write.node | node:fs writeFileSync
probe | wasm.write.mount | Pyodide's FS.mount of the host's folders
probe | wasm.write.memory | files are written to memory only
host | wasm.write.host-unchanged | nothing on the host changed
probe | wasm.technology.threads | no threads
probe | wasm.technology.platform | it is WebAssembly
"""
_JAVASCRIPT: Final = """
probe | javascript.command.deno-command | Deno.Command('id')
probe | javascript.command.node-child | node:child_process
probe | javascript.command.worker | a Worker that inherits permissions
host | javascript.command.sleep | an endless loop ends at its deadline
host | javascript.command.memory | memory is limited
probe | javascript.privilege.request | Deno.permissions.request
probe | javascript.privilege.native-code | Deno.dlopen
probe | javascript.privilege.binding | process.binding('fs')
probe | javascript.privilege.prompt | a question on the terminal
probe | javascript.privilege.permissions | no permission is given
probe | javascript.network.tcp | Deno.connect
probe | javascript.network.udp | Deno.listenDatagram
probe | javascript.network.dns | Deno.resolveDns of a name that carries data
probe | javascript.network.websocket | WebSocket
probe | javascript.network.remote-import | import of a remote module
probe | javascript.network.unix | Deno.connect to the engine's socket
probe | javascript.network.fetch | fetch of an outside address
probe | javascript.network.metadata | fetch of the cloud metadata service
probe | javascript.network.private | fetch of a private address
probe | javascript.network.host | fetch of a listener on the host's loopback
probe | javascript.network.ipv6 | fetch over IPv6
host | javascript.network.seen-from-host | nobody came to the host's listeners
host | javascript.after.host | leftovers on the host
probe | javascript.leak.environment | Deno.env
probe | javascript.leak.node-environment | node:process env
probe | javascript.leak.flag-file | the host's flag file
probe | javascript.leak.node-fs | node:fs readFileSync of /etc/passwd
probe | javascript.leak.json-import | import of a file as JSON
probe | javascript.leak.proc | /proc/self/environ
probe | javascript.leak.host-name | Deno.hostname
probe | javascript.leak.os | node:os userInfo
probe | javascript.leak.memory | Deno.systemMemoryInfo
probe | javascript.write.file | Deno.writeTextFile to /tmp, /work and the host's folder
probe | javascript.write.node | node:fs writeFileSync
probe | javascript.write.storage | localStorage that outlives the run
probe | javascript.write.symlink | Deno.symlink
host | javascript.write.host-unchanged | nothing on the host changed
probe | javascript.technology.version | the versions of the runtime
"""
_RESTRICTED: Final = """
host | restricted.command.import | import of a module
host | restricted.command.system | os.system by __import__
host | restricted.command.exec | exec of a string
host | restricted.command.eval | eval of a string
host | restricted.privilege.subclasses | classes by ().__class__
host | restricted.privilege.getattr | the same by getattr
host | restricted.privilege.format | attributes by str.format (CVE-2023-41039)
host | restricted.privilege.format-map | attributes by format_map
host | restricted.privilege.generator-frame | frames by a generator (CVE-2023-37271)
host | restricted.privilege.traceback-frame | frames by a traceback
host | restricted.privilege.try-star | except* (CVE-2025-22153)
host | restricted.privilege.builtins | __builtins__ by name
host | restricted.privilege.string-module | string.Formatter (CVE-2024-47532)
host | restricted.privilege.write-attribute | attributes of foreign objects
host | restricted.privilege.underscore | names that begin with _
host | restricted.privilege.type | a metaclass by type()
host | restricted.privilege.match | attributes by match patterns
host | restricted.privilege.async | coroutines and their frames
host | restricted.network.socket | a socket
host | restricted.leak.open | open of /etc/passwd
host | restricted.leak.globals | globals()
host | restricted.leak.vars | vars, dir
host | restricted.write.open | open for writing
host | restricted.technology.sys | sys.modules
host | restricted.command.sleep | an endless loop ends at its deadline
host | restricted.command.memory | memory is limited
host | restricted.network.seen-from-host | nobody came to the host's listeners
host | restricted.write.host-unchanged | nothing on the host changed
host | restricted.after.host | leftovers on the host
"""


def _read(text: str, kind: Kind) -> tuple[Check, ...]:
    checks = []
    for line in text.strip().splitlines():
        group, name, title = (part.strip() for part in line.split("|"))
        number = _CRITERION[name.removeprefix(f"{kind}.").partition(".")[0]]
        checks.append(Check(id=name, criterion=number, title=title, group=group, kind=kind))
    return tuple(checks)


CHECKS: Final[tuple[Check, ...]] = (
    *_read(_MACHINE, "machine"),
    *_read(_WASM, "wasm"),
    *_read(_JAVASCRIPT, "javascript"),
    *_read(_RESTRICTED, "restricted"),
)


def of_kind(kind: Kind) -> dict[str, Check]:
    """The checks for what runs inside, by id, in the order of the table."""
    return {check.id: check for check in CHECKS if check.kind == kind}
