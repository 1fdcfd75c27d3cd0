"""The frames of every text rule, by the id of the rule."""

from __future__ import annotations

from keel.rules.language.concepts import Concept
from keel.rules.language.frames import FrameSet, frame

C = Concept
_GUARD = (C.DETECT,)
_SOMEONES = (C.USER, C.YOUR, C.KNOWN, C.REACH, C.SELF)

FRAMES: dict[str, FrameSet] = {
    "approval-bypass": FrameSet(
        frame(C.UNASKED, window=5, unless=(C.DETECT, C.UNTIL)),
        frame(C.APPROVE, C.SELF, window=6, unless=(C.INSTEAD,)),
        frame(C.NEG, C.ASK, C.USER, C.APPROVE, window=10, unless=(C.UNTIL,)),
        frame((C.NEG, C.OFF), C.APPROVE, C.MUST, C.USER, window=10, ordered=True),
        frame(C.AUTO, (C.APPROVE, C.CALL, C.EXECUTE, C.USER, C.EVERY), window=8, unless=_GUARD),
        frame(C.USER, C.APPROVE, C.NEG, (C.CALL, C.EXECUTE), window=10, unless=(C.DETECT, C.UNTIL)),
        frame(C.APPROVE, C.OFF, C.THIS, C.TOOL, window=8),
        frame(C.APPROVE, C.OFF, C.TRUST, window=14),
        frame(C.USER, C.AUTO, window=6, unless=_GUARD),
        frame((C.OFF, C.IGNORE), C.APPROVE, (C.USER, C.SYSTEM, C.YOUR), window=7, unless=(C.MUST,)),
        frame(C.CALL, C.NEG, C.ASK, (C.USER, C.APPROVE), window=8, ordered=True),
        frame((C.DIALOG, C.ASK), C.FORMALITY, window=6, unless=(C.DETECT,)),
        frame(C.PROCEED, (C.EVEN_IF, C.UNASKED), window=8, unless=(C.DETECT, C.UNTIL)),
        frame(C.AUTO, C.YOUR, window=6, unless=_GUARD),
        frame(C.SYSTEM, C.NEG, C.DIALOG, window=8, unless=(C.DETECT, C.UNTIL)),
    ),
    "authority-spoof": FrameSet(
        frame(C.AUTHORITY, C.MUST, (C.MODEL, C.YOUR), window=14, unless=_GUARD),
        frame(C.TREAT, (C.SYSTEM, C.AUTHORITY), (C.ORDERS, C.TURN, C.CONTEXT), window=8),
        frame(C.AUTHORITY, C.TRUST, window=12),
        frame(C.TREAT, C.TRUST, (C.SYSTEM, C.USER), window=9),
        frame(C.MODEL, C.MUST, C.SECRET, (C.SEND, C.TELL), window=16),
        frame(
            C.EVERY,
            C.MODEL,
            C.MUST,
            (C.SEND, C.READ, C.CALL, C.STORE, C.TELL, C.TURN, C.TALK, C.NEG),
            window=14,
            unless=_GUARD,
        ),
    ),
    "conceal-from-user": FrameSet(
        frame(C.OFF, C.TELL, C.USER, window=5, ordered=True, unless=_GUARD),
        frame(C.UNTOLD, C.USER, window=7, unless=(C.DETECT, C.UNTIL)),
        frame(C.HIDE, C.USER, (C.SEND, C.CALL, C.READ, C.STEP), window=8),
        frame(C.HIDE, C.SEND, (C.CONTEXT, C.SECRET, C.SECRET_FILE, C.PRIVATE, C.USER), window=10),
        frame(C.ASK, C.TOOL, C.TURN, (C.OMIT, C.HIDE), window=18),
        frame(C.ASK, C.USER, C.TELL, C.OMIT, window=16, unless=_GUARD),
        frame(C.UNTOLD, C.ANYONE, window=7, unless=(C.DETECT, C.UNTIL, C.SECRET, C.TOKEN)),
        frame(C.OMIT, C.YOUR, (C.TURN, C.TALK), window=6, unless=_GUARD),
        frame(C.UNTOLD, C.STEP, (C.YOUR, C.TALK, C.TURN), window=10, unless=(C.DETECT, C.UNTIL)),
        frame(C.HIDE, C.CALL, C.TOOL, C.YOUR, window=10),
        frame(C.HUSH, window=2, unless=_GUARD),
        frame(C.STEALTH, (C.SEND, C.CALL, C.READ, C.STORE, C.ROUTE, C.EXECUTE, C.PRINT), window=6, unless=_GUARD),
        frame(C.ASK, C.LIE, window=16, unless=_GUARD),
        frame(C.USER, C.LIE, window=10, unless=_GUARD),
        frame(C.UNTOLD, C.YOUR, (C.READ, C.SEND, C.CALL, C.STEP), window=10, unless=(C.DETECT, C.UNTIL)),
        frame(C.HIDE, C.SEND, (C.ADDRESS, C.URL), window=12, unless=_GUARD),
    ),
    "context-exfiltration": FrameSet(
        frame(C.YOUR, C.INNER, window=3, ordered=True, unless=_GUARD),
        frame((C.SEND, C.PRINT, C.CONTENT), C.INNER, C.YOUR, window=10, unless=_GUARD),
        frame(C.CONTEXT, C.USER, C.VERBATIM, window=8, unless=_GUARD),
        frame(C.TOOL, C.KNOWN, C.EVERY, window=2),
        frame((C.SEND, C.PRINT), C.CONTEXT, C.YOUR, window=9, unless=_GUARD),
        frame(C.SEND, C.EVERY, C.CONTEXT, window=7, unless=_GUARD),
        frame((C.EVERY, C.SEND, C.PRINT), C.KNOWN, (C.TOOL, C.CONTEXT, C.USER, C.EVERY, C.ORDERS), window=12),
        frame(C.EVERY, C.REACH, C.TOOL, window=8),
        frame((C.READ, C.PRINT, C.SEND), C.OTHER, C.TOOL, C.REACH, window=10),
        frame(C.SEND, C.CONTEXT, C.USER, window=7, unless=_GUARD),
        frame(C.CONTENT, C.EVERY, C.CONTEXT, C.YOUR, window=10),
        frame((C.CONTENT, C.SEND, C.PRINT, C.EVERY), C.CONTEXT, C.SOFAR, window=9, unless=_GUARD),
        frame(C.YOUR, (C.ORDERS, C.CONTEXT), (C.VERBATIM, C.SOFAR), window=8, unless=_GUARD),
        frame((C.SEND, C.PRINT, C.CONTENT), C.EVERY, C.SOFAR, window=10, unless=_GUARD),
        frame((C.SEND, C.PRINT), C.OTHER, C.TOOL, C.RESULT, (C.TURN, C.EVERY, C.SOFAR), window=12, unless=_GUARD),
        frame(C.SEND, C.CHANNEL, window=8, unless=_GUARD),
    ),
    "instruction-override": FrameSet(
        frame(C.NOLIMIT, (C.YOUR, C.MODEL, C.MODE), window=10, unless=_GUARD),
        frame(C.IGNORE, C.ORDERS, (C.PRIOR, C.YOUR, C.SYSTEM, C.USER, C.EVERY), window=8, unless=_GUARD),
        frame(C.IGNORE, C.RULES, (C.PRIOR, C.YOUR, C.SYSTEM), window=6, unless=_GUARD),
        frame(C.NEG, C.OBEY, (C.ORDERS, C.RULES), (C.USER, C.SYSTEM, C.YOUR, C.PRIOR), window=10, unless=_GUARD),
        frame((C.ORDERS, C.RULES), C.VOID, (C.PRIOR, C.YOUR, C.SYSTEM), window=9, unless=_GUARD),
        frame(C.MODE, (C.ORDERS, C.RULES, C.VOID, C.OBEY, C.IGNORE), window=10, unless=_GUARD),
        frame(C.WIN, (C.ORDERS, C.RULES), (C.YOUR, C.SYSTEM), window=10, unless=_GUARD),
        frame(C.WIN, C.ORDERS, C.USER, window=10, unless=_GUARD),
        frame(C.IGNORE, C.USER, (C.PRINT, C.SEND, C.ORDERS, C.CALL), window=9, unless=_GUARD),
        frame((C.MODEL, C.YOUR), C.SERVE, window=10, unless=_GUARD),
        frame(C.PRIOR, C.VOID, (C.MODEL, C.YOUR), window=10, unless=_GUARD),
    ),
    "memory-implant": FrameSet(
        frame(C.STORE, C.MEMORY, (C.ADDRESS, C.URL), window=16),
        frame((C.STORE, C.SEND), C.MEMORY_FILE, window=14),
        frame(C.STORE, C.MEMORY, (C.FOREVER, C.APPROVE, C.MUST), window=14),
        frame(C.STORE, C.FOREVER, (C.APPROVE, C.TRUST, C.TOOL), window=12),
        frame(C.STORE, C.PERMANENT, (C.NEG, C.OFF, C.APPROVE, C.MUST, C.TRUST, C.TOOL), window=14, unless=_GUARD),
        frame(C.STORE, C.MEMORY, C.YOUR, (C.NEG, C.OFF, C.APPROVE, C.MUST, C.TRUST, C.TOOL), window=14, unless=_GUARD),
    ),
    "output-as-instruction": FrameSet(
        frame(C.OBEY, C.EVERY, C.RESULT, window=10, unless=_GUARD),
        frame(C.OBEY_THEM, (C.ORDERS, C.RESULT), window=10, unless=_GUARD),
        frame(C.WIN, C.USER, C.RESULT, window=10),
        frame((C.OBEY, C.TRUST, C.EXECUTE), C.RESULT, C.EVEN_IF, window=10),
        frame(C.WIN, C.YOUR, C.SYSTEM, C.ORDERS, window=9),
        frame(C.RESULT, C.EXECUTE, C.MUST, (C.MODEL, C.AUTO), window=16),
        frame(C.OBEY, C.RESULT, (C.EVERY, C.NEG), (C.ASK, C.APPROVE, C.TELL), window=12),
        frame(C.TREAT, C.RESULT, (C.SYSTEM, C.AUTHORITY, C.USER), C.ORDERS, window=12),
        frame(C.EXECUTE, C.EVERY, C.ORDERS, C.RESULT, window=10),
        frame(C.RESULT, C.EXECUTE, C.MUST, C.EVERY, window=10, unless=_GUARD),
        frame(C.EXECUTE, C.ORDERS, C.TRUST, window=14, unless=_GUARD),
        frame(C.OBEY, C.RESULT, C.EVEN_IF, window=12),
        frame((C.OBEY, C.EXECUTE), (C.EVERY, C.EVEN_IF), (C.STEPS, C.ORDERS), C.CONTAINED, window=12, unless=_GUARD),
        frame(C.ORDERS, C.RESULT, C.WIN, window=12, unless=_GUARD),
        frame(C.EXECUTE, C.RESULT, C.TRUST, window=14, unless=_GUARD),
        frame(C.TREAT, C.RESULT, C.TRUST, window=14, unless=_GUARD),
    ),
    "priority-hijack": FrameSet(
        frame(C.CALL, C.FIRST, C.EVERY, C.OTHER, C.TURN, window=12),
        frame(C.CALL, (C.THIS, C.TOOL), (C.MUST, C.FIRST), C.EVEN_IF, window=16),
        frame(C.MUST, C.CALL, C.ME, window=6),
        frame(C.MUST, C.CALL, (C.THIS, C.TOOL), C.EVERY, C.TURN, window=12, unless=(C.RULES, C.UNTIL)),
        frame(C.ONLY_TOOL, (C.CALL, C.YOUR, C.USED), window=6),
        frame(C.FIRST, C.EVERY, C.OTHER, C.TOOL, window=6),
        frame(C.EVERY, C.USER, C.TURN, C.MUST, (C.SEND, C.CALL), window=12, unless=(C.RULES,)),
        frame(C.OTHER, C.TOOL, C.MUST, C.NEG, window=12, unless=(C.UNTIL,)),
        frame(C.CALL, (C.FIRST, C.INSTEAD), C.EVERY, C.OTHER, C.TOOL, window=16),
        frame(C.MUST, C.CALL, (C.FIRST, C.INSTEAD), C.EVERY, (C.TURN, C.OTHER), window=14, unless=(C.RULES,)),
        frame(C.MUST, C.CALL, (C.FIRST, C.INSTEAD), C.OTHER, C.TOOL, window=14),
        frame(C.WIN, C.EVERY, C.OTHER, C.TOOL, window=8),
        frame(C.PRIORITY, C.TOOL, (C.THIS, C.EVERY), window=8),
        frame(C.PRIORITY, C.EVERY, C.OTHER, (C.THIS, C.TOOL), window=8),
        frame(C.CALL, C.FIRST, C.EVERY, C.TALK, window=9),
        frame(C.EVERY, C.OTHER, C.TOOL, (C.DEPRECATED, C.VOID), window=12),
        frame(C.NEG, C.TALK, C.BLOCKING, window=8),
        frame(C.NEG, C.OTHER, C.TOOL, C.EVEN_IF, window=12),
        frame(C.EVERY, C.TOOL, C.FAULT, (C.OTHER, C.CALL), window=14, unless=(C.RESULT,)),
        frame(C.CALL, C.THIS, C.TOOL, C.MUST, C.EVEN_IF, window=16),
        frame(C.BEST, C.MUST, C.CALL, C.TOOL, window=14),
        frame(C.NEG, C.CALL, C.OTHER, C.TOOL, C.EVERY, window=10),
        frame(C.NEG, C.TREAT, C.ALTERNATIVE, window=6),
        frame(C.NEG, C.OTHER, (C.USED, C.CALL), C.UNTIL, C.THIS, C.TOOL, window=14),
        frame(C.CALL, C.ME, (C.EVERY, C.EVEN_IF, C.FIRST), window=10),
        frame(C.EVERY, C.TOOL, C.MUST, C.FIRST, window=10, ordered=True),
    ),
    "secret-file-transfer": FrameSet(
        frame(C.READ, C.SECRET, C.PRIVATE, window=10, unless=_GUARD),
        frame((C.SEND, C.READ, C.CONTENT), C.SECRET_FILE, window=9),
        frame(C.CONTENT, C.EVERY, C.SECRET, window=10),
        frame(C.CONTENT, C.SECRET, C.PRIVATE, window=8),
        frame(C.CONTENT, C.ENV, window=4),
        frame((C.SECRET, C.SECRET_FILE, C.PRIVATE), C.READ, C.SELF, window=12),
        frame(C.SEND, C.SECRET, (C.KNOWN, C.REACH, C.PRIVATE), window=10, unless=_GUARD),
        frame((C.SEND, C.PRINT), C.PRIVATE, C.EVERY, (C.TURN, C.CALL, C.FIRST), window=12),
    ),
    "secret-solicitation": FrameSet(
        frame(C.USER, C.MUST, C.PASSWORD, C.ASK, window=14, unless=(C.REFRAIN,)),
        frame(C.ASK, C.USER, C.PASSWORD, window=10, ordered=True, unless=(C.DETECT, C.REFRAIN)),
        frame(
            C.ASK, C.USER, (C.SECRET, C.PERSONAL), (C.SEND, C.CALL, C.EVERY), window=14, unless=(C.DETECT, C.REFRAIN)
        ),
        frame(C.ASK, C.PERSONAL, (C.USER, C.FIRST, C.SEND, C.CALL), window=16, unless=(C.REFRAIN,)),
        frame(C.READ, C.PERSONAL, C.USER, window=16),
        frame(C.READ, C.SECRET, C.USER, C.SEND, window=14, unless=_GUARD),
        frame(C.EVERY, (C.SECRET, C.TOKEN), (C.KNOWN, C.REACH), window=8),
        frame(C.SEND, C.USER, C.SECRET, C.MUST, window=9),
        frame(C.READ, C.USER, C.PASSWORD, window=8, unless=(C.DETECT, C.REFRAIN, C.NEG)),
    ),
    "trigger-condition": FrameSet(
        frame(C.TRIGGER, C.SEND, C.EVERY, C.CALL, window=20),
        frame(C.TRIGGER, C.SEND, (C.PRIVATE, C.SECRET, C.SECRET_FILE, C.CONTEXT), window=24),
        frame(C.TRIGGER, C.CONTENT, (C.PRIVATE, C.SECRET, C.SECRET_FILE, C.CONTEXT), window=20),
        frame(C.TRIGGER, C.CALL, (C.SECRET, C.TOKEN, C.CONTEXT), window=20),
        frame(C.TRIGGER, C.SEND, C.CONTEXT, window=20),
    ),
}
"""Every frame is an error where it matches; wording may change within a version of the tables, ids never."""

