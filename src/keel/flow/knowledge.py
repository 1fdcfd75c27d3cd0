"""What is known of Python and its libraries: which calls only compute, change their object, or reach outside.

The lists are read by name, never by import, so that a verdict does not depend on what is installed. State of the
lists: July 2026, Python 3.14.
"""

from __future__ import annotations

import builtins


def _words(text: str) -> list[str]:
    return text.split()


BUILTINS = frozenset(dir(builtins)) | {
    "__file__",
    "__name__",
    "__doc__",
    "__package__",
    "__spec__",
    "__loader__",
    "__path__",
    "__builtins__",
    "__annotations__",
    "__debug__",
    "PythonFinalizationError",
    "EncodingWarning",
    "aiter",
    "anext",
    "__class__",
    "WindowsError",
    "_",
}
"""Names that need no definition; of any supported Python."""

EXCEPTIONS = frozenset(
    name
    for name in dir(builtins)
    if isinstance(getattr(builtins, name), type) and issubclass(getattr(builtins, name), BaseException)
)

PURE = frozenset(
    f"builtins.{name}"
    for name in _words(
        """
        abs all any ascii bin bool bytearray bytes callable chr complex dict divmod enumerate filter float
        format frozenset getattr hasattr hash hex int isinstance issubclass len list map max min oct ord pow
        range repr reversed round set slice sorted str sum tuple type zip memoryview object id vars dir
        """
    )
)
"""Builtins whose result depends on their arguments alone."""

RENDERING = frozenset(
    {
        f"builtins.{name}"
        for name in (
            "str",
            "repr",
            "ascii",
            "format",
            "list",
            "tuple",
            "dict",
            "set",
            "frozenset",
            "sorted",
            "enumerate",
            "reversed",
            "zip",
        )
    }
    | {
        "json.dumps",
        "pprint.pformat",
        "textwrap.dedent",
        "textwrap.indent",
        "textwrap.fill",
        "shlex.join",
        "shlex.quote",
        "html.escape",
        "copy.copy",
        "copy.deepcopy",
        "dataclasses.asdict",
        "dataclasses.astuple",
    }
)
"""Calls in whose result every argument can still be read."""

RENDERING_METHODS = frozenset(
    {
        "format",
        "join",
        "strip",
        "lstrip",
        "rstrip",
        "copy",
        "items",
        "values",
        "title",
        "expandtabs",
        "ljust",
        "rjust",
        "center",
        "zfill",
        "model_dump",
        "model_dump_json",
        "_asdict",
        "isoformat",
        "substitute",
        "safe_substitute",
    }
)
"""Methods in whose result the object and the arguments can still be read."""

ADJUSTING_METHODS = frozenset(_words("strip lstrip rstrip ljust rjust center zfill expandtabs"))
"""Those of them whose arguments only say how the text is cut or padded."""

PURE_MODULES = frozenset(
    [
        "math",
        "cmath",
        "decimal",
        "fractions",
        "numbers",
        "statistics",
        "string",
        "re",
        "json",
        "textwrap",
        "difflib",
        "unicodedata",
        "itertools",
        "functools",
        "operator",
        "collections",
        "enum",
        "dataclasses",
        "typing",
        "types",
        "copy",
        "pprint",
        "html",
        "base64",
        "binascii",
        "hashlib",
        "hmac",
        "struct",
        "fnmatch",
        "posixpath",
        "ntpath",
        "ipaddress",
        "colorsys",
        "bisect",
        "heapq",
        "abc",
        "contextlib",
        "numbers",
        "keyword",
        "calendar",
        "zoneinfo",
        "shlex",
        "csv",
        "array",
        "graphlib",
        "tomllib",
        "urllib.parse",
        "typing_extensions",
        "pydantic",
        "attr",
        "attrs",
        "annotated_types",
        "packaging",
        "yaml",
    ]
)
"""Modules whose functions only compute."""

