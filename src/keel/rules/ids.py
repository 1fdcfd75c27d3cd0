"""The ids of all rules, for whoever must know a name without loading the rules; a test holds it to the registry."""

from __future__ import annotations

from keel.rules.words import listed

RULE_IDS = listed(
    "addresses-the-model ambiguous-siblings annotation-contradiction annotation-invalid approval-bypass"
    " authority-spoof bidi-control catch-all-tool conceal-from-user confusable-name confusable-package"
    " consent-as-argument context-exfiltration control-character credential-as-argument cross-server-collision"
    " cross-server-reference dangerous-default dangling-ref dead-entry description-missing"
    " description-restates-name description-too-long destructive-unmarked duplicate-name embedded-command"
    " encoded-instruction exfiltration-url external-ref free-code free-command free-path free-sql free-url"
    " hidden-container identity-as-argument inconsistent-schema insecure-endpoint instruction-in-value"
    " instruction-override invalid-schema invisible-character look-alike-name memory-implant"
    " missing-idempotency-key name-invalid no-usage-guidance open-object output-as-instruction"
    " output-schema-missing padding parameter-description-missing priority-hijack read-only-lie recursive-schema"
    " root-combinator schema-root secret-file-transfer secret-literal secret-solicitation slow-pattern"
    " split-instruction tag-characters target-anthropic target-bedrock target-gemini-json-schema"
    " target-gemini-parameters target-openai target-openai-strict trigger-condition unbounded-parameter"
    " unpinned-launch unpinned-tree untyped-parameter variation-selector-data"
)
"""Every rule, those over configuration included."""
