"""The closed-world scan: what would let a program reach a tool past the names that the reader follows."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from keel.flow import knowledge
from keel.flow.modules import Module, flat
from keel.flow.reach import LIVE_NAMES, absolute
from keel.flow.scope import dotted
from keel.flow.world import World


def scan(world: World, module: Module) -> None:
    """Report everything in one reachable module that makes it unreadable."""
    imports = _imports(module)
    annotations = _annotation_nodes(module)
    live = world.reach.module_live(module.name)
    _made_names(world, module)
    own = _own_setters(module)
    for node in module.nodes():
        if isinstance(node, ast.Attribute) and id(node) not in own:
            _attribute(world, module, node, live=live)
        if isinstance(node, ast.Import | ast.ImportFrom):
            _import(world, module, node)
        elif isinstance(node, ast.Name | ast.Attribute) and isinstance(node.ctx, ast.Load):
            if id(node) not in annotations:
                _mention(world, module, node, imports, live=live)
        elif isinstance(
            node, ast.Assign | ast.AnnAssign | ast.AugAssign | ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
        ):
            _rebinding(world, module, node, imports)
        elif isinstance(node, ast.Call):
            _call(world, module, node, imports)


def _imports(module: Module) -> dict[str, str]:
    """Return what each imported name means, wherever in the module it is imported."""
    found: dict[str, str] = {}
    for node in module.nodes():
        if isinstance(node, ast.Import):
            for item in node.names:
                found[item.asname or item.name.partition(".")[0]] = (
                    item.name if item.asname else item.name.partition(".")[0]
                )
        elif isinstance(node, ast.ImportFrom):
            base = absolute(module, node)
            for item in node.names:
                found[item.asname or item.name] = f"{base}.{item.name}" if base else item.name
    return found


def _annotation_nodes(module: Module) -> set[int]:
    found: set[int] = set()
    for node in module.nodes():
        if isinstance(node, ast.arg | ast.AnnAssign | ast.FunctionDef | ast.AsyncFunctionDef):
            for part in (getattr(node, "annotation", None), getattr(node, "returns", None)):
                if isinstance(part, ast.AST):
                    found.update(id(item) for item in flat(part))
    return found


def _path(node: ast.AST, imports: dict[str, str], module: Module) -> str | None:
    chain = dotted(node)
    if chain is None:
        return None
    head, dot, rest = chain.partition(".")
    if head in imports:
        return f"{imports[head]}{dot}{rest}"
    if head in module.symbols:
        return None
    return f"builtins.{chain}" if head in knowledge.BUILTINS else None


def _mention(
    world: World, module: Module, node: ast.Name | ast.Attribute, imports: dict[str, str], *, live: bool
) -> None:
    path = _path(node, imports, module)
    why = knowledge.DYNAMIC.get(path) if path is not None else None
    if why is not None and (live or path in knowledge.ESCAPES):
        world.report("dynamic-tool", f"{why}, so that no gate sees the call", module, node, "call tools by their names")


def _made_names(world: World, module: Module) -> None:
    """Report a module-level `__getattr__` (PEP 562) that reaches a tool: it gives names that nobody wrote."""
    statement = module.symbols.get("__getattr__")
    if statement is not None and world.reach.live(module.name, "__getattr__"):
        world.report(
            "dynamic-tool",
            "`__getattr__` of a module gives tools under names that nobody wrote",
            module,
            statement,
            "bind each tool to a name of its own",
        )


_SETTERS = ("__setattr__", "__delattr__")


def _own_setters(module: Module) -> set[int]:
    """Return where methods set attributes of their own object past a frozen class, as dataclasses do."""
    found: set[int] = set()
    for owner in module.nodes():
        if not isinstance(owner, ast.ClassDef):
            continue
        for method in owner.body:
            if isinstance(method, ast.FunctionDef) and method.args.args:
                receiver = method.args.args[0].arg
                found.update(id(node.func) for node in flat(method) if _sets_own(node, receiver))  # type: ignore[attr-defined]
    return found


def _sets_own(node: ast.AST, receiver: str) -> bool:
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute) or node.func.attr not in _SETTERS:
        return False
    base = node.func.value
    parent = isinstance(base, ast.Call) and isinstance(base.func, ast.Name) and base.func.id == "super"
    first = node.args[0] if node.args else None
    return parent or (isinstance(first, ast.Name) and first.id == receiver)


def _attribute(world: World, module: Module, node: ast.Attribute, *, live: bool) -> None:
    """Report attributes that give, or replace, functions and objects past their names."""
    what = f"`.{node.attr}`"
    if isinstance(node.ctx, ast.Load):
        if node.attr in knowledge.ESCAPING_ATTRIBUTES:
            why = f"{what} gives functions past their names, so that no gate sees their calls"
        elif live and node.attr in _SETTERS:
            why = f"{what} writes past what a class allows, also into an approval"
        else:
            return
    elif node.attr in knowledge.REPLACING_ATTRIBUTES:
        why = f"assigning {what} makes a function or a class another at run time"
    else:
        return
    world.report("dynamic-tool", why, module, node, "remove it, or move it out of what flows import")


def _import(world: World, module: Module, node: ast.Import | ast.ImportFrom) -> None:
    for name in _modules_of(module, node):
        root = name.partition(".")[0]
        if root == "keel" and name != "keel" and not _authoring(name, node):
            world.report(
                "dynamic-tool",
                f"a flow module imports `{name}`, which can call any tool past the reader",
                module,
                node,
                "import what flows need from `keel` itself",
            )
        elif _is_client(name) and world.project.file_of(root) is None:
            world.report(
                "dynamic-tool",
                f"a flow module imports `{name}`, an MCP client that calls tools past keel",
                module,
                node,
                "call the tool through `mcp_tool(server, tool)`",
            )


def _is_client(name: str) -> bool:
    return any(name == client or name.startswith(f"{client}.") for client in knowledge.MCP_CLIENTS)


def _modules_of(module: Module, node: ast.Import | ast.ImportFrom) -> Iterator[str]:
    if isinstance(node, ast.Import):
        yield from (item.name for item in node.names)
        return
    base = absolute(module, node)
    if base == "keel":
        for item in node.names:
            if item.name in ("runtime", "authoring", "testing", "gateway", "capture", "app", "cli", "store"):
                yield f"keel.{item.name}"
    yield base


def _authoring(name: str, node: ast.Import | ast.ImportFrom) -> bool:
    """Tell whether an import from inside keel brings only exceptions."""
    return name == "keel.errors" and isinstance(node, ast.ImportFrom)


def _rebinding(world: World, module: Module, node: ast.AST, imports: dict[str, str]) -> None:
    """Report a definition or an assignment under a name that was imported from keel."""
    for target in _attributes(node):
        path = _path(target.value, imports, module)
        if path in world.reach.modules:
            world.replaced.add((path, target.attr))
    for name in _bound(node):
        origin = imports.get(name, "")
        if (origin.startswith("keel.") and origin.removeprefix("keel.") in LIVE_NAMES) or (
            origin == "keel" and name == "keel"
        ):
            if module.bindings.get(name, 0) < 2 and name in module.symbols and _local(module, node):
                continue
            world.report(
                "dynamic-tool",
                f"`{name}` is imported from keel and bound to something else here",
                module,
                node,
                "choose another name",
            )


def _attributes(node: ast.AST) -> Iterator[ast.Attribute]:
    targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
    for target in targets:
        if isinstance(target, ast.Attribute):
            yield target


def _local(module: Module, node: ast.AST) -> bool:
    """Tell whether a binding is local to a function: it hides keel's name there and changes it nowhere else."""
    return all(node is not statement for statement in module.tree.body) and not isinstance(
        node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
    )