STEERING = FrameSet(
    frame(C.ROUTE, C.PARTY, window=8),
    frame(C.TELL, (C.SEND, C.ROUTE), window=10),
    frame(C.ADDRESS, window=30),
    frame(C.DEPRECATED, window=30),
    frame(C.INSTEAD, window=30),
    frame(C.NEG, window=8),
    frame(C.WHENEVER, C.ROUTE, window=14),
    frame(C.FIRST, C.RESULT, window=20),
    frame(C.MUST, C.ROUTE, window=14),
    frame(C.MUST, C.FIRST, window=12),
)
"""What, beside the name of another server's tool, steers its use."""

ANY_OTHER_TOOL = FrameSet(
    frame(C.CALL, C.EVERY, C.TOOL, C.CALL, window=14, unless=(C.DETECT, C.UNTIL), ordered=True),
    frame(C.RESULT, C.TOOL, C.MUST, C.SEND, window=12, unless=(C.THIS,)),
    frame(C.ADDRESS, (C.SEND, C.ROUTE), C.TOOL, window=14),
    frame(C.WHENEVER, C.EVERY, C.OTHER, C.TOOL, C.ROUTE, window=16),
    frame(C.OTHER, C.TOOL, C.RESULT, (C.ROUTE, C.SEND), (C.MUST, C.EVERY), window=14),
)