PURE_CALLS = frozenset(
    {
        "datetime.date",
        "datetime.datetime",
        "datetime.timedelta",
        "datetime.time",
        "datetime.timezone",
        "datetime.date.fromisoformat",
        "datetime.datetime.fromisoformat",
        "datetime.datetime.fromtimestamp",
        "datetime.datetime.strptime",
        "datetime.datetime.combine",
        "datetime.date.fromtimestamp",
        "os.path.join",
        "os.path.basename",
        "os.path.dirname",
        "os.path.splitext",
        "os.path.normpath",
        "os.fspath",
        "pathlib.PurePath",
        "pathlib.PurePosixPath",
        "pathlib.PureWindowsPath",
        "pathlib.Path",
        "uuid.UUID",
        "uuid.uuid5",
        "uuid.uuid3",
    }
)
"""Calls that only compute, of modules that also do other things."""

FRESH_CALLS = frozenset({"functools.cached_property", "heapq.heappop", "heapq.heapreplace", "heapq.heappushpop"})

SILENT = frozenset(
    {
        "builtins.print",
        "time.sleep",
        "asyncio.sleep",
        "warnings.warn",
        "typing.cast",
        "typing.assert_never",
        "builtins.super",
    }
)
"""Calls that change nothing the flow can see."""

QUIET_MODULES = ("logging", "warnings", "structlog", "loguru")

MUTATORS = frozenset(
    _words(
        """
        append appendleft extend extendleft insert remove pop popleft popitem clear update setdefault add
        discard sort reverse rotate difference_update intersection_update symmetric_difference_update
        move_to_end subtract put put_nowait push __setitem__ __delitem__ __setattr__ __delattr__ __iadd__
        __ior__ __iand__ write writelines
        """
    )
)
"""Methods that change their object."""

TAKERS = frozenset({"pop", "popleft", "popitem", "get_nowait", "readline", "read", "recv", "send"})
"""Methods that give something else each time."""

MUTATING_CALLS = frozenset(
    {
        "random.shuffle",
        "heapq.heappush",
        "heapq.heappop",
        "heapq.heapify",
        "heapq.heappushpop",
        "heapq.heapreplace",
        "bisect.insort",
        "bisect.insort_left",
        "bisect.insort_right",
        "operator.setitem",
        "operator.delitem",
        "operator.iadd",
        "operator.iconcat",
        "operator.ior",
        "builtins.setattr",
        "builtins.delattr",
        "builtins.next",
        "builtins.anext",
        "builtins.list.append",
        "builtins.list.extend",
        "builtins.dict.update",
        "builtins.dict.__setitem__",
        "builtins.list.sort",
        "builtins.list.insert",
        "builtins.list.pop",
        "builtins.list.remove",
        "builtins.list.clear",
        "builtins.list.reverse",
        "builtins.dict.pop",
        "builtins.dict.clear",
        "builtins.dict.setdefault",
        "builtins.set.add",
        "builtins.set.update",
        "builtins.set.discard",
        "builtins.object.__setattr__",
        "struct.pack_into",
    }
)
"""Calls that change their first argument."""

PURE_METHODS = frozenset(
    _words(
        """
        capitalize casefold center count decode encode endswith expandtabs find format format_map index isalnum
        isalpha isascii isdecimal isdigit isidentifier islower isnumeric isprintable isspace istitle isupper
        join ljust lower lstrip maketrans partition removeprefix removesuffix replace rfind rindex rjust
        rpartition rsplit rstrip split splitlines startswith strip swapcase title translate upper zfill get
        items keys values copy union intersection difference symmetric_difference issubset issuperset isdisjoint
        hex fromhex bit_length bit_count conjugate is_integer as_integer_ratio to_bytes from_bytes quantize
        to_integral_value normalize isoformat strftime date time timetz replace timestamp weekday isoweekday
        isocalendar toordinal total_seconds utctimetuple timetuple astimezone as_posix joinpath with_suffix
        with_name with_stem relative_to is_relative_to is_absolute match group groups groupdict start end span
        fullmatch search findall finditer sub subn most_common elements model_dump model_dump_json model_copy
        dict json substitute safe_substitute get_identifiers
        _asdict _replace hexdigest digest total __getitem__ __contains__ __len__ __str__ __repr__
        __eq__
        """
    )
)
"""Methods of plain values that only compute."""

