"""Arguments that are run as a database statement."""

from __future__ import annotations

from keel.rules.hazards.free_parameter import FreeParameter
from keel.rules.hazards.shared import hazard_meta
from keel.rules.lazy import lazy
from keel.rules.view import Parameter


class FreeSql(FreeParameter):
    """Finds unbounded statements and aggregation pipelines."""

    meta = hazard_meta(
        "free-sql",
        "an argument is run as a database statement",
        "One string reads every table, and often writes it; a claim of being read-only is the server's own.",
        "offer queries with typed parameters, or connect the server with a role that can do no more than it should",
        '{"name": "run_sql", "inputSchema": {"properties": {"sql": {"type": "string"}}}}',
        "OWASP MCP05:2025 Command Injection & Execution",
        "CWE-89",
    )
    names = frozenset(
        {"sql", "query", "statement", "statements", "queries", "pipeline", "cypher", "sql_query", "query_string", "hql"}
    )
    use = lazy(
        r"\bsql\b|\b(?:postgres|postgresql|mysql|mariadb|sqlite|mssql|oracle|clickhouse|bigquery|snowflake|duckdb|redshift|cypher)\b"
        r"|\baggregat(?:e|es|ion)\b[^.]{0,60}\b(?:collection|collections|pipeline|database)\b|\baggregate\b"
        r"|\b(?:insert|update|delete|select|drop)\b, (?:insert|update|delete|select|drop)\b"
    )
    power = "any database statement"

    def free(self, parameter: Parameter) -> bool:
        """Statements, and pipelines of stages that nothing describes."""
        if "array" in parameter.types:
            items = parameter.get("items")
            return items in (None, {}, True) or (
                isinstance(items, dict) and not items.get("properties") and items.get("type") in (None, "object")
            )
        return super().free(parameter)