def _bound(node: ast.AST) -> Iterator[str]:
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        yield node.name
        return
    targets = node.targets if isinstance(node, ast.Assign) else [node.target]  # type: ignore[attr-defined]
    for target in targets:
        if isinstance(target, ast.Name):
            yield target.id


_REPLACERS = frozenset({"setattr", "delattr", "setitem", "patch", "object", "multiple", "__setattr__", "__dict__"})


def _call(world: World, module: Module, node: ast.Call, imports: dict[str, str]) -> None:
    """Report calls that replace what a name of keel or of a live module means."""
    func = node.func
    name = func.attr if isinstance(func, ast.Attribute) else func.id if isinstance(func, ast.Name) else ""
    if name == "replace" and _forges(node, module, imports):
        world.report(
            "dynamic-tool",
            "an approval is copied with another answer; only a person's answer makes one",
            module,
            node,
            "ask with `human_gate(...)`",
        )
        return
    if name in ("getattr", "setattr", "vars") and node.args:
        _by_name(world, module, node, name, _path(node.args[0], imports, module) or "")
    if name not in _REPLACERS or not node.args:
        return
    first = node.args[0]
    if isinstance(first, ast.Constant) and isinstance(first.value, str):
        root = first.value.partition(".")[0]
        if root == "keel" or any(first.value.startswith(f"{known}.") for known in world.reach.modules):
            world.report(
                "dynamic-tool", f"`{first.value}` is replaced at run time", module, node, "remove the replacement"
            )
        return
    path = _path(first, imports, module)
    if path is None:
        return
    if path == "keel" or path.startswith("keel.") or path in world.reach.modules:
        world.report(
            "dynamic-tool", f"a name of `{path}` is replaced at run time", module, node, "remove the replacement"
        )


def _by_name(world: World, module: Module, node: ast.Call, name: str, path: str) -> None:
    """Report attributes by name that give what no name gives."""
    second = node.args[1] if len(node.args) > 1 else None
    known = second.value if isinstance(second, ast.Constant) and isinstance(second.value, str) else None
    if name == "setattr":
        escapes = known in knowledge.REPLACING_ATTRIBUTES
    elif path in ("builtins", "importlib"):
        escapes = known is None or f"{path}.{known}" in knowledge.DYNAMIC
    else:
        escapes = known in knowledge.ESCAPING_ATTRIBUTES
    if escapes:
        world.report(
            "dynamic-tool",
            f"`{name}` gives what no gate sees: {f'`{known}`' if known else 'any builtin by name'}",
            module,
            node,
            "call tools by their names",
        )


def _forges(node: ast.Call, module: Module, imports: dict[str, str]) -> bool:
    path = _path(node.func, imports, module) or ""
    return path in ("dataclasses.replace", "copy.replace") and any(
        word.arg in ("approved", None) for word in node.keywords
    )
