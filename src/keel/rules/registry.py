"""The one list of rules over definitions, sorted by id, and the table of all rules by id."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from keel.rules.annotations.annotation_contradiction import AnnotationContradiction
from keel.rules.annotations.annotation_invalid import AnnotationInvalid
from keel.rules.annotations.destructive_unmarked import DestructiveUnmarked
from keel.rules.annotations.read_only_lie import ReadOnlyLie
from keel.rules.characters.bidi_control import BidiControl
from keel.rules.characters.control_character import ControlCharacter
from keel.rules.characters.invisible_character import InvisibleCharacter
from keel.rules.characters.padding import Padding
from keel.rules.characters.tag_characters import TagCharacters
from keel.rules.characters.variation_selector_data import VariationSelectorData
from keel.rules.hazards.catch_all_tool import CatchAllTool
from keel.rules.hazards.consent_as_argument import ConsentAsArgument
from keel.rules.hazards.credential_as_argument import CredentialAsArgument
from keel.rules.hazards.dangerous_default import DangerousDefault
from keel.rules.hazards.free_code import FreeCode
from keel.rules.hazards.free_command import FreeCommand
from keel.rules.hazards.free_path import FreePath
from keel.rules.hazards.free_sql import FreeSql
from keel.rules.hazards.free_url import FreeUrl
from keel.rules.hazards.identity_as_argument import IdentityAsArgument
from keel.rules.hazards.insecure_endpoint import InsecureEndpoint
from keel.rules.hazards.missing_idempotency_key import MissingIdempotencyKey
from keel.rules.hazards.secret_literal import SecretLiteral
from keel.rules.interface import Rule
from keel.rules.limits.target_anthropic import TargetAnthropic
from keel.rules.limits.target_bedrock import TargetBedrock
from keel.rules.limits.target_gemini_json_schema import TargetGeminiJsonSchema
from keel.rules.limits.target_gemini_parameters import TargetGeminiParameters
from keel.rules.limits.target_openai import TargetOpenai
from keel.rules.limits.target_openai_strict import TargetOpenaiStrict
from keel.rules.names.confusable_name import ConfusableName
from keel.rules.names.cross_server_collision import CrossServerCollision
from keel.rules.names.duplicate_name import DuplicateName
from keel.rules.names.look_alike_name import LookAlikeName
from keel.rules.names.name_invalid import NameInvalid
from keel.rules.quality.ambiguous_siblings import AmbiguousSiblings
from keel.rules.quality.description_missing import DescriptionMissing
from keel.rules.quality.description_restates_name import DescriptionRestatesName
from keel.rules.quality.description_too_long import DescriptionTooLong
from keel.rules.quality.no_usage_guidance import NoUsageGuidance
from keel.rules.quality.open_object import OpenObject
from keel.rules.quality.output_schema_missing import OutputSchemaMissing
from keel.rules.quality.parameter_description_missing import ParameterDescriptionMissing
from keel.rules.quality.unbounded_parameter import UnboundedParameter
from keel.rules.schema.dangling_ref import DanglingRef
from keel.rules.schema.external_ref import ExternalRef
from keel.rules.schema.inconsistent_schema import InconsistentSchema
from keel.rules.schema.invalid_schema import InvalidSchema
from keel.rules.schema.recursive_schema import RecursiveSchema
from keel.rules.schema.root_combinator import RootCombinator
from keel.rules.schema.schema_root import SchemaRoot
from keel.rules.schema.slow_pattern import SlowPattern
from keel.rules.schema.untyped_parameter import UntypedParameter
from keel.rules.text.addresses_the_model import AddressesTheModel
from keel.rules.text.approval_bypass import ApprovalBypass
from keel.rules.text.authority_spoof import AuthoritySpoof
from keel.rules.text.conceal_from_user import ConcealFromUser
from keel.rules.text.context_exfiltration import ContextExfiltration
from keel.rules.text.cross_server_reference import CrossServerReference
from keel.rules.text.embedded_command import EmbeddedCommand
from keel.rules.text.encoded_instruction import EncodedInstruction
from keel.rules.text.exfiltration_url import ExfiltrationUrl
from keel.rules.text.hidden_container import HiddenContainer
from keel.rules.text.instruction_in_value import InstructionInValue
from keel.rules.text.instruction_override import InstructionOverride
from keel.rules.text.memory_implant import MemoryImplant
from keel.rules.text.output_as_instruction import OutputAsInstruction
from keel.rules.text.priority_hijack import PriorityHijack
from keel.rules.text.secret_file_transfer import SecretFileTransfer
from keel.rules.text.secret_solicitation import SecretSolicitation
from keel.rules.text.split_instruction import SplitInstruction
from keel.rules.text.trigger_condition import TriggerCondition

if TYPE_CHECKING:
    from keel.rules.config.interface import ConfigRule

RULES: tuple[Rule, ...] = (
    AddressesTheModel(),
    AmbiguousSiblings(),
    AnnotationContradiction(),
    AnnotationInvalid(),
    ApprovalBypass(),
    AuthoritySpoof(),
    BidiControl(),
    CatchAllTool(),
    ConcealFromUser(),
    ConfusableName(),
    ConsentAsArgument(),
    ContextExfiltration(),
    ControlCharacter(),
    CredentialAsArgument(),
    CrossServerCollision(),
    CrossServerReference(),
    DangerousDefault(),
    DanglingRef(),
    DescriptionMissing(),
    DescriptionRestatesName(),
    DescriptionTooLong(),
    DestructiveUnmarked(),
    DuplicateName(),
    EmbeddedCommand(),
    EncodedInstruction(),
    ExfiltrationUrl(),
    ExternalRef(),
    FreeCode(),
    FreeCommand(),
    FreePath(),
    FreeSql(),
    FreeUrl(),
    HiddenContainer(),
    IdentityAsArgument(),
    InconsistentSchema(),
    InsecureEndpoint(),
    InstructionInValue(),
    InstructionOverride(),
    InvalidSchema(),
    InvisibleCharacter(),
    LookAlikeName(),
    MemoryImplant(),
    MissingIdempotencyKey(),
    NameInvalid(),
    NoUsageGuidance(),
    OpenObject(),
    OutputAsInstruction(),
    OutputSchemaMissing(),
    Padding(),
    ParameterDescriptionMissing(),
    PriorityHijack(),
    ReadOnlyLie(),
    RecursiveSchema(),
    RootCombinator(),
    SchemaRoot(),
    SecretFileTransfer(),
    SecretLiteral(),
    SecretSolicitation(),
    SlowPattern(),
    SplitInstruction(),
    TagCharacters(),
    TargetAnthropic(),
    TargetBedrock(),
    TargetGeminiJsonSchema(),
    TargetGeminiParameters(),
    TargetOpenai(),
    TargetOpenaiStrict(),
    TriggerCondition(),
    UnboundedParameter(),
    UntypedParameter(),
    VariationSelectorData(),
)

BY_ID: dict[str, Rule | ConfigRule]
"""Every rule by its id, those over configuration included."""


def __getattr__(name: str) -> Any:
    """Build `BY_ID` when it is first asked for: the rules over configuration load the reader of manifests."""
    if name != "BY_ID":
        message = f"module {__name__!r} has no attribute {name!r}"
        raise AttributeError(message)
    from keel.rules.config.registry import CONFIG_RULES  # noqa: PLC0415 - see above

    every: dict[str, Rule | ConfigRule] = {rule.meta.id: rule for rule in RULES}
    every |= {rule.meta.id: rule for rule in CONFIG_RULES}
    globals()["BY_ID"] = every
    return every
