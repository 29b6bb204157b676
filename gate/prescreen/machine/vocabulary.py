"""Words: sources of random values, facts of a machine, options of a test run, and what acts."""

from __future__ import annotations

import re
from typing import Final

from gate.regex import regex

SECURE: Final = regex(
    r"OsRng|\bgetrandom\b|SecureRandom|\brand\.(?:Read|Text|Reader)\b|cryptorand\.|randomBytes"
    r"|randomInt\b|getRandomValues"
    r""
    r"|randomUUID|\bsecrets\.(?:token_\w+|choice|randbelow|SystemRandom)|os\.urandom|\burandom\b"
    r"|SystemRandom|\buuid4\b"
    r""
    r"|new_v4|random_bytes|random_int\b|openssl_random_pseudo_bytes|RandomNumberGenerator"
    r"|RNGCryptoServiceProvider"
    r""
    r"|Guid\.NewGuid|uuid\.New(?:String|Random)?\b|\btoken_(?:hex|urlsafe|bytes)\b|/dev/u?random|getrandom\("
    r"|SysRng|nanoid|SecureRandom\.(?:hex|uuid|random_number|alphanumeric|urlsafe_base64)"
)
WEAK: Final = regex(
    r"Math\.random|\brand\.(?:Int\w*|N|Uint\w*|Float\w*|New|Seed|Perm)\b"
    r"|\brandom\.(?:random|randint|randrange|choices?)\b"
    r"|\brandom\.(?:getrandbits|sample|Random|seed)\b"
    r"|new Random\b|\bRandom\(\)|ThreadLocalRandom|\bmt_rand|\brand\(\)|uniqid|lcg_value|Random\.new"
    r"|Kernel\.rand|SmallRng"
    r""
    r"|seed_from_u64|from_seed|XorShift|Date\.now|\btime\.time|time_ns|UnixNano|UnixMilli|nanoTime"
    r"|currentTimeMillis"
    r""
    r"|SystemTime::now|Instant::now|DateTime\.(?:Utc)?Now|Stopwatch|Environment\.TickCount"
    r"|ProcessId|process::id|getpid"
    r""
    r"|Process\.pid|process\.pid|os\.Getpid|fetch_add|AddUint64|AddInt64|Interlocked\.Increment"
    r"|incrementAndGet"
    r""
    r"|getAndIncrement|\buuid[135]\b|new_v[135]\b|microtime|hrtime|performance\.now|perf_counter|monotonic"
    r"|\bmt19937|Random\.rand"
    r""
)
FACTS: Final = {
    "how it is built": regex(
        r"cfg!\(|\bNODE_ENV\b|import\.meta\.env\.(?:DEV|PROD|MODE)|__DEV__|Rails\.env|\bAPP_(?:ENV|DEBUG)\b|__debug__"
        r"|BuildConfig\.DEBUG|ASPNETCORE_ENVIRONMENT|\.IsDevelopment\(\)|\bgin\.Mode\(\)"
    ),
    "the number of processors": regex(
        r"available_?parallelism|num_cpus|\bNumCPU\b|GOMAXPROCS|availableProcessors|ProcessorCount"
        r"|nprocessors"
        r""
        r"|processor_count|cpu_count|hardwareConcurrency|os\.cpus",
        re.IGNORECASE,
    ),
    "the machine's memory": regex(
        r"totalMemory|maxMemory|TotalPhysical|totalmem|virtual_memory|MemTotal|total_memory|sysinfo"
    ),
    "the machine's name": regex(
        r"\bHostname\b|gethostname|getHostName|MachineName|\bhostname\b|getLocalHost|\buname\b|COMPUTERNAME"
    ),
    "who runs it": regex(
        r"\bgete?uid\b|Gete?uid|user\.Current|Environment\.UserName|getlogin|user\.name[\"']|whoami"
        r"|\bLOGNAME\b"
        r""
    ),
    "whether CI runs it": regex(
        r"[\"'](?:CI|GITHUB_ACTIONS|GITLAB_CI|JENKINS_URL|BUILDKITE|TRAVIS|CIRCLECI|TF_BUILD"
        r"|TEAMCITY_VERSION)[\"']"
        r""
    ),
    "the day or the hour": regex(
        r"\.(?:Weekday|YearDay|Month|Hour)\(\)|\.(?:DayOfWeek|DayOfYear)\b|\.(?:wday|yday)\b"
        r"|getDayOfWeek|getHours?\(\)"
        r""
        r"|\.(?:weekday|hour|ordinal)\(\)|getMonth\w*\(\)|getDay\(\)|\bdate\(\s*[\"'][HNwzGjDlm]"
    ),
    "the language or the place": regex(
        r"Locale\.getDefault|CultureInfo\.Current|[\"'](?:LANG|LC_ALL|TZ)[\"']|TimeZone\.getDefault"
        r"|TimeZoneInfo\.Local"
        r""
    ),
    "whether a person sits there": regex(
        r"\bisatty\b|IsTerminal|is_terminal|\btty\?|IsInputRedirected|System\.console|isTTY"
    ),
    "how long the machine runs": regex(r"getUptime|TickCount64?|/proc/uptime|\buptime\b"),
    "a debugger": regex(r"Debugger\.IsAttached|isDebuggerConnected|TracerPid|jdwp"),
    "a container": regex(r"/\.dockerenv|/proc/1/cgroup|KUBERNETES_SERVICE_HOST|/sys/class/dmi"),
}
RUN: Final = regex(
    r"getoption\(\s*[\"'](?:-m|-k|markexpr|keyword|--?numprocesses|-n|--?dist|--lf|--ff|lastfailed"
    r"|-x|maxfail)[\"']"
    r""
    r"|\.option\.(?:markexpr|keyword|numprocesses|maxfail)|\btestsfailed\b|\btestscollected\b"
    r"|invocation_params"
    r""
    r"|get_closest_marker\(|PYTEST_XDIST_WORKER\w*|workerinput|JEST_WORKER_ID|VITEST_POOL_ID|VITEST_WORKER_ID"
)
"""What only the runner of the tests knows: marks that were chosen, workers, what failed."""
CHECKS: Final = regex(
    r"(?i)(?:^|[._:])(?:verif\w*|authenticat\w*|authori[sz]e\w*|check_?(?:sig|auth|perm|access"
    r"|token|pass)\w*|constant_?time\w*"
    r""
    r"|compare_?digest|timing_?safe\w*|hmac\w*|sign|signed|encrypt\w*|decrypt\w*|seal"
    r"|validate_?(?:token|sig|user|pass|cert)\w*"
    r""
    r"|require_?(?:auth|login|admin|role)\w*|is_?(?:admin|authorized|allowed|trusted)\w*|has_?permission\w*"
    r"|is_?valid_?(?:sig|token|pass|mac|cert|hmac)\w*)$"
)
ACTS: Final = regex(
    r"(?:^|[._:])(?:write_text|write_bytes|writeFile(?:Sync)?|appendFile(?:Sync)?|run|check_call"
    r"|check_output|Popen|system"
    r""
    r"|exec(?:Sync|File|FileSync)?|spawn(?:Sync)?|rmtree|unlink|rename|replace|copy(?:file|tree|2)?"
    r"|urlopen|post|put|send|connect)$"
    r""
)
"""What a test run's hook does outside of itself."""
