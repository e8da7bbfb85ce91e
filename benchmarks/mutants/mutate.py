"""The faults: where a file may be changed in one place, and how."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

_COMPARED: dict[type[ast.cmpop], tuple[type[ast.cmpop], ...]] = {
    ast.Lt: (ast.LtE, ast.GtE),
    ast.LtE: (ast.Lt, ast.Gt),
    ast.Gt: (ast.GtE, ast.LtE),
    ast.GtE: (ast.Gt, ast.Lt),
    ast.Eq: (ast.NotEq,),
    ast.NotEq: (ast.Eq,),
    ast.In: (ast.NotIn,),
    ast.NotIn: (ast.In,),
    ast.Is: (ast.IsNot,),
    ast.IsNot: (ast.Is,),
}
_COMPUTED: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Div,
    ast.Div: ast.Mult,
    ast.FloorDiv: ast.Mult,
    ast.Mod: ast.Mult,
    ast.Pow: ast.Mult,
}


@dataclass(frozen=True, order=True)
class Mutant:
    """One place of one file, and what stands there instead."""

    file: Path
    line: int
    column: int
    end_line: int
    end_column: int
    before: str
    after: str
    whole_line: str

    @property
    def key(self) -> tuple[str, str, str]:
        """What stays the same when other lines of the file change."""
        return str(self.file), self.whole_line, self.after

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: {_short(self.before)} → {_short(self.after)}"

    def applied(self, text: str) -> str:
        """The file's text with the fault in it; columns count bytes, as those of the parser do."""
        lines = text.encode().splitlines(keepends=True)
        head = b"".join(lines[: self.line - 1]) + lines[self.line - 1][: self.column]
        tail = lines[self.end_line - 1][self.end_column :] + b"".join(lines[self.end_line :])
        return (head + self.after.encode() + tail).decode()


def _short(code: str) -> str:
    line = " ".join(code.split())
    return line if len(line) <= 90 else f"{line[:87]}..."


def mutants(file: Path, text: str) -> list[Mutant]:
    """Every fault that we know to make in this file, in the order of the text."""
    nodes, lines = list(_executed(ast.parse(text))), text.encode().splitlines(keepends=True)
    conditions = {id(node.test) for node in nodes if isinstance(node, ast.If | ast.While | ast.IfExp)}
    found = set()
    for node in nodes:
        changed = list(_instead(node))
        if id(node) in conditions and isinstance(node, ast.Name | ast.Attribute | ast.Call):
            changed.append(_in_brackets(ast.UnaryOp(ast.Not(), node)))
        for after in changed:
            place = (node.lineno, node.col_offset, node.end_lineno or 0, node.end_col_offset or 0)
            whole_line = lines[node.lineno - 1].decode().strip()
            found.add(Mutant(file, *place, _segment(lines, *place), after, whole_line))
    return sorted(found)


def _segment(lines: list[bytes], line: int, column: int, end_line: int, end_column: int) -> str:
    """As `ast.get_source_segment`, which splits the whole text again for every node."""
    parts = lines[line - 1 : end_line]
    parts[-1] = parts[-1][:end_column]
    parts[0] = parts[0][column:]
    return b"".join(parts).decode()


def _executed(tree: ast.AST) -> Iterator[ast.expr | ast.stmt]:
    """Nodes whose change can be seen: no annotations, no decorators, nothing that only type checkers read."""
    for field, value in ast.iter_fields(tree):
        if field in ("annotation", "returns", "decorator_list", "type_params", "format_spec"):
            continue
        for node in value if isinstance(value, list) else [value]:
            if not isinstance(node, ast.AST) or _is_only_said(node):
                continue
            if isinstance(node, ast.expr | ast.stmt):
                yield node
            if not isinstance(node, ast.JoinedStr | ast.Raise):  # the wording of messages is not a fault
                yield from _executed(node)


def _is_only_said(node: ast.AST) -> bool:
    """`if TYPE_CHECKING` and zip's `strict`: they say what is known, and do nothing in a run that goes well."""
    if isinstance(node, ast.keyword):
        return node.arg == "strict"
    return isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test)


def _instead(node: ast.expr | ast.stmt) -> Iterator[str]:
    match node:
        case ast.Compare(left, [operator], [right]):
            for other in _COMPARED.get(type(operator), ()):
                yield _in_brackets(ast.Compare(left, [other()], [right]))
        case ast.BinOp(left, operator, right) if type(operator) in _COMPUTED and not _is_text(left, right):
            yield _in_brackets(ast.BinOp(left, _COMPUTED[type(operator)](), right))
        case ast.BoolOp(operator, values):
            yield _in_brackets(ast.BoolOp(ast.Or() if isinstance(operator, ast.And) else ast.And(), values))
        case ast.UnaryOp(ast.Not() | ast.USub(), operand):
            yield _in_brackets(operand)
        case ast.IfExp(test, body, orelse):
            yield _in_brackets(ast.IfExp(test, orelse, body))
        case ast.Constant(bool(value)):
            yield str(not value)
        case ast.Constant(int(value) | float(value)):
            yield repr(value + 1 if isinstance(value, int) else value * 1.5 or 1.0)
        case ast.AugAssign(target, operator, value) if type(operator) in _COMPUTED and not _is_text(value):
            yield ast.unparse(ast.AugAssign(target, _COMPUTED[type(operator)](), value))
        case ast.Return(value) if value is not None and not _is_constant(value):
            yield "return None"
        case _:
            pass


def _in_brackets(expression: ast.expr) -> str:
    return f"({ast.unparse(expression)})"


def _is_text(*values: ast.expr) -> bool:
    return any(isinstance(value, ast.JoinedStr) or _is_constant(value, str) for value in values)


def _is_constant(value: ast.expr, kind: type | None = None) -> bool:
    return isinstance(value, ast.Constant) and (kind is None or isinstance(value.value, kind))