DYNAMIC = {
    "builtins.eval": "`eval` can call any tool",
    "builtins.exec": "`exec` can call any tool",
    "builtins.compile": "compiled code can call any tool",
    "builtins.__import__": "a computed import can reach any tool",
    "builtins.globals": "`globals()` gives every tool of the module by name",
    "builtins.locals": "`locals()` gives tools by name",
    "builtins.__builtins__": "it gives `eval` and `__import__` by name",
    "builtins.__dict__": "it gives `eval` and `__import__` by name",
    "builtins.breakpoint": "a debugger can call any tool",
    "importlib.import_module": "a computed import can reach any tool",
    "importlib.reload": "a reloaded module is not the one that was read",
    "sys.modules": "`sys.modules` gives every module by name",
    "sys._getframe": "a frame gives every local name",
    "sys.settrace": "a trace function runs between any two steps",
    "sys.setprofile": "a profile function runs between any two steps",
    "inspect.currentframe": "a frame gives every local name",
    "inspect.stack": "a frame gives every local name",
    "gc.get_objects": "the collector gives every object",
    "gc.get_referrers": "the collector gives every object",
    "pickle.loads": "unpickling can call anything",
    "pickle.load": "unpickling can call anything",
    "runpy.run_path": "it runs another program in this process",
    "runpy.run_module": "it runs another program in this process",
    "code.interact": "a console can call any tool",
    "pydoc.locate": "a computed name can be any tool",
    "pkgutil.resolve_name": "a computed name can be any tool",
    "operator.methodcaller": "a computed method can be any tool",
    "unittest.mock.patch": "`patch` replaces what a name means",
    "unittest.mock.patch.object": "`patch` replaces what a name means",
    "unittest.mock.patch.dict": "`patch` replaces what a name means",
    "unittest.mock.patch.multiple": "`patch` replaces what a name means",
    "mock.patch": "`patch` replaces what a name means",
    "pytest.MonkeyPatch": "it replaces what a name means",
}
"""Names whose use makes the program unreadable."""

ESCAPES = frozenset(
    {
        "builtins.__builtins__",
        "builtins.__dict__",
        "builtins.__import__",
        "builtins.compile",
        "builtins.eval",
        "builtins.exec",
        "importlib.import_module",
        "importlib.reload",
        "runpy.run_module",
        "runpy.run_path",
        "sys.modules",
    }
)
"""Those of them that reach a tool from any module, also from one that mentions none."""

ESCAPING_ATTRIBUTES = frozenset(
    {"__subclasses__", "__globals__", "__builtins__", "f_globals", "f_locals", "f_builtins", "cell_contents"}
)
"""Attributes that give functions or classes past their names."""

REPLACING_ATTRIBUTES = frozenset(
    {"__code__", "__defaults__", "__kwdefaults__", "__globals__", "__bases__", "__class__"}
)
"""Attributes whose assignment makes a function or a class another."""

APPROVAL_FIELDS = frozenset({"approved", "reason", "by", "comment"})
"""What may be read of an approval."""

FORGERS = (
    "builtins.vars",
    "builtins.setattr",
    "builtins.delattr",
    "builtins.type.",
    "builtins.object.",
    "copy.",
    "ctypes.",
    "dataclasses.replace",
    "gc.",
    "inspect.",
    "marshal.",
    "operator.",
    "pickle.",
    "types.",
)
"""Calls that could make an approval another, or a second one; a dot at the end covers what is below."""

MCP_CLIENTS = ("mcp", "fastmcp", "mcp_use", "langchain_mcp_adapters", "mcpadapt", "smolagents.mcp_client")
"""Packages that call MCP tools past keel."""

