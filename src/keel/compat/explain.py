"""Where a difference stands and what to say about it."""

from __future__ import annotations

import json

from keel.compat.document import spell
from keel.compat.interface import Json, Relation
from keel.compat.locate import locate
from keel.compat.nodes import All, Arena, CountLeast, CountMost, Fields, Lit, Node, Opaque, Ref, Slot, Tail
from keel.compat.translate import Translator

MAX_SHOWN = 120

_SENTENCES = {
    Relation.EQUIVALENT: "both schemas accept the same instances, proved in both directions",
    Relation.WIDENED: "the new schema accepts everything the old one did, and more",
    Relation.NARROWED: "the new schema accepts less than the old one did",
    Relation.INCOMPARABLE: "each schema accepts instances that the other refuses",
    Relation.UNDECIDED: "the relation is not decided",
}


def sentence(relation: Relation) -> str:
    """The general sentence for a relation."""
    return _SENTENCES[relation]


def show(value: Json) -> str:
    """A value as short JSON text without control or non-ASCII characters."""
    text = json.dumps(value, ensure_ascii=True)
    return text if len(text) <= MAX_SHOWN else text[: MAX_SHOWN - 3] + "..."


def difference(refusing: Translator, witness: Json, target: str, *, latent: bool) -> tuple[str, str]:
    """The pointer of the keyword that refuses the witness, and one sentence; `target` is the refusing schema's name."""
    pointer = spell(locate(refusing, witness))
    other = "old" if target == "new" else "new"
    where = f" at `{pointer}`" if pointer else ""
    tail = f", only through a name the {other} schema never declared" if latent else ""
    return pointer, f"`{show(witness)}` is valid under the {other} schema and refused by the {target} one{where}{tail}"


def opaque_below(arena: Arena, literal: Lit) -> Opaque | None:
    """The first constraint below a literal that has no model, None when all have one."""
    stack, seen = [literal], set[Node]()
    while stack:
        node = arena[stack.pop()]
        if node in seen:
            continue
        seen.add(node)
        match node:
            case Opaque():
                return node
            case All(parts):
                stack.extend(reversed(parts))
            case Ref():
                stack.append(arena.knots[node])
            case Fields(names, value):
                stack.extend((value, names))
            case Slot(_, item) | Tail(_, item) | CountLeast(item, _) | CountMost(item, _):
                stack.append(item)
    return None


def obstacle(opaque: Opaque | None, *, exhausted: bool) -> tuple[str, str]:
    """The pointer and sentence for an inclusion that was neither proved nor refuted."""
    if opaque is not None:
        return opaque.pointer, f"not decided: {opaque.why}"
    if exhausted:
        return "", "not decided: the comparison used up its step budget"
    return "", "not decided: no proof and no witness was found"
