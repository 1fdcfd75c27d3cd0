import json
from collections import Counter
from pathlib import Path

from keel.core.finding import Severity
from keel.rules.documents import lint_document

CORPUS = Path(__file__).parents[3] / "fixtures/tool-lint.jsonl"
CASES = [json.loads(line) for line in CORPUS.read_text("utf-8").splitlines()]
STRUCTURAL = {
    "ansi-escape", "bidi-control", "tag-smuggling", "zero-width", "whitespace-padding", "name-homoglyph", "name-collision",
    "name-near-duplicate", "name-invalid", "schema-inconsistent", "schema-remote-ref", "schema-incompatible",
    "annotation-contradiction", "readonly-lie", "destructive-unmarked", "untyped-param", "secret-literal",
}  # fmt: skip


def located(found, label):
    return found == label or (found != "" and (label.startswith(f"{found}/") or found.startswith(f"{label}/")))


def worst(case):
    """Return (worst severity anywhere, worst at the labelled place), 0 for none, 3 for an error."""
    findings, gaps = lint_document({key: case[key] for key in ("tool", "siblings", "siblings_server") if key in case})
    assert gaps == ()
    rank = {Severity.ERROR: 3, Severity.WARNING: 2, Severity.INFO: 1}
    anywhere = max((rank[item.severity] for item in findings), default=0)
    label = case["pointer"]
    here = [rank[item.severity] for item in findings if label is not None and located(item.location.pointer, label)]
    return anywhere, max(here, default=0)


SCORES = {case["id"]: worst(case) for case in CASES}


def share(label, least, index):
    chosen = [SCORES[case["id"]][index] for case in CASES if case["label"] == label]
    return sum(score >= least for score in chosen) / len(chosen)


def test_malicious_definitions_are_located_at_error():
    assert share("malicious", 3, 1) >= 0.95


def test_hazards_are_located_at_warning():
    assert share("hazard", 2, 1) >= 0.85


def test_harmless_definitions_stay_clean():
    assert share("benign", 3, 0) <= 0.01
    assert share("benign", 2, 0) <= 0.02


def test_structure_rules_locate_all_of_their_techniques():
    missed = Counter(
        case["technique"] for case in CASES if case["technique"] in STRUCTURAL and SCORES[case["id"]][1] < 2
    )
    assert missed == Counter()
