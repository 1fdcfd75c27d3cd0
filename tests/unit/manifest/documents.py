"""What the tests of all three readers share."""


def paths(value, path=()):
    """Yield the path of every value in a document."""
    yield path
    for key, item in value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ():
        yield from paths(item, (*path, key))