OUTSIDE_IO = (
    "requests",
    "httpx",
    "httpx2",
    "aiohttp",
    "urllib.request",
    "urllib3",
    "http.client",
    "socket",
    "ssl",
    "ftplib",
    "smtplib",
    "imaplib",
    "poplib",
    "telnetlib",
    "xmlrpc.client",
    "subprocess",
    "paramiko",
    "fabric",
    "asyncssh",
    "pexpect",
    "websockets",
    "websocket",
    "grpc",
    "boto3",
    "botocore",
    "aioboto3",
    "google.cloud",
    "googleapiclient",
    "azure",
    "openai",
    "anthropic",
    "litellm",
    "cohere",
    "mistralai",
    "google.generativeai",
    "google.genai",
    "langchain",
    "psycopg",
    "psycopg2",
    "asyncpg",
    "pymysql",
    "MySQLdb",
    "sqlite3",
    "sqlalchemy",
    "pymongo",
    "motor",
    "redis",
    "aioredis",
    "elasticsearch",
    "opensearchpy",
    "kafka",
    "confluent_kafka",
    "pika",
    "aio_pika",
    "celery",
    "stripe",
    "twilio",
    "sendgrid",
    "slack_sdk",
    "slack_bolt",
    "github",
    "gitlab",
    "jira",
    "docker",
    "kubernetes",
    "playwright",
    "selenium",
    "pyodbc",
    "cx_Oracle",
    "oracledb",
    "snowflake",
    "firebase_admin",
    "shutil",
    "tempfile",
    "webbrowser",
    "multiprocessing",
    "asyncio.create_subprocess_exec",
    "asyncio.create_subprocess_shell",
    "asyncio.open_connection",
    "asyncio.start_server",
    "os.system",
    "os.popen",
    "os.remove",
    "os.unlink",
    "os.rename",
    "os.replace",
    "os.rmdir",
    "os.removedirs",
    "os.mkdir",
    "os.makedirs",
    "os.kill",
    "os.execv",
    "os.execvp",
    "os.spawnl",
    "os.spawnv",
    "os.fork",
    "os.posix_spawn",
    "os.putenv",
    "os.chmod",
    "os.chown",
    "os.link",
    "os.symlink",
    "os.truncate",
    "os.open",
    "builtins.open",
    "io.open",
    "anyio.run_process",
    "trio.run_process",
)
"""Names that reach the outside world; a prefix covers what is below it."""

RETRY_DECORATORS = frozenset(
    {
        "tenacity.retry",
        "backoff.on_exception",
        "backoff.on_predicate",
        "stamina.retry",
        "retry.retry",
        "retrying.retry",
        "retry_async.retry",
        "async_retrying.retry",
        "aioretry.retry",
        "opnieuw.retry",
        "redo.retriable",
        "riprova.retry",
    }
)
"""Decorators of packages that call a function again after it failed."""

HARMLESS_DECORATORS = frozenset(
    {
        "functools.wraps",
        "typing.no_type_check",
        "typing.final",
        "typing.override",
        "typing_extensions.override",
        "typing_extensions.final",
        "typing.overload",
        "typing_extensions.deprecated",
        "warnings.deprecated",
        "abc.abstractmethod",
    }
)
"""Decorators that leave a function the function it is."""

MEMOISING_DECORATORS = frozenset({"functools.lru_cache", "functools.cache", "functools.cached_property"})
"""Decorators that run a function once and give its answer again: an approval in it serves many calls."""

CONSUMERS = frozenset(
    f"builtins.{name}"
    for name in ("list", "tuple", "set", "frozenset", "sum", "any", "all", "max", "min", "sorted", "dict", "len")
) | {
    "collections.deque",
    "collections.Counter",
    "statistics.mean",
    "statistics.median",
    "math.fsum",
    "builtins.str.join",
}
"""Calls that iterate a generator to its end at once."""


def is_outside_io(path: str) -> bool:
    """Tell whether a dotted name reaches the outside world."""
    return any(path == name or path.startswith(f"{name}.") for name in OUTSIDE_IO)


def is_pure(path: str) -> bool:
    """Tell whether a call by dotted name only computes from its arguments."""
    if path in FRESH_CALLS:
        return False
    if (
        path in PURE
        or path in PURE_CALLS
        or path.startswith(("builtins.str.", "builtins.int.", "builtins.dict.fromkeys"))
    ):
        return True
    if path.startswith("builtins.") and path[9:] in EXCEPTIONS:
        return True
    parts = path.split(".")
    return any(".".join(parts[:end]) in PURE_MODULES for end in range(1, len(parts)))


def is_silent(path: str) -> bool:
    """Tell whether a call by dotted name changes nothing that a flow can see."""
    return path in SILENT or any(path.startswith(f"{name}.") for name in QUIET_MODULES)
