"""The registry of codes: one sorted literal that names every finding and every reason for not checking."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Severity(StrEnum):
    """How bad a finding is."""

    ERROR = "error"
    WARNING = "warning"
    INFO = "info"

    @property
    def rank(self) -> int:
        """0 is worst."""
        return _RANK[self]


_RANK = {Severity.ERROR: 0, Severity.WARNING: 1, Severity.INFO: 2}


class Gate(StrEnum):
    """Which check a finding belongs to."""

    INPUT = "input"
    FREEZE = "freeze"
    VALIDATE = "validate"
    CAPABILITY = "capability"
    APPROVAL = "approval"
    RACE = "race"
    LINT = "lint"
    DRIFT = "drift"
    BUNDLE = "bundle"
    SUPPRESSION = "suppression"
    RUNTIME = "run-time"
    NOT_CHECKED = "not-checked"


@dataclass(frozen=True, slots=True)
class CodeInfo:
    """What `keel explain CODE` shows."""

    code: str
    """Names the defect in kebab-case and never changes."""
    gate: Gate
    severity: Severity
    """Default severity."""
    summary: str
    why: str
    next: str
    """What to do about it, in general; a finding may say something more exact."""
    suppressible: bool = False
    """Whether a suppression with a reason and a date is accepted."""


def _error(gate: Gate, code: str, summary: str, why: str, next_: str, *, suppressible: bool = False) -> CodeInfo:
    return CodeInfo(code, gate, Severity.ERROR, summary, why, next_, suppressible)


def _warning(gate: Gate, code: str, summary: str, why: str, next_: str) -> CodeInfo:
    return CodeInfo(code, gate, Severity.WARNING, summary, why, next_, suppressible=True)


def _info(gate: Gate, code: str, summary: str, why: str, next_: str) -> CodeInfo:
    return CodeInfo(code, gate, Severity.INFO, summary, why, next_, suppressible=True)


def _gap(code: str, summary: str, why: str, next_: str) -> CodeInfo:
    return CodeInfo(code, Gate.NOT_CHECKED, Severity.ERROR, summary, why, next_)


_INPUT = (
    _error(
        Gate.INPUT,
        "config-error",
        "the project configuration is not valid",
        "A setting that is misread silently would weaken every check that depends on it.",
        "correct the named key; `keel schema config` prints the whole grammar",
    ),
    _error(
        Gate.INPUT,
        "file-error",
        "a file cannot be read or written",
        "A report, a lock or a bundle that is only half there must not look whole.",
        "check the path, its permissions and the space on the disk",
    ),
    _error(
        Gate.INPUT,
        "input-error",
        "an input file cannot be read",
        "A file that is only half understood must not be judged.",
        "correct or recreate the named file",
    ),
    _error(
        Gate.INPUT,
        "lock-error",
        "the lock cannot be trusted as it stands",
        "A truncated, hand-edited or mismatched lock no longer says what was reviewed.",
        "restore `keel.lock` and `keel.lock.d` from git, or run `keel freeze SERVER` and review the difference",
    ),
    _error(
        Gate.INPUT,
        "lock-newer",
        "the lock was written by a newer keel",
        "Reading a format that this version does not know could lose what it records.",
        "upgrade `keel-toolchain`",
    ),
    _error(
        Gate.INPUT,
        "lock-conflict",
        "the lock holds an unresolved merge conflict",
        "Both sides changed the same entry, so only a fresh capture or a person can say which is right.",
        "run `keel freeze` to resolve what only one side changed, then `keel freeze SERVER` for the rest",
    ),
    _error(
        Gate.INPUT,
        "limit-exceeded",
        "an input exceeds one of keel's named limits",
        "Unbounded input is a way to stall every reader.",
        "split or correct the named input",
    ),
    _error(
        Gate.INPUT,
        "manifest-error",
        "the capability manifest is not valid",
        "A grant that is misread is a permission that nobody gave.",
        "correct the named key; `keel schema manifest` prints the whole grammar",
    ),
    _warning(
        Gate.INPUT,
        "client-variable",
        "a client configuration uses a variable that only its client fills in",
        "Each client knows other variables; what one replaces, another hands to the server as written.",
        "write `${VAR}` for an environment variable and `${secret:NAME}` for a secret",
    ),
    _warning(
        Gate.INPUT,
        "command-with-spaces",
        "a launch writes program and arguments as one text",
        "A command is the path of a program; with its arguments in the same text no such program exists.",
        "move what follows the program into `args`",
    ),
    _warning(
        Gate.INPUT,
        "literal-secret",
        "a launch holds a secret as written",
        "Whoever can read the file can use the secret, and it cannot be rotated without a commit.",
        "replace the value by `secret://NAME` and name its source under `secrets`",
    ),
    _info(
        Gate.INPUT,
        "split-client-config",
        "a client configuration names servers under two sections",
        "Each client reads one of `mcpServers` and `servers` and ignores the other; keel reads both.",
        "keep one section",
    ),
    _error(
        Gate.INPUT,
        "project-missing",
        "there is no project here",
        "Without a project nobody has said what may be called.",
        "run `keel init`, or pass `--project DIR`",
    ),
    _error(
        Gate.INPUT,
        "usage",
        "a command line cannot be carried out as given",
        "Guessing what was meant could check or change the wrong thing.",
        "see `keel COMMAND --help`",
    ),
    _warning(
        Gate.INPUT,
        "unknown-key",
        "a client configuration holds a key that is not read",
        "A misspelt key is silently ignored by the client, so the server starts without the setting.",
        "correct or remove the key",
    ),
)

_FREEZE = (
    _error(
        Gate.FREEZE,
        "control-text",
        "a definition holds text that JSON cannot carry faithfully",
        "Lone surrogates, repeated keys and numbers out of range mean different things to different readers.",
        "report it to the server's author; the tool cannot be frozen as it is",
    ),
    _error(
        Gate.FREEZE,
        "dangling-ref",
        "a `$ref` points at nothing",
        "A schema with a hole accepts or refuses calls by accident.",
        "report it to the server's author, or stop referencing the tool",
    ),
    _error(
        Gate.FREEZE,
        "duplicate-tool",
        "a server lists one tool name twice with different definitions",
        "Clients keep the first or the last one silently, so nobody knows which was reviewed.",
        "report it to the server's author; nothing is frozen until the names are distinct",
    ),
    _error(
        Gate.FREEZE,
        "external-ref",
        "a `$ref` points outside the definition",
        "What lies behind it can change without the frozen digest noticing, and keel never fetches it.",
        "report it to the server's author; the schema must be self-contained",
    ),
    _error(
        Gate.FREEZE,
        "invalid-schema",
        "an input or output schema is not a valid JSON Schema object",
        "Nothing can be validated against a schema that is itself invalid.",
        "report it to the server's author, or stop referencing the tool",
    ),
    _error(
        Gate.FREEZE,
        "launch-changed",
        "a server's launch differs from the one in the lock",
        "The frozen definitions came from another command or URL; what runs now was never reviewed.",
        "review the new launch, then run `keel freeze SERVER` to accept it",
    ),
    _error(
        Gate.FREEZE,
        "lock-missing",
        "there is no lock",
        "Without frozen definitions no call can be bound or validated.",
        "run `keel freeze` and commit `keel.lock` and `keel.lock.d`",
    ),
    _error(
        Gate.FREEZE,
        "lock-stale",
        "the lock no longer matches the project",
        "Contracts, policies or native tools changed after the lock was written.",
        "run `keel freeze` and review the difference",
    ),
    _error(
        Gate.FREEZE,
        "native-tool",
        "a native tool cannot be frozen",
        "A parameter without a schema would let a model send anything.",
        "give every parameter of the tool a type that pydantic can describe",
    ),
    _error(
        Gate.FREEZE,
        "schema-too-complex",
        "a definition exceeds one of keel's size limits",
        "Unbounded definitions are a way to stall every reader.",
        "report it to the server's author, or stop referencing the tool",
    ),
    _error(
        Gate.FREEZE,
        "secret-echoed",
        "a server repeats a resolved secret in what it sends",
        "Writing it to the lock would publish the secret.",
        "rotate the secret and report it to the server's author; nothing was written for this server",
    ),
    _error(
        Gate.FREEZE,
        "unexpected-surface",
        "the surface is not the one given with `--expect`",
        "The server changed between the review and the freeze.",
        "look at `keel drift SERVER` again before accepting it",
    ),
    _error(
        Gate.FREEZE,
        "unknown-server",
        "a referenced server is not configured",
        "A call to a server that nobody configured cannot be frozen or run.",
        "add the server to `servers` in the manifest, or correct the name",
    ),
    _error(
        Gate.FREEZE,
        "unknown-tool",
        "a referenced tool is not in the frozen surface",
        "The call would fail at run time, or reach something never reviewed.",
        "correct the name, or run `keel freeze SERVER` if the server now has it",
    ),
    _warning(
        Gate.FREEZE,
        "unstable-definition",
        "two starts of one server gave different definitions",
        "Text that differs by machine makes every later comparison a false alarm.",
        "add the printed `volatile` entry to the server, then run `keel freeze SERVER`",
    ),
    _warning(
        Gate.FREEZE,
        "volatile-too-wide",
        "a `volatile` mask hides more than a short machine-dependent value",
        "A wide mask would also hide instructions that were added later.",
        "narrow `match` until it covers only the value that differs",
    ),
    _info(
        Gate.FREEZE,
        "stability-unverified",
        "the second start of a new server failed",
        "Whether its definitions differ by machine is not known.",
        "run `keel freeze SERVER` again, or pass `--once` to skip the second start",
    ),
    _info(
        Gate.FREEZE,
        "stdout-noise",
        "a server writes lines to standard output that are not protocol messages",
        "Some clients refuse such a server.",
        "report it to the server's author; logs belong on standard error",
    ),
    _info(
        Gate.FREEZE,
        "cursor-empty",
        "a server ends its listing with an empty cursor instead of none",
        "Some clients would ask for another page for ever.",
        "report it to the server's author",
    ),
)

_VALIDATE = (
    _error(
        Gate.VALIDATE,
        "duplicate-name",
        "two tools or two flows share one name",
        "A lock, a grant or a deployment could not tell them apart.",
        "rename one of them",
    ),
    _error(
        Gate.VALIDATE,
        "dynamic-tool",
        "a tool is used in a way that cannot be followed without running the program",
        "A call that the reader cannot see is a call that no gate guards.",
        "call the tool by its name, directly in the flow or in a project function",
    ),
    _error(
        Gate.VALIDATE,
        "incompatible-argument",
        "no value of the producer fits the frozen input schema",
        "Every call would be refused at run time.",
        "convert the value before the call, or pass another one",
    ),
    _error(
        Gate.VALIDATE,
        "invalid-argument",
        "a literal argument does not validate against the frozen input schema",
        "The call would be refused at run time.",
        "pass a value that the schema accepts",
    ),
    _error(
        Gate.VALIDATE,
        "invalid-option",
        "a step option or a declaration is not valid",
        "An option that is misread silently would not do what it says.",
        "correct the option; docs/flows.md lists them",
    ),
    _error(
        Gate.VALIDATE,
        "missing-argument",
        "a required argument is not passed",
        "The call would be refused at run time.",
        "pass the argument",
    ),
    _error(
        Gate.VALIDATE,
        "not-awaited",
        "a tool call in an async flow is neither awaited nor handed to an understood wrapper",
        "It would never run, or run at a time that no gate can place.",
        "write `await` before the call",
    ),
    _error(
        Gate.VALIDATE,
        "recursive-flow",
        "flows or helpers call each other in a circle that reaches a tool",
        "The number of tool calls would have no bound that a person could approve.",
        "replace the recursion with a loop",
    ),
    _error(
        Gate.VALIDATE,
        "reserved-name",
        "a tool or a flow uses a reserved name",
        "keel's own steps and the provider's names must stay distinguishable.",
        "choose another name",
    ),
    _error(
        Gate.VALIDATE,
        "syntax-error",
        "a module cannot be parsed",
        "What cannot be read cannot be judged.",
        "correct the module; the message says where the parser stopped",
    ),
    _error(
        Gate.VALIDATE,
        "unknown-argument",
        "an argument is not in the frozen input schema",
        "A closed schema refuses it; an open one ignores it silently.",
        "remove the argument or correct its name",
    ),
    _error(
        Gate.VALIDATE,
        "unknown-result-field",
        "a result is subscripted with a key that the frozen output schema excludes",
        "The flow would fail after the call has already happened.",
        "use a field that the output schema declares",
    ),
    _error(
        Gate.VALIDATE,
        "unresolved-name",
        "a project name or module cannot be resolved from the source roots",
        "What it holds may reach a tool, and nobody has looked.",
        "add its folder to `source-roots`, or correct the import",
    ),
    _warning(
        Gate.VALIDATE,
        "flow-not-covered",
        "a file with flows is not matched by `flows`",
        "Its flows are neither checked nor bundled.",
        "add the file to `flows` in the project configuration",
    ),
    _warning(
        Gate.VALIDATE,
        "gate-unused",
        "an approval is asked and covers no call",
        "People who are asked for nothing learn to approve everything.",
        "remove the gate, or move it before the call that it should cover",
    ),
    _warning(
        Gate.VALIDATE,
        "unmediated-effect",
        "a flow reaches the outside world without a tool",
        "keel governs tools, not the rest of Python: this effect has no contract, approval or audit.",
        "wrap it in a native tool with `@tool`",
    ),
    _warning(
        Gate.VALIDATE,
        "unreachable-step",
        "a step of a flow can never run",
        "It is either dead code or a mistake in the branch before it.",
        "remove the step, or correct the condition",
    ),
)

_CAPABILITY = (
    _error(
        Gate.CAPABILITY,
        "data-class-exceeded",
        "data reaches a server that is not cleared for its class",
        "`max_data_class` says what may leave to that server.",
        "drop the value, or raise `max_data_class` in the manifest after review",
    ),
    _error(
        Gate.CAPABILITY,
        "max-calls-exceeded",
        "a flow statically makes more calls than `max_calls` allows",
        "The run would be stopped in the middle.",
        "make fewer calls, or raise `max_calls` after review",
    ),
    _error(
        Gate.CAPABILITY,
        "model-not-granted",
        "a model is not in the manifest's `models`",
        "A present section is an allow-list.",
        "add the model to `models`, or use a granted one",
    ),
    _error(
        Gate.CAPABILITY,
        "network-not-granted",
        "a server's host is not in the manifest's `network`",
        "A present section is an allow-list.",
        "add the host to `network` after review",
    ),
    _error(
        Gate.CAPABILITY,
        "reasoner-not-granted",
        "a reasoner is not in the manifest's `reasoners`",
        "A present section is an allow-list.",
        "add the reasoner to `reasoners`",
    ),
    _error(
        Gate.CAPABILITY,
        "scope-not-granted",
        "a context scope is not in the manifest's `scopes`",
        "A present section is an allow-list.",
        "add the scope to `scopes`, or read less context",
    ),
    _error(
        Gate.CAPABILITY,
        "server-not-granted",
        "a server is not in the manifest's `servers`",
        "A present section is an allow-list.",
        "add the server to `servers`, or remove it from the client configuration",
    ),
    _error(
        Gate.CAPABILITY,
        "server-version",
        "a server's version is outside the range that the manifest accepts",
        "The range says which versions were reviewed.",
        "install a version in the range, or widen `version` after review",
    ),
    _error(
        Gate.CAPABILITY,
        "tool-not-granted",
        "a called tool is not in the manifest's `tools`",
        "A present section is an allow-list.",
        "add the printed line to `tools`",
    ),
    _error(
        Gate.CAPABILITY,
        "untrusted-flow",
        "untrusted output reaches the arguments of an external or dangerous call",
        "Text written by a stranger would steer what the call does.",
        "show the value in a human gate before the call, or use a trusted value",
    ),
    _warning(
        Gate.CAPABILITY,
        "effect-lowered",
        "the manifest asserts less than a server's hint or a declaration says",
        "It is a person's decision and should stay visible.",
        "give the grant a `reason`, or assert the stronger effect",
    ),
    _warning(
        Gate.CAPABILITY,
        "no-manifest",
        "there is no capability manifest",
        "Nothing is constrained: every server, tool and model is allowed.",
        "run `keel init`, or write `keel.yaml`",
    ),
    _warning(
        Gate.CAPABILITY,
        "review-expired",
        "a server's review has expired",
        "What was reviewed then may not be what is trusted now.",
        "review the server again and update `reviewed_at` and `review_expires_at`",
    ),
    _warning(
        Gate.CAPABILITY,
        "review-expiring",
        "a server's review expires within 30 days",
        "After the date `keel drift` and `keel bundle` refuse it.",
        "review the server again and update `reviewed_at` and `review_expires_at`",
    ),
    _warning(
        Gate.CAPABILITY,
        "stale-grant",
        "a grant names a tool that no longer exists",
        "A leftover permission becomes live again when the name returns.",
        "remove the grant",
    ),
    _warning(
        Gate.CAPABILITY,
        "unasserted-contract",
        "a flow reaches a tool whose contract nobody asserted",
        "It counts as the worst that it may be, and must not be repeated.",
        "paste the printed line into `tools` and correct it",
    ),
    _warning(
        Gate.CAPABILITY,
        "unused-grant",
        "a grant is used by no flow",
        "Permissions that nothing needs are only risk.",
        "remove the grant",
    ),
)

_APPROVAL = (
    _error(
        Gate.APPROVAL,
        "agent-approval-missing",
        "an agent holds a tool that needs approval without `gated()`",
        "The model may call it at will.",
        "write `gated(tool)` in the agent's tool list",
    ),
    _error(
        Gate.APPROVAL,
        "approval-ignored",
        "an approval is asked, but a denial can reach the call",
        "An answer that changes nothing is not an approval.",
        'use `on_reject="raise"`, or return when the approval is false',
    ),
    _error(
        Gate.APPROVAL,
        "approval-missing",
        "some path reaches a call that needs approval with no approval at all",
        "Dangerous calls need a person's yes on every path.",
        "ask with `human_gate(...)` before the call, or call `gated(tool)(...)`",
    ),
    _error(
        Gate.APPROVAL,
        "approval-stale-argument",
        "an argument changed after it was approved",
        "What was approved must be what is done.",
        "compute the value before the gate and show it there",
    ),
    _error(
        Gate.APPROVAL,
        "approval-unseen-call",
        "the approval shows neither the tool nor any value of the call",
        "A person cannot approve what they were not shown.",
        "name the tool or show its arguments in the gate's prompt",
    ),
    _warning(
        Gate.APPROVAL,
        "approval-unseen-argument",
        "an argument of an approved call was not shown",
        "A person approved something they saw only in part.",
        "show the argument in the prompt or in `show=`",
    ),
)

_RACE = (
    _error(
        Gate.RACE,
        "race-not-admitted",
        "a raced branch does something that must not be cancelled or doubled",
        "Losers of a race are cancelled at an unknown point.",
        "race only reads and repeatable calls",
    ),
    _error(
        Gate.RACE,
        "race-unasserted",
        "a raced branch calls a tool whose contract nobody asserted",
        "Unasserted is conservative: it may charge twice.",
        "assert the tool's contract in `tools`, or do not race it",
    ),
    _error(
        Gate.RACE,
        "retry-not-admitted",
        "a call that must not be repeated is retried",
        "A retry after a lost answer would do it twice.",
        "remove the retry, or assert the idempotency that the tool really has",
    ),
    _warning(
        Gate.RACE,
        "parallel-writes",
        "one parallel region writes twice with one tool",
        "The order, and so the result, is left to chance.",
        "run the writes one after the other, or give the grant the `key` that tells resources apart",
    ),
)

_DRIFT = (
    _error(
        Gate.DRIFT,
        "contract-raised",
        "a tool's contract became more dangerous",
        "Gates were judged under the milder contract.",
        "review the tool, then run `keel freeze`",
        suppressible=True,
    ),
    _error(
        Gate.DRIFT,
        "hints-changed",
        "a tool's behaviour hints changed",
        "The server now says something else about what the tool does.",
        "review the tool, then run `keel freeze SERVER` to accept it",
        suppressible=True,
    ),
    _error(
        Gate.DRIFT,
        "input-breaking",
        "a tool refuses arguments that it accepted",
        "Calls that worked when frozen may be refused now.",
        "adapt the flow, then run `keel freeze SERVER` to accept it",
        suppressible=True,
    ),
    _error(
        Gate.DRIFT,
        "instructions-changed",
        "a server's instructions changed",
        "Instructions are read by the model as orders.",
        "read them, then run `keel freeze SERVER` to accept them",
        suppressible=True,
    ),
    _error(
        Gate.DRIFT,
        "output-breaking",
        "a tool may return what it could not return before",
        "Code that reads the result may fail after the call has happened.",
        "adapt the flow, then run `keel freeze SERVER` to accept it",
        suppressible=True,
    ),
    _error(
        Gate.DRIFT,
        "schema-collapsed",
        "a tool's schema lost its content",
        "An empty schema accepts everything and tells the model nothing; a newer dependency is often the cause.",
        "pin the server's whole dependency tree, or report it to its author",
        suppressible=True,
    ),
    _error(
        Gate.DRIFT,
        "schema-undecided",
        "a schema changed and its effect could not be decided",
        "Not proven is not passed.",
        "compare with `keel diff`, then run `keel freeze SERVER` to accept it",
        suppressible=True,
    ),
    _error(
        Gate.DRIFT,
        "text-changed",
        "text that a model reads changed",
        "A description is an instruction to the model.",
        "read it, then run `keel freeze SERVER` to accept it",
        suppressible=True,
    ),
    _error(
        Gate.DRIFT,
        "tool-removed",
        "a frozen tool is gone",
        "Calls to it will fail.",
        "adapt the flow, then run `keel freeze SERVER` to accept it",
        suppressible=True,
    ),
    _error(
        Gate.DRIFT,
        "tool-renamed",
        "a frozen tool is gone and an equal one has another name",
        "A rename is never accepted by itself: another name is another tool.",
        "adapt the flow, then run `keel freeze SERVER` to accept it",
        suppressible=True,
    ),
    _warning(
        Gate.DRIFT,
        "contract-lowered",
        "a tool's contract became milder",
        "Gates that were needed may no longer be asked.",
        "review the grant",
    ),
    _warning(
        Gate.DRIFT,
        "manifest-loosened",
        "the manifest allows more than before",
        "A wider permission deserves a reviewer's eye.",
        "review the change of the manifest",
    ),
    _warning(
        Gate.DRIFT,
        "input-latent",
        "a tool breaks only through names that its old schema never declared, or through members with a default",
        "By its schema a tool refuses calls that it accepted; whether anyone is hurt depends on callers and server.",
        "run `keel freeze SERVER` to accept it",
    ),
    _warning(
        Gate.DRIFT,
        "input-widened",
        "a tool accepts more than before",
        "A new parameter is also a new way for data to leave.",
        "run `keel freeze SERVER` to accept it",
    ),
    _warning(
        Gate.DRIFT,
        "output-widened",
        "a tool promises more about its result than before",
        "Nothing breaks, but what was frozen is no longer what is served.",
        "run `keel freeze SERVER` to accept it",
    ),
    _warning(
        Gate.DRIFT,
        "parameter-undocumented",
        "a parameter lost its description",
        "The model has less to go by.",
        "report it to the server's author, or run `keel freeze SERVER` to accept it",
    ),
    _warning(
        Gate.DRIFT,
        "tool-added",
        "a server lists a tool that is not frozen",
        "A tool that nobody reviewed is on offer.",
        "run `keel freeze SERVER` to accept it",
    ),
    _info(
        Gate.DRIFT,
        "body-changed",
        "the body of a native tool changed",
        "Its interface is the same; what it does may not be.",
        "run `keel freeze` to record it",
    ),
    _info(
        Gate.DRIFT,
        "extra-changed",
        "icons or `_meta` of a tool changed",
        "They are not part of the definition.",
        "run `keel freeze SERVER` to record it",
    ),
    _info(
        Gate.DRIFT,
        "identity-changed",
        "a server's name, version, protocol or capabilities changed",
        "The definitions are compared on their own.",
        "run `keel freeze SERVER` to record it",
    ),
    _info(
        Gate.DRIFT,
        "representation-only",
        "a schema is written differently and means the same",
        "Upgraded generators spell equal schemas in other ways.",
        "run `keel freeze SERVER` to record it",
    ),
)

_BUNDLE = (
    _error(
        Gate.BUNDLE,
        "bundle-invalid",
        "a bundle is altered, incomplete or holds more than it declares",
        "Only what passed the gates may be deployed.",
        "build the bundle again with `keel bundle`",
    ),
    _error(
        Gate.BUNDLE,
        "bundle-outdated",
        "a bundle is older than what is asked for",
        "An old bundle is signed as well as a new one; whoever can swap files could bring an old mistake back.",
        "deploy the newest bundle, or build one with a higher `keel bundle --sequence N`",
    ),
    _error(
        Gate.BUNDLE,
        "bundle-signature-invalid",
        "a signature does not belong to what it stands under",
        "The signature or the signed statement was altered, or taken from elsewhere.",
        "build the bundle again and sign it with `keel sign`",
    ),
    _error(
        Gate.BUNDLE,
        "bundle-signer-unknown",
        "a bundle is signed, but by nobody who is accepted",
        "Anyone can sign; a signature says something only to those who know the key.",
        "name the public keys that you trust with `--signer FILE`",
    ),
    _error(
        Gate.BUNDLE,
        "bundle-unsigned",
        "a bundle carries no signature",
        "Anyone could have built it.",
        "sign it with `keel sign`, or pass `--allow-unsigned` if that is intended",
    ),
    _warning(
        Gate.BUNDLE,
        "key-exposed",
        "others than its owner may read a private key",
        "Whoever has read it can sign in its name.",
        "run `chmod 600` on it; replace the key if others had access",
    ),
    _error(
        Gate.BUNDLE,
        "key-unusable",
        "a key for signing or verifying cannot be used",
        "Only Ed25519 keys in PEM are read.",
        "`keel keygen` makes a pair of keys",
    ),
)

_RUNTIME = (
    _error(
        Gate.RUNTIME,
        "approval-decided",
        "a question to a person has been answered already",
        "An answer stands: what was done because of it cannot be taken back.",
        "`keel approve` without an id lists the open questions",
    ),
    _error(
        Gate.RUNTIME,
        "approval-expired",
        "the time to answer a question to a person is over",
        "An answer that comes too late may be to a situation that no longer is.",
        "repeat the call, which asks again",
    ),
    _error(
        Gate.RUNTIME,
        "approval-unknown",
        "the store holds no question of that id",
        "It may be in another store, or have been pruned.",
        "`keel approve` without an id lists the open questions; `--store` names the store",
    ),
    _error(
        Gate.RUNTIME,
        "audit-altered",
        "a line of an audit log is not what was written",
        "Its hash is not that of what it says.",
        "compare with a copy of the log; what follows an altered line proves nothing about it",
    ),
    _error(
        Gate.RUNTIME,
        "audit-broken",
        "the chain of an audit log does not fit together",
        "A line was removed, inserted or moved.",
        "compare with a copy of the log",
    ),
    _error(
        Gate.RUNTIME,
        "audit-head-missing",
        "an audit log does not hold the expected hash",
        "It was cut, or written anew: the chain alone cannot show what is missing at its end.",
        "compare with a copy of the log",
    ),
    _warning(
        Gate.RUNTIME,
        "audit-torn",
        "a line of an audit log was not written to its end",
        "Its writer was killed or the disk was full; the call it would have recorded was not answered for.",
        "look for the operation in `keel audit operations`; the next event records the torn line",
    ),
    _error(
        Gate.RUNTIME,
        "positions-missing",
        "the Python that runs a flow keeps no columns in its code",
        "A step could not be told from another on the same line, nor be bound to what was checked.",
        "run without `-X no_debug_ranges` and without `PYTHONNODEBUGRANGES`",
    ),
    _error(
        Gate.RUNTIME,
        "operation-state",
        "an operation cannot go where it was told to",
        "Each state leads to few others, so that nothing is done twice or forgotten.",
        "see its state with `keel audit operations`",
    ),
    _error(
        Gate.RUNTIME,
        "source-changed",
        "a source of a flow is not the one that was bundled",
        "What runs must be what was checked, to the byte.",
        "deploy the sources that the bundle was made of, or run `keel bundle` again",
    ),
    _error(
        Gate.RUNTIME,
        "store-unavailable",
        "the store or the audit log cannot be read or written",
        "What cannot be recorded must not happen.",
        "free disk space, correct the permissions, or start the database",
    ),
)

_SUPPRESSION = (
    _error(
        Gate.SUPPRESSION,
        "suppression-refused",
        "a suppression names a code that accepts none",
        "Whatever a pull request can edit cannot switch a gate off.",
        "remove the suppression and mend the finding",
    ),
    _warning(
        Gate.SUPPRESSION,
        "suppression-expired",
        "a suppression is past its date",
        "It was accepted for a time only.",
        "mend the finding, or review it again and set a new date",
    ),
    _warning(
        Gate.SUPPRESSION,
        "suppression-unused",
        "a suppression matches nothing",
        "A leftover excuse hides the next finding of its kind.",
        "remove the suppression",
    ),
)

_NOT_CHECKED = (
    _gap(
        "attended",
        "a server needs a person at the keyboard and was skipped",
        "It is marked `attended: true`.",
        "run `keel freeze SERVER --login` at a terminal",
    ),
    _gap(
        "empty-listing",
        "a server lists no tools where some were expected",
        "An empty list is more often a fault than a decision.",
        "check the server, or pass `--allow-empty` if it really has none",
    ),
    _gap(
        "launch-not-accepted",
        "a launch that the lock does not hold was not started",
        "Starting unreviewed commands is how a pull request would run code.",
        "review the launch, then run `keel freeze SERVER`",
    ),
    _gap(
        "missing-variable",
        "a variable or a secret that the launch needs is not set",
        "Starting the server without it would show another surface.",
        "set the named variable",
    ),
    _gap(
        "needs-authentication",
        "a server refuses unauthenticated clients",
        "Its surface cannot be seen without credentials.",
        "configure `auth` or a header with a `secret://` reference",
    ),
    _gap(
        "pagination-loop",
        "a server's listing does not end",
        "An endless list must not pass as a complete one.",
        "report it to the server's author",
    ),
    _gap(
        "rule-not-run",
        "a rule could not run",
        "A rule that did not run has found nothing, which is not the same as clean.",
        "see the reason given",
    ),
    _gap(
        "schema-not-judged",
        "a schema could not be judged",
        "Not proven is not passed.",
        "see the reason given",
    ),
    _gap(
        "secret-too-short",
        "a secret has fewer than 8 characters",
        "A value that short occurs in innocent text, so it could not be told apart and kept out of logs and records.",
        "use a longer value",
    ),
    _gap(
        "server-exited",
        "a server ended before it answered",
        "Its last words on standard error usually say why.",
        "start the command by hand with the same environment",
    ),
    _gap(
        "server-failed",
        "a server answered a request with an error or with something that is not the protocol",
        "A failed listing is not an empty one.",
        "report it to the server's author",
    ),
    _gap(
        "timed-out",
        "a server did not answer in time",
        "Waiting for ever is not an option in CI.",
        "raise `timeout_s` of the server, or pass `--timeout`",
    ),
    _gap(
        "transport-unsupported",
        "a server's transport is not supported",
        "keel speaks stdio and streamable HTTP.",
        "use the server's streamable HTTP endpoint, or capture it elsewhere and use `surface:`",
    ),
    _gap(
        "unreachable",
        "a server cannot be reached",
        "Unreachable is neither changed nor clean.",
        "check the command, the URL and the network",
    ),
    _gap(
        "unstable",
        "a server's listing kept changing while it was read",
        "A mixed snapshot is not a surface.",
        "run the command again when the server is at rest",
    ),
)

_ALL = (
    *_INPUT,
    *_FREEZE,
    *_VALIDATE,
    *_CAPABILITY,
    *_APPROVAL,
    *_RACE,
    *_DRIFT,
    *_BUNDLE,
    *_RUNTIME,
    *_SUPPRESSION,
    *_NOT_CHECKED,
)

CODES: dict[str, CodeInfo] = {info.code: info for info in sorted(_ALL, key=lambda info: info.code)}
"""Every code, by name."""