ADDRESSES = FrameSet(
    frame(C.MODEL, C.MUST, (C.SEND, C.CALL, C.TELL, C.READ, C.EXECUTE, C.STORE, C.NEG), window=10),
)

ORDERS = FrameSet(
    frame((C.SEND, C.READ, C.PRINT, C.CALL), (C.SECRET_FILE, C.CONTEXT, C.PRIVATE, C.SECRET), window=10),
    frame(C.MUST, C.CALL, window=6),
    frame(C.UNTOLD, C.USER, window=8),
    frame(C.MODEL, (C.SEND, C.CALL, C.READ, C.EXECUTE, C.PRINT, C.MUST), window=8),
    frame((C.SEND, C.CALL, C.READ), C.TOOL, window=8),
    frame(C.AUTO, window=8),
    frame(C.YOUR, (C.MUST, C.APPROVE, C.CALL), window=8),
)
"""Imperatives that have no place in a hidden container or in a value."""

LABELS = FrameSet(
    frame(C.EVERY, C.CONTEXT, window=6),
    frame(C.YOUR, C.CONTEXT, window=4),
    frame(C.CONTENT, (C.SECRET_FILE, C.SECRET), window=6),
    frame(C.EVERY, C.SECRET, window=5),
    frame(C.YOUR, C.MUST, window=4),
    frame(C.MUST, C.CALL, (C.FIRST, C.TOOL), window=8),
)
"""What the name of an argument never says where the argument is honest."""

