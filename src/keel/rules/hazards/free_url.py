"""Arguments that are an address the server then calls."""

from keel.rules.hazards.free_parameter import FreeParameter
from keel.rules.hazards.shared import hazard_meta
from keel.rules.lazy import lazy


class FreeUrl(FreeParameter):
    """Finds unbounded addresses that are fetched from or sent to."""

    meta = hazard_meta(
        "free-url",
        "an argument is an address that the server calls",
        "It reaches what the server's network reaches, cloud metadata included, and carries data out in the address.",
        "bound the hosts with a `pattern` or an `enum`, or name targets that are configured elsewhere",
        '{"name": "fetch_url", "inputSchema": {"properties": {"url": {"type": "string"}}}}',
        "SAFE-T1913 HTTP POST Exfil",
        "CWE-918",
    )
    names = frozenset(
        {
            "url",
            "urls",
            "uri",
            "webhook",
            "callback",
            "webhook_url",
            "callback_url",
            "endpoint",
            "target_url",
            "link",
            "href",
        }
    )
    use = lazy(
        r"\b(?:fetch|fetches|fetched|download|downloads|downloaded|crawl|crawls|open|opens|navigate|navigates|visit|visits|scrape|scrapes|curl)\b"
        r"|\b(?:post|posts|posted|send|sends|sent|report|reports|push|pushes|deliver|delivers|notify|notifies)\b[^.]{0,60}"
        r"\b(?:url|webhook|callback|endpoint|address|file|notification|event|result|results)\b"
        r"|\bhttp requests?\b|\bfrom the (?:web|internet)\b|\bof the (?:public )?web\b"
        r"|\b(?:import|imports|ingest|ingests|subscribe|subscribes)\b[^.]{0,40}\b(?:feed|feeds|rss|page|url|site|calendar)\b"
        r"|\b(?:register|registers|add|adds|create|creates|set|sets)\b[^.]{0,30}\b(?:webhook|webhooks|callback)\b"
        r"|\b(?:retrieve|retrieves|load|loads|read|reads|get|gets)\b[^.]{0,40}\b(?:page|pages|url|website|webpage)\b"
    )
    power = "any address"
