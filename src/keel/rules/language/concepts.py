"""The ideas that text rules are made of, independent of any language."""

from __future__ import annotations

from enum import IntEnum, auto


class Concept(IntEnum):
    """One idea; a word may carry several."""

    IGNORE = auto()
    """Set aside, override, forget."""
    ORDERS = auto()
    """Instructions, directives, guardrails."""
    RULES = auto()
    """Rules, policies, settings: also everyday words, so a pattern needs more beside them."""
    PRIOR = auto()
    YOUR = auto()
    """Second person."""
    SYSTEM = auto()
    """System, developer, operator, host."""
    USER = auto()
    OBEY = auto()
    VOID = auto()
    """Obsolete, suspended, advisory."""
    MODE = auto()
    """`You are now`, `from now on`, `new instructions`."""
    WIN = auto()
    """Replaces, supersedes, takes precedence."""
    NEG = auto()
    TELL = auto()
    UNTOLD = auto()
    """A negated order to tell: set by the reading, not by a word."""
    HIDE = auto()
    OMIT = auto()
    SEND = auto()
    SENT = auto()
    """A participle of sending; an order only after `must be` and the like."""
    USED = auto()
    """A participle of calling, likewise."""
    READ = auto()
    CONTENT = auto()
    """`Contents of`, `value of`, `text of`."""
    SECRET_FILE = auto()
    SECRET = auto()
    TOKEN = auto()
    """Words such as `token` and `key`, secret only in company."""
    PERSONAL = auto()
    CONTEXT = auto()
    """Conversation, chat history, system prompt."""
    PRIVATE = auto()
    """Clipboard, environment listing, workspace archive: data of the machine."""
    KNOWN = auto()
    """`You know`, `available to you`, `you have seen`."""
    REACH = auto()
    """`You can find`, `you have access to`."""
    EVERY = auto()
    OTHER = auto()
    TOOL = auto()
    THIS = auto()
    CALL = auto()
    FIRST = auto()
    INSTEAD = auto()
    MUST = auto()
    APPROVE = auto()
    ASK = auto()
    AUTO = auto()
    """Approves by itself: `auto-approve`, `pre-approved`."""
    OFF = auto()
    """Disable, skip, without."""
    AUTHORITY = auto()
    RESULT = auto()
    EXECUTE = auto()
    MEMORY_FILE = auto()
    MEMORY = auto()
    STORE = auto()
    FOREVER = auto()
    MODEL = auto()
    """The reader: assistant, agent, model."""
    TURN = auto()
    """Conversation, turn, message, request, answer."""
    TRIGGER = auto()
    """A date, a count or a state that switches behaviour."""
    URL = auto()
    DEPRECATED = auto()
    DETECT = auto()
    """Words of a text about attacks."""
    PRIORITY = auto()
    FAULT = auto()
    """`Is an error`, `will be reported`."""
    PRINT = auto()
    """Reveal, print, repeat."""
    TREAT = auto()
    """Treat as, regard as."""
    TRUST = auto()
    ROUTE = auto()
    """Redirect, add recipients, change the arguments of another call."""
    WHENEVER = auto()
    EVEN_IF = auto()
    UNTIL = auto()
    """`Unless`, `until`: a condition that makes a prohibition an ordinary one."""
    BEST = auto()
    SHOWN = auto()
    """Render, append to, end with."""
    STEP = auto()
    """A transfer, an upload, a call: what an attack has to hide."""
    SOFAR = auto()
    """Up to this point."""
    VERBATIM = auto()
    TALK = auto()
    """Answering the user."""
    BLOCKING = auto()
    """`Without calling`: makes everything wait for one tool."""
    DIALOG = auto()
    UNASKED = auto()
    """An order not to ask for consent; also set by the reading where `not` stands before such a word."""
    MODEL_ONLY = auto()
    """System prompt, tool list: what no honest argument asks for."""
    ONLY_TOOL = auto()
    ME = auto()
    """The tool speaking of itself."""
    ANYONE = auto()
    NOLIMIT = auto()
    """`Without restrictions`."""
    INNER = auto()
    """What only a model has: a context window, hidden instructions."""
    PASSWORD = auto()
    OBEY_THEM = auto()
    """`Follow them`, `do what it says`."""
    ADDRESS = auto()
    """An e-mail address, written out."""
    SELF = auto()
    """`Yourself`: the model is to fetch it."""
    ENV = auto()
    """The process environment as a whole."""
    HUSH = auto()
    """`Between you and me`, `not a word about it`: asks for silence whatever stands beside it."""
    STEALTH = auto()
    """`Secretly`: how nobody describes an honest action."""
    LIE = auto()
    """`Claim that`, `say it was`: puts an untrue answer into the model's mouth."""
    REFRAIN = auto()
    """A negated order to ask: set by the reading."""
    SERVE = auto()
    """Whom the reader works for or is released from."""
    FORMALITY = auto()
    """`Cosmetic`, `only for show`: says that a question need not be answered."""
    PROCEED = auto()
    """Go ahead at once."""
    STEPS = auto()
    """Steps, tasks, requests: what a text may contain and no reader has to do."""
    CONTAINED = auto()
    """`Contain`, `say`, `ask for`: what a text does with them."""
    ALTERNATIVE = auto()
    PARTY = auto()
    """Whom a payment or a message reaches: recipient, payee."""
    CHANNEL = auto()
    """A way out that is no message: a subdomain, a name query."""
    PERMANENT = auto()
    """`For all future sessions`: longer than the conversation."""


EVERYDAY = frozenset(
    {Concept.READ, Concept.WHENEVER, Concept.ROUTE, Concept.EVERY, Concept.CALL, Concept.STEP, Concept.NEG}
    | {Concept.THIS, Concept.RESULT, Concept.TURN, Concept.SHOWN, Concept.TOOL, Concept.STORE, Concept.SEND}
    | {Concept.MUST, Concept.UNTIL, Concept.MODEL, Concept.OFF, Concept.PRIVATE, Concept.RULES, Concept.ASK}
    | {Concept.PRINT, Concept.USER, Concept.USED, Concept.FIRST, Concept.SENT, Concept.PRIOR, Concept.YOUR}
)
"""Concepts that more than one in sixty sentences of published definitions carries; only speed depends on this."""


def mask(*concepts: Concept) -> int:
    """Return the bits of some concepts."""
    bits = 0
    for concept in concepts:
        bits |= 1 << concept
    return bits
