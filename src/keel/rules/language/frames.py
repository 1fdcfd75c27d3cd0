"""Patterns of concepts: which ideas, close together in one sentence, make text that steers the model."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from keel.rules.language.concepts import EVERYDAY, Concept, mask
from keel.rules.language.grammar import Mark


@dataclass(frozen=True)
class Frame:
    """One pattern.

    Args:
        needs: each a group of alternative concepts, every group to be met.
        window: how many words the match may span.
        unless: concepts whose presence anywhere in the sentence clears it.
        ordered: whether the groups must follow one another.
    """

    needs: tuple[int, ...]
    window: int = 12
    unless: int = 0
    ordered: bool = False

    def matches(self, marks: tuple[Mark, ...]) -> bool:
        """Tell whether the groups are met within the window."""
        return _in_order(self, marks) if self.ordered else _in_window(self, marks)


def frame(
    *needs: Concept | tuple[Concept, ...], window: int = 12, unless: Iterable[Concept] = (), ordered: bool = False
) -> Frame:
    """Build a frame from concepts and groups of alternatives."""
    masks = tuple(mask(*need) if isinstance(need, tuple) else mask(need) for need in needs)
    return Frame(masks, window, mask(*unless), ordered)


def total(marks: Iterable[Mark]) -> int:
    """Return the concepts of a whole sentence."""
    bits = 0
    for mark in marks:
        bits |= mark.bits
    return bits


_MOST_CACHED = 8192
_COMMON = mask(*EVERYDAY)


def _commonness(group: int) -> tuple[int, int]:
    return (group & _COMMON).bit_count(), group.bit_count()


class FrameSet:
    """Several frames, any of which counts; remembers which could match sentences with the same concepts."""

    def __init__(self, *frames: Frame) -> None:
        self.frames = frames
        self._possible: dict[int, tuple[Frame, ...]] = {}
        self._under: dict[int, tuple[int, ...]] = {}
        """Group of alternatives to the frames that need it and no smaller one."""
        for index, item in enumerate(frames):
            rarest = min(item.needs, key=_commonness)
            self._under[rarest] = (*self._under.get(rarest, ()), index)
        self.keys = 0
        """Concepts of which a sentence needs one, or it matches no frame."""
        for group in self._under:
            self.keys |= group

    def could(self, bits: int) -> bool:
        """Tell whether a sentence with some of these concepts, and no others, could match."""
        return bool(bits & self.keys) and any(
            all(bits & need for need in self.frames[index].needs)
            for group, indexes in self._under.items()
            if bits & group
            for index in indexes
        )

    def possible(self, bits: int) -> tuple[Frame, ...]:
        """Return the frames that a sentence with these concepts could match."""
        if not bits & self.keys:
            return ()
        found = self._possible.get(bits)
        if found is None:
            if len(self._possible) >= _MOST_CACHED:
                self._possible.clear()
            near = {index for concept, indexes in self._under.items() if bits & concept for index in indexes}
            found = tuple(self.frames[index] for index in sorted(near) if _possible(self.frames[index], bits))
            self._possible[bits] = found
        return found

    def matches(self, marks: tuple[Mark, ...], bits: int) -> bool:
        """Tell whether a sentence matches any of the frames."""
        for item in self.possible(bits):  # noqa: SIM110 - a generator costs more than most of these calls
            if item.matches(marks):
                return True
        return False


def _possible(frame_: Frame, bits: int) -> bool:
    if bits & frame_.unless:
        return False
    for need in frame_.needs:  # noqa: SIM110 - a generator costs twice as much, and this runs for every sentence
        if not bits & need:
            return False
    return True


def _in_window(frame_: Frame, marks: tuple[Mark, ...]) -> bool:
    """Slide a window: each start sees what lies within reach. Linear in marks times the window."""
    wanted = 0
    for need in frame_.needs:
        wanted |= need
    useful = [mark for mark in marks if mark.bits & wanted]
    for index, first in enumerate(useful):
        limit = first.at + frame_.window
        bits = 0
        for mark in useful[index : index + frame_.window + 1]:
            if mark.at > limit:
                break
            bits |= mark.bits
        if all(bits & need for need in frame_.needs):
            return True
    return False


def _in_order(frame_: Frame, marks: tuple[Mark, ...]) -> bool:
    for index, first in enumerate(marks):
        if first.bits & frame_.needs[0]:
            found, limit = 1, first.at + frame_.window
            for mark in marks[index + 1 : index + 1 + frame_.window]:
                if mark.at > limit or found == len(frame_.needs):
                    break
                if mark.bits & frame_.needs[found]:
                    found += 1
            if found == len(frame_.needs):
                return True
    return False
