"""What happens to every system call: let through unseen, observed, or refused and reported.

One table for the launcher's filter (gate/tracing/bpf/user_notification.py builds it from here) and for the
supervisor, which answers by *number and register values only*, never by bytes read from memory.
What stands in no list is refused with ENOSYS and reported: new kernels bring new calls.
Standard library only.
"""

from __future__ import annotations


def _names(text: str) -> frozenset[str]:
    return frozenset(text.split())


SILENT = _names(
    """
    read write close fstat poll lseek mmap mprotect munmap brk rt_sigaction rt_sigprocmask
    rt_sigreturn ioctl pread64 pwrite64 readv writev pipe select sched_yield mremap msync mincore
    madvise shmget shmat shmctl dup dup2 pause nanosleep getitimer alarm setitimer getpid sendfile
    accept recvfrom recvmsg shutdown getsockname getpeername socketpair setsockopt getsockopt wait4
    uname semget semop semctl shmdt msgget msgsnd msgrcv msgctl fcntl flock fsync fdatasync getdents
    getcwd umask gettimeofday getrlimit getrusage sysinfo times getuid getgid geteuid getegid
    setpgid getppid getpgrp getgroups getresuid getresgid getpgid getsid capget rt_sigpending
    rt_sigtimedwait rt_sigsuspend sigaltstack statfs fstatfs getpriority setpriority sched_setparam
    sched_getparam sched_setscheduler sched_getscheduler sched_get_priority_max
    sched_get_priority_min sched_rr_get_interval mlock munlock mlockall munlockall arch_prctl sync
    gettid readahead getxattr lgetxattr fgetxattr listxattr llistxattr flistxattr time futex
    sched_setaffinity sched_getaffinity set_thread_area get_thread_area epoll_create
    remap_file_pages getdents64 set_tid_address restart_syscall semtimedop fadvise64 timer_create
    timer_settime timer_gettime timer_getoverrun timer_delete clock_gettime clock_getres
    clock_nanosleep epoll_wait epoll_ctl mq_open mq_unlink mq_timedsend mq_timedreceive mq_notify
    mq_getsetattr waitid ioprio_set ioprio_get inotify_init inotify_add_watch inotify_rm_watch
    pselect6 ppoll set_robust_list get_robust_list splice tee sync_file_range vmsplice epoll_pwait
    signalfd timerfd_create eventfd fallocate timerfd_settime timerfd_gettime accept4 signalfd4
    eventfd2 epoll_create1 dup3 pipe2 inotify_init1 preadv pwritev recvmmsg syncfs getcpu
    sched_setattr sched_getattr getrandom membarrier mlock2 copy_file_range preadv2 pwritev2
    pkey_mprotect pkey_alloc pkey_free io_pgetevents rseq pidfd_open close_range epoll_pwait2
    landlock_create_ruleset landlock_add_rule landlock_restrict_self process_mrelease futex_waitv
    cachestat futex_wake futex_wait futex_requeue mseal listxattrat getxattrat lsm_get_self_attr
    lsm_list_modules file_getattr ftruncate get_mempolicy map_shadow_stack process_madvise io_setup io_destroy
    io_getevents io_submit io_cancel set_mempolicy mbind set_mempolicy_home_node
    """
)
"""Harmless, or seen through something else (a write follows an open): native speed.
``io_submit`` (the old asynchronous I/O) only works on descriptors whose open was seen."""

OPEN = _names(
    """
    open openat openat2 creat
    """
)
LOOK = _names(
    """
    stat lstat newfstatat statx access faccessat faccessat2 readlink readlinkat chdir fchdir
    """
)
"""Questions about paths: many, so only observed where asked for (``look``)."""
FILE = _names(
    """
    unlink unlinkat rmdir rename renameat renameat2 link linkat symlink symlinkat mkdir mkdirat
    mknod mknodat chmod fchmod fchmodat fchmodat2 chown fchown lchown fchownat truncate
    utime utimes futimesat utimensat setxattr lsetxattr fsetxattr setxattrat removexattr
    lremovexattr fremovexattr removexattrat file_setattr
    """
)
EXEC = _names(
    """
    execve execveat
    """
)
FORK = _names(
    """
    fork vfork clone
    """
)
END = _names(
    """
    exit exit_group
    """
)
SOCKET = _names(
    """
    socket
    """
)
NET = _names(
    """
    connect bind listen sendto sendmsg sendmmsg
    """
)
SIGNAL = _names(
    """
    kill tkill tgkill rt_sigqueueinfo rt_tgsigqueueinfo pidfd_send_signal
    """
)
MEMFD = _names(
    """
    memfd_create
    """
)
CONTROL = _names(
    """
    prctl setuid setgid setreuid setregid setresuid setresgid setgroups setfsuid setfsgid capset
    setrlimit prlimit64 seccomp setsid
    """
)
OBSERVED = OPEN | LOOK | FILE | EXEC | FORK | END | SOCKET | NET | SIGNAL | MEMFD | CONTROL
"""Reported, then carried out by the kernel (with the refusals by register value in supervisor.py)."""

REFUSED = _names(
    """
    ptrace process_vm_readv process_vm_writev pidfd_getfd kcmp mount umount2 pivot_root chroot
    move_mount open_tree open_tree_attr fsopen fsconfig fsmount fspick mount_setattr setns unshare
    bpf perf_event_open userfaultfd io_uring_setup io_uring_enter io_uring_register keyctl add_key
    request_key personality init_module finit_module delete_module create_module query_module
    get_kernel_syms kexec_load kexec_file_load settimeofday clock_settime clock_adjtime adjtimex
    reboot swapon swapoff acct quotactl quotactl_fd syslog sethostname setdomainname iopl ioperm
    modify_ldt vhangup nfsservctl lookup_dcookie open_by_handle_at name_to_handle_at fanotify_init
    fanotify_mark _sysctl uselib ustat sysfs getpmsg putpmsg afs_syscall tuxcall security vserver
    memfd_secret listmount statmount listns lsm_set_self_attr migrate_pages move_pages
    """
)
"""Nothing a build or a test needs: answered EPERM and reported."""

UNSUPPORTED = _names(
    """
    clone3
    """
)
"""Answered ENOSYS in the filter, unreported: its flags lie in memory; libc falls back to clone, which
is seen."""

X32_BIT = 0x40000000
"""Set in the number of an x32 call (same AUDIT_ARCH as native x86-64)."""
