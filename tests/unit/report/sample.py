"""The one sample report that every format is shown on, and reports made of hostile text."""

from __future__ import annotations

from hypothesis import strategies as st

from keel.core.codes import CODES, Severity
from keel.core.finding import Finding, Location, NotChecked, PathStep, Report, finding
from keel.report.interface import Anchors, Presentation

SAMPLE = Presentation(
    Report.of(
        [
            finding(
                "approval-ignored",
                "`billing/refund` is called although the approval may have been denied",
                location=Location("flows/support.py", 41, 11, "billing/refund"),
                site="settle@flows/support.py:41:11",
                path=(
                    PathStep("flows/support.py", 38, 'ok = await human_gate(…, on_reject="return")'),
                    PathStep("flows/support.py", 41, "await refund(…)"),
                ),
            ),
            *(
                finding("text-changed", f"`s/t{index}`: text changed: [-a-]{{+b+}}", location=Location(key=f"s/t{index}", pointer="/description"), digest="k1:same", edit="k1:same")
                for index in range(6)
            ),
            finding("unused-grant", "the grant of `s/x` is used by no flow", location=Location("keel.yaml", 7, 5, "s/x")),
            finding("identity-changed", "`s`: `serverInfo` a 1 → a 2", location=Location(key="s")),
        ],
        [NotChecked("search", "timed-out", "no first reply after 60 s", "raise `timeout_s`")],
    ),
    command="check",
    looked_at="2 flows, 9 frozen tools",
)  # fmt: skip

MARK = "EVIL"
"""Stands in every hostile text, so that a test can say where foreign text came out."""

_INJECTIONS = (
    "\n::error::x",
    "::set-output name=a::b",
    "##[set-output name=a]b",
    "##vso[task.setvariable]x",
    "%0A::error::x",
    "a,line=1::",
    "</failure><x/>",
    "]]>",
    "<script>x</script>",
    "</code></details>",
    "-->",
    "@everyone",
    "#1",
    "[x](https://evil.example)",
    "https://evil.example",
    "![x](https://evil.example/x.png)",
    "\n```\n",
    "````",
    "`",
    "~~~",
    "| x |",
    "\n\n# x",
    "&lt;b&gt;",
    "\x1b[31m",
    "\x00",
    "\u202e",
    "\u200b",
    "\ufffe",
    "\ud800",
    "{0}",
    "{{1}}",
    "../../x",
    "\\",
)
hostile = st.lists(st.sampled_from(_INJECTIONS) | st.text(max_size=5), max_size=4).map(
    lambda parts: MARK + "".join(parts)
)
_maybe = st.just("") | hostile
_files = st.just("") | hostile.map(lambda text: text.replace("\n", "")) | st.just("flows/a.py")
_severities = st.sampled_from(Severity)


@st.composite
def _findings(draw: st.DrawFn) -> Finding:
    return finding(
        draw(st.sampled_from(sorted(CODES))),
        draw(hostile),
        location=Location(draw(_files), draw(st.integers(0, 99)), draw(st.integers(0, 9)), draw(_maybe), draw(_maybe)),
        next=draw(hostile),
        why=draw(hostile),
        site=draw(_maybe),
        path=tuple(
            PathStep(draw(_files), draw(st.integers(0, 99)), draw(hostile)) for _ in range(draw(st.integers(0, 2)))
        ),
        severity=draw(_severities),
        digest=draw(_maybe),
    )


_gaps = st.builds(NotChecked, hostile, st.sampled_from(("timed-out", "unreachable")), hostile, _maybe)
presentations = st.builds(
    Presentation,
    st.builds(Report.of, st.lists(_findings(), max_size=5), st.lists(_gaps, max_size=2)),
    command=st.sampled_from(("check", "drift")),
    looked_at=_maybe,
    lines=st.lists(hostile, max_size=3).map(tuple),
    hints=st.lists(hostile, max_size=2).map(tuple),
    verbose=st.booleans(),
    prefix=st.sampled_from(("", "services/billing")),
    anchors=st.just(Anchors("keel.lock", "keel.yaml", "keel.toml", {"s": 5})),
)
"""Whole reports in which every text that is not keel's own is hostile."""


def many(count: int, code: str = "text-changed") -> Presentation:
    """Return a report of many findings of one code, each about another tool."""
    found = [finding(code, f"`s/t{index}` changed", location=Location(key=f"s/t{index}")) for index in range(count)]
    return Presentation(Report.of(found), command="drift")
