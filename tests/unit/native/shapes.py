"""Functions with every kind of hint; their definitions must have the bytes of `shapes.json` on every version."""

# Every spelling of a hint is the point here.
# ruff: noqa: B006, B008, E741, PLR0913, PLR0917, PYI025, PYI030, PYI061, RUF036, UP007, UP035, UP037, UP045

from __future__ import annotations

import collections
import dataclasses
import datetime as dt
import decimal
import enum
import ipaddress
import pathlib
import re
import typing
import uuid
from collections.abc import Iterable, Mapping, Sequence, Set
from typing import Annotated, Any, Generic, Literal, NamedTuple, NewType, Optional, TypeVar, Union

from pydantic import AnyUrl, Base64Bytes, BaseModel, ConfigDict, Field, HttpUrl, Json, PositiveInt, RootModel, SecretStr
from typing_extensions import NotRequired, Required, TypedDict


class Color(enum.Enum):
    RED = "red"
    BLUE = "blue"


class Mixed(enum.Enum):
    A = "a"
    B = 1


class One(enum.Enum):
    ONLY = "only"


class Level(enum.IntEnum):
    """How loud."""

    LOW = 1
    HIGH = 2


class Text(enum.StrEnum):
    X = "x"
    Y = "y"


@dataclasses.dataclass
class Point:
    x: int
    y: float = 0.0


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Documented:
    """A documented thing.

    With a second paragraph.
    """

    p: Point
    many: list[Point] = dataclasses.field(default_factory=list)


class Partial(TypedDict, total=False):
    a: Required[int]
    b: str


class Whole(typing.TypedDict):
    """A dictionary of the standard library."""

    partial: Partial
    note: typing.NotRequired[str]


class Newer(TypedDict):
    whole: Whole
    note: NotRequired[Literal["a"]]


class Place(NamedTuple):
    lat: float
    lon: float = 1.0


class Address(BaseModel):
    """Where somebody lives."""

    street: str = Field(min_length=1, description="Street and number")
    zip: Optional[str] = None
    kind: Literal["home"] = "home"


class Person(BaseModel):
    model_config = ConfigDict(extra="forbid", title="A Person")
    name: str
    address: Address = Field(description="main address")
    old: list[Address] = []
    alias_: int = Field(1, alias="theAlias")


class Node(BaseModel):
    value: int
    children: list[Node] = []
    parent: Optional[Node] = None


class Cat(BaseModel):
    """A cat.

    With blanks:\x20\x20
    \x20\x20
    here.
    """

    kind: Literal["cat"]
    lives: int = 9


class Dog(BaseModel):
    kind: Literal["dog"]


Pet = Annotated[Union[Cat, Dog], Field(discriminator="kind")]
T = TypeVar("T")


class Box(BaseModel, Generic[T]):
    item: T


class Tags(RootModel[list[str]]):
    pass


Short = Annotated[str, Field(max_length=5, description="short")]
UserId = NewType("UserId", int)


def basic(
    a: str,
    b: int,
    c: float,
    d: bool,
    e: bytes,
    f: None,
    g: str = "x",
    h: float = 1.0,
    i: Optional[int] = None,
    *,
    j: int | None = 3,
    k: list[str] = [],
    l: dict[str, int] = {"a": 1},
) -> dict[str, str]:
    """Do it.

        indented

    end
    """


async def containers(
    a: list,
    b: dict,
    c: set[int],
    d: frozenset[str],
    e: tuple[int, str],
    f: tuple[int, ...],
    g: Sequence[str],
    h: Mapping[str, Any],
    i: dict[int, str],
    j: dict[Color, int],
    k: dict[Literal["p", "q"], int],
    l: collections.deque[int],
    m: Iterable[int],
    n: list[list[int]],
    o: tuple[()],
    p: dict[str, list[Optional[int]]],
    q: collections.OrderedDict[str, int],
    r: collections.defaultdict[str, int],
    s: Set[int],
    t: dict[Annotated[str, Field(pattern="^x-")], int],
    u: dict[Annotated[str, Field(min_length=2)], Any],
    v: frozenset[str] = frozenset({"b", "a", "c"}),
) -> list[str]: ...


def scalars(
    a: dt.datetime,
    b: dt.date,
    c: dt.time,
    d: dt.timedelta,
    e: decimal.Decimal,
    f: uuid.UUID,
    g: pathlib.Path,
    h: AnyUrl,
    i: HttpUrl,
    j: SecretStr,
    k: re.Pattern,
    l: ipaddress.IPv4Address,
    m: Base64Bytes,
    n: PositiveInt,
    o: UserId,
    p: Short,
    q: Annotated[float, Field(ge=0, le=1)],
    r: Annotated[decimal.Decimal, Field(gt=0, max_digits=5, decimal_places=2)],
    s: complex,
    t: Json[int],
    u: Annotated[
        int, Field(multiple_of=5, examples=[5], deprecated=True, title="U", json_schema_extra={"x-unit": "s"})
    ],
    v: dt.date = dt.date(2026, 1, 2),
    w: Optional[Short] = None,
) -> float: ...


def choices(
    a: Literal["x"],
    b: Literal["x", "y"],
    c: Literal[1, "a"],
    d: Literal[None, "a"],
    e: Color,
    f: Mixed,
    g: One,
    h: Level,
    i: Text,
    j: Color = Color.RED,
    k: Union[int, str, None] = None,
    l: Literal[True] = True,
    m: Literal[Color.RED] = Color.RED,
    n: Optional[Literal["x", "y"]] = None,
    o: Union[Literal["a"], Literal["b"]] = "a",
    p: None | str = None,
) -> Color: ...


def structures(
    a: Point,
    b: Documented,
    c: Partial,
    d: Whole,
    e: Newer,
    f: Place,
    g: Address,
    h: Person,
    i: Node,
    j: Pet,
    k: Box[int],
    l: Tags,
    m: list[Address],
    n: Optional[Person] = None,
    o: dict[str, Point] = {},
    p: Annotated[Address, Field(description="over")] = Address(street="q"),
    q: list[Pet] = [],
    r: list[Whole] = [],
    s: Union[Whole, list["Whole"], None] = None,
    t: Point = Point(1),
    model_config: str = "reserved in a model",
    _private: str = "refused in a model",
) -> Person: ...


def whole(colors: list[Color]) -> Whole: ...


def nodes(query: str) -> Node: ...


def nothing() -> None:
    """Do nothing."""


def anything(x: int) -> Any: ...


FUNCTIONS = (basic, containers, scalars, choices, structures, whole, nodes, nothing, anything)