TITLES = FrameSet(
    frame(C.MUST, C.CALL, window=6),
    frame(C.UNTOLD, C.USER, window=8),
    frame(C.YOUR, C.MUST, window=6),
    frame((C.SEND, C.READ), (C.SECRET_FILE, C.SECRET), window=8),
    frame(C.AUTO, window=8),
)
"""What a title never says."""

OFF_TOPIC: dict[str, FrameSet] = {
    "context-exfiltration": FrameSet(
        frame((C.SEND, C.PRINT), (C.SOFAR, C.MODEL_ONLY), window=8, unless=(C.DETECT, C.NEG)),
    ),
    "memory-implant": FrameSet(
        frame(C.STORE, (C.MEMORY_FILE, C.PERMANENT), window=12, unless=_GUARD),
    ),
    "secret-file-transfer": FrameSet(
        frame((C.SEND, C.CONTENT, C.READ, C.PRINT), C.SECRET_FILE, window=9, unless=(C.DETECT, C.NEG)),
        frame((C.SEND, C.READ, C.PRINT), C.SECRET, _SOMEONES, window=9, unless=(C.DETECT, C.NEG)),
        frame(C.SECRET, C.USER, (C.PRIVATE, C.SECRET_FILE, C.REACH, C.KNOWN), window=9, unless=(C.DETECT, C.NEG)),
    ),
    "secret-solicitation": FrameSet(
        frame((C.ASK, C.READ, C.SEND), (C.PASSWORD, C.PERSONAL), window=9, unless=(C.DETECT, C.REFRAIN, C.NEG)),
        frame(C.ASK, C.SECRET, window=8, unless=(C.DETECT, C.REFRAIN, C.NEG)),
    ),
}
"""What no sentence orders unless the tool's purpose, as its name and first sentence give it, speaks of such things."""

ALIEN = FrameSet(
    frame(C.EVERY, C.TURN, C.SOFAR, window=8),
    frame(C.SOFAR, C.USER, window=10),
    frame((C.EVERY, C.SOFAR, C.VERBATIM, C.CONTENT, C.PRIOR, C.YOUR), (C.CONTEXT, C.MODEL_ONLY), window=8),
    frame((C.PRINT, C.SEND), C.SOFAR, window=10),
    frame(C.MODEL_ONLY, window=2),
)
"""What an argument asks for when nothing else of its tool speaks of conversations or prompts."""
