"""Mutants of a C or C++ file: its syntax tree, and one small change at a time.

    mutants(path, arguments)    every mutant of the file, which the arguments compile
    apply(text, mutant)         the changed text
    probes(path, arguments)     the file with a mark at each statement, which says what was executed

The operators are the standard ones (Offutt et al., TOSEM 1996), with those left out that others
subsume: a condition that is always or never true instead of a negated one, an operand left out
instead of && for ||. Nothing is changed outside of functions, inside of an expansion of a macro, in
an assertion, or in another file.
"""
import bisect
import sys
from dataclasses import asdict, dataclass

DEBIAN = "/usr/lib/python3/dist-packages"


def import_clang():
    """Debian's bindings of libclang are plain Python, so an interpreter of a venv can use them."""
    try:
        from clang import cindex
    except ImportError:
        sys.path.append(DEBIAN)
        try:
            from clang import cindex
        except ImportError:
            raise Unusable("the Python bindings of libclang are missing: on Debian and Ubuntu "
                           "'apt-get install python3-clang', elsewhere 'pip install libclang'"
                           ) from None
        finally:
            sys.path.remove(DEBIAN)
    return cindex


class Unusable(Exception):
    """Bad input, or something that is missing on this machine."""


@dataclass
class Mutant:
    """One change: the bytes from start to end become `after`."""
    number: int
    operator: str
    function: str
    line: int
    column: int
    start: int
    end: int
    before: str
    after: str
    words: str      # the change, for people
    statement: int  # the number of the innermost statement that it is in, as probes() counts

    def as_dict(self):
        return asdict(self)


def apply(text, mutant):
    """Lines keep their numbers."""
    lines = text[mutant.start:mutant.end].count(b"\n") - mutant.after.count("\n")
    return text[:mutant.start] + mutant.after.encode() + b"\n" * lines + text[mutant.end:]


OTHER = {"+": "-", "-": "+", "*": "/", "/": "*", "%": "*", "&": "|", "|": "&", "^": "&",
         "<<": ">>", ">>": "<<", "<": "<=", "<=": "<", ">": ">=", ">=": ">", "==": "!=",
         "!=": "=="}
NEGATED = {"<": ">=", ">=": "<", ">": "<=", "<=": ">", "==": "!=", "!=": "=="}
COMPOUND = {"+=": "-=", "-=": "+=", "*=": "/=", "/=": "*=", "%=": "*=", "&=": "|=", "|=": "&=",
            "^=": "|=", "<<=": ">>=", ">>=": "<<="}
STEPS = {"++": "--", "--": "++"}


class File:
    """The syntax tree of a file, its tokens, and where macros are expanded."""

    def __init__(self, path, arguments):
        self.clang = import_clang()
        self.path = path
        self.text = open(path, "rb").read()
        options = self.clang.TranslationUnit.PARSE_DETAILED_PROCESSING_RECORD
        try:
            self.unit = self.clang.Index.create().parse(path, arguments, options=options)
        except (self.clang.LibclangError, self.clang.TranslationUnitLoadError) as error:
            raise Unusable(f"libclang cannot read '{path}': {error}") from None
        errors = [item for item in self.unit.diagnostics if item.severity >= item.Error]
        if errors:
            where = errors[0].location
            raise Unusable(f"libclang cannot read '{path}': {where.file}:{where.line}: "
                           f"{errors[0].spelling}; it gets the options -I, -D and -std that stand "
                           "beside {source} in --build, and the folders in the variable CPATH")
        self.tokens = [(token.extent.start.offset, token.extent.end.offset, token.spelling)
                       for token in self.unit.get_tokens(extent=self.unit.cursor.extent)
                       if token.kind != self.clang.TokenKind.COMMENT]
        self.starts = [start for start, _, _ in self.tokens]
        macros = self.clang.CursorKind.MACRO_INSTANTIATION
        self.macros = [self.range(cursor) for cursor in self.unit.cursor.get_children()
                       if cursor.kind == macros and self.is_here(cursor)]

    def is_here(self, cursor):
        file = cursor.extent.start.file
        return file is not None and file.name == self.path

    @staticmethod
    def range(cursor):
        return cursor.extent.start.offset, cursor.extent.end.offset

    def tokens_in(self, start, end):
        return [token for token in self.tokens[bisect.bisect_left(self.starts, start):
                                               bisect.bisect_left(self.starts, end)]]

    def token_at(self, offset):
        """The first token from an offset on."""
        index = bisect.bisect_left(self.starts, offset)
        return self.tokens[index] if index < len(self.tokens) else (offset, offset, "")

    def is_plain(self, start, end):
        """No part of the range comes from a macro."""
        return all(end <= low or high <= start for low, high in self.macros)

    def is_whole(self, start, end):
        """The range cuts no macro, and does not begin with a call of one."""
        calls = [low for low, high in self.macros if self.text[high - 1:high] == b")"]
        return start not in calls and all(
            end <= low or high <= start or (start <= low and high <= end)
            for low, high in self.macros)

    def text_of(self, start, end):
        return self.text[start:end].decode(errors="replace")


class Walk:
    """Visits the functions of a file."""

    def __init__(self, file):
        self.file = file
        self.kinds = kinds = file.clang.CursorKind
        self.functions = {kinds.FUNCTION_DECL, kinds.CXX_METHOD, kinds.CONSTRUCTOR,
                          kinds.DESTRUCTOR, kinds.CONVERSION_FUNCTION, kinds.FUNCTION_TEMPLATE,
                          kinds.LAMBDA_EXPR}
        self.loops = {kinds.WHILE_STMT, kinds.DO_STMT, kinds.FOR_STMT,
                      kinds.CXX_FOR_RANGE_STMT}
        self.bodies = {kinds.COMPOUND_STMT, kinds.IF_STMT, kinds.CASE_STMT, kinds.DEFAULT_STMT,
                       kinds.LABEL_STMT, kinds.SWITCH_STMT} | self.loops
        self.stores = {kinds.INIT_LIST_EXPR, kinds.CALL_EXPR, kinds.VAR_DECL,
                       kinds.CONDITIONAL_OPERATOR}
        self.is_stored = [False]  # for the expressions around the cursor
        self.found = []
        self.statements = []  # (start, end, is in a list of statements)
        self.function = None
        for cursor in file.unit.cursor.get_children():
            if file.is_here(cursor):
                self.outside(cursor)

    # --- places ----------------------------------------------------------------------------------

    def outside(self, cursor):
        if cursor.kind in self.functions and cursor.is_definition():
            self.enter(cursor)
        else:
            for child in cursor.get_children():
                self.outside(child)

    def enter(self, function):
        outer, self.function = self.function, function
        for child in function.get_children():
            if child.kind == self.kinds.COMPOUND_STMT:
                self.visit(child, function, None)
        self.function = outer

    def visit(self, cursor, parent, statement):
        """The whole tree below; `statement` is the number of the innermost statement."""
        kinds = self.kinds
        if cursor.kind == kinds.LAMBDA_EXPR:
            self.enter(cursor)
            return
        if cursor.kind in (kinds.UNEXPOSED_EXPR, kinds.PAREN_EXPR) and self.is_outside(cursor):
            return
        if parent.kind in self.bodies and self.is_body(cursor, parent):
            statement = self.add_statement(cursor, parent, statement)
            self.remove(cursor, statement)
        self.mutate(cursor, parent, statement)
        if cursor.kind == kinds.CASE_STMT:  # its label is a constant
            children = list(cursor.get_children())[1:]
        else:
            children = list(cursor.get_children())
        if cursor.kind not in (kinds.UNEXPOSED_EXPR, kinds.PAREN_EXPR):
            self.is_stored.append(cursor.kind in self.stores or
                                  cursor.kind == kinds.BINARY_OPERATOR and
                                  self.operator_of(cursor)[2] == "=")
        for child in children:
            if child.kind not in (kinds.TYPE_REF, kinds.UNEXPOSED_ATTR):
                self.visit(child, cursor, statement)
        if cursor.kind not in (kinds.UNEXPOSED_EXPR, kinds.PAREN_EXPR):
            self.is_stored.pop()

    def is_outside(self, cursor):
        start, end = self.file.range(cursor)
        return end <= start

    def is_body(self, cursor, parent):
        """True of a statement; false of a condition."""
        if parent.kind in (self.kinds.COMPOUND_STMT, self.kinds.LABEL_STMT,
                           self.kinds.DEFAULT_STMT):
            return True
        children = list(parent.get_children())
        if parent.kind == self.kinds.IF_STMT:
            return not self.is_condition(cursor, parent) and cursor in children[1:]
        if parent.kind == self.kinds.DO_STMT:
            return cursor == children[0]
        return cursor == children[-1]

    def add_statement(self, cursor, parent, statement):
        start, end = self.file.range(cursor)
        marked_inside = (self.kinds.COMPOUND_STMT, self.kinds.CASE_STMT, self.kinds.DEFAULT_STMT,
                         self.kinds.LABEL_STMT)
        if end <= start or cursor.kind in marked_inside or \
                not self.file.is_whole(start, start + 1):
            return statement
        self.statements.append((start, end, parent.kind == self.kinds.COMPOUND_STMT))
        return len(self.statements) - 1

    def is_condition(self, cursor, parent):
        condition = self.condition(parent)
        return condition is not None and condition == cursor

    def condition(self, cursor):
        """Of an if or a loop; None."""
        children = list(cursor.get_children())
        if cursor.kind == self.kinds.DO_STMT:
            return children[-1]
        if cursor.kind in (self.kinds.IF_STMT, self.kinds.WHILE_STMT):
            expressions = [child for child in children if child.kind.is_expression()]
            return expressions[0] if expressions else None
        if cursor.kind == self.kinds.FOR_STMT:
            start, end = self.file.range(cursor)
            depth, ends = 0, []
            for token, _, spelling in self.file.tokens_in(start, end):
                depth += (spelling == "(") - (spelling == ")")
                if spelling == ";" and depth == 1:
                    ends.append(token)
                if len(ends) == 2:
                    break
            for child in children if len(ends) == 2 else ():
                if ends[0] < self.file.range(child)[0] < ends[1]:
                    return child
        return None

    # --- changes ---------------------------------------------------------------------------------

    def add(self, operator, start, end, after, words, statement):
        before = self.file.text_of(start, end)
        if start < end and before != after:
            self.found.append(dict(operator=operator, function=self.function.spelling or "lambda",
                                   start=start, end=end, before=before, after=after, words=words,
                                   statement=statement))

    def remove(self, cursor, statement):
        kinds = self.kinds
        start, end = self.file.range(cursor)
        semicolon, after, spelling = self.file.token_at(end)
        if spelling != ";" or not self.file.is_whole(start, end) or end <= start:
            return
        kind, inner = cursor.kind, cursor
        if kind == kinds.CSTYLE_CAST_EXPR:
            inner = list(cursor.get_children())[-1]
        what = None
        if inner.kind == kinds.CALL_EXPR or self.is_call(inner):
            what = "the call"
        elif kind == kinds.COMPOUND_ASSIGNMENT_OPERATOR or \
                kind == kinds.BINARY_OPERATOR and self.operator_of(cursor)[2] == "=":
            what = "the assignment"
        elif kind == kinds.UNARY_OPERATOR:
            what = "the statement"
        elif kind == kinds.RETURN_STMT and not list(cursor.get_children()):
            what = "'return'"
        elif kind in (kinds.BREAK_STMT, kinds.CONTINUE_STMT):
            what = "'break'" if kind == kinds.BREAK_STMT else "'continue'"
        if what is not None:
            self.add("statement", start, after, ";", f"{what} is removed", statement)

    def is_call(self, cursor):
        children = list(cursor.get_children())
        return cursor.kind == self.kinds.UNEXPOSED_EXPR and len(children) == 1 and (
            children[0].kind == self.kinds.CALL_EXPR or self.is_call(children[0]))

    def operator_of(self, cursor):
        """The token between two operands."""
        children = list(cursor.get_children())
        if len(children) != 2:
            return 0, 0, ""
        token = self.file.token_at(self.file.range(children[0])[1])
        return token if token[1] <= self.file.range(children[1])[0] else (0, 0, "")

    def mutate(self, cursor, parent, statement):
        kinds = self.kinds
        if cursor.kind == kinds.BINARY_OPERATOR:
            self.binary(cursor, parent, statement)
        elif cursor.kind == kinds.COMPOUND_ASSIGNMENT_OPERATOR:
            self.swap("arithmetic", self.operator_of(cursor), COMPOUND, statement)
        elif cursor.kind == kinds.UNARY_OPERATOR:
            self.unary(cursor, statement)
        elif cursor.kind in self.loops or cursor.kind == kinds.IF_STMT:
            self.conditions(cursor, statement)
        elif cursor.kind == kinds.CONDITIONAL_OPERATOR:
            start, end = self.file.range(list(cursor.get_children())[0])
            if self.file.is_whole(start, end):
                self.add("condition", start, end, f"!({self.file.text_of(start, end)})",
                         "the condition is negated", statement)
        elif cursor.kind == kinds.RETURN_STMT:
            self.returns(cursor, statement)
        elif cursor.kind in (kinds.INTEGER_LITERAL, kinds.CXX_BOOL_LITERAL_EXPR):
            self.literal(cursor, statement)
        elif cursor.kind == kinds.DECL_REF_EXPR and cursor.referenced is not None and \
                cursor.referenced.kind == kinds.ENUM_CONSTANT_DECL and self.is_stored[-1]:
            self.enumerator(cursor, statement)

    def swap(self, operator, token, table, statement):
        start, end, spelling = token
        if spelling in table and self.file.is_plain(start, end):
            self.add(operator, start, end, table[spelling],
                     f"'{spelling}' becomes '{table[spelling]}'", statement)

    def binary(self, cursor, parent, statement):
        token = self.operator_of(cursor)
        spelling = token[2]
        if spelling in ("&&", "||"):
            start, end = self.file.range(cursor)
            for name, operand in zip(("right", "left"), cursor.get_children()):
                low, high = self.file.range(operand)
                if self.file.is_whole(start, end) and self.file.is_plain(*token[:2]):
                    self.add("logical", start, end, self.file.text_of(low, high),
                             f"the {name} operand of '{spelling}' is removed", statement)
        elif spelling in NEGATED:
            if spelling not in ("==", "!="):
                self.swap("relational", token, OTHER, statement)
            if not self.is_condition(cursor, parent):  # always and never subsume it
                self.swap("relational", token, NEGATED, statement)
        else:
            self.swap("arithmetic", token, OTHER, statement)
            self.operands(cursor, token, statement)

    def operands(self, cursor, token, statement):
        """a + b becomes a, or b; an operand that is a number is changed instead."""
        start, end = self.file.range(cursor)
        types = self.file.clang.TypeKind
        operands = list(cursor.get_children())
        if token[2] not in "+-|&" or not self.file.is_whole(start, end) or any(
                operand.type.get_canonical().kind in (types.POINTER, types.CONSTANTARRAY)
                or self.file.text_of(*self.file.range(operand))[:1].isdigit()
                for operand in operands):
            return
        for name, operand in zip(("right", "left"), operands):
            if name == "right" or token[2] != "-":
                self.add("operand", start, end, self.file.text_of(*self.file.range(operand)),
                         f"the {name} operand of '{token[2]}' is removed", statement)

    def enumerator(self, cursor, statement):
        """A value that is stored or passed. Comparisons have operators of their own."""
        start, end = self.file.range(cursor)
        names = self.enumerators(cursor.referenced.semantic_parent)
        other = next((name for name in names if name != cursor.spelling), None)
        scope = self.file.text_of(start, end).rpartition("::")[:2]  # of C++
        if other is not None and self.file.is_plain(start, end):
            self.add("enumerator", start, end, "".join(scope) + other,
                     f"{cursor.spelling} becomes {other}", statement)

    def enumerators(self, declaration):
        return [item.spelling for item in declaration.get_children()
                if item.kind == self.kinds.ENUM_CONSTANT_DECL]

    def unary(self, cursor, statement):
        start, end = self.file.range(cursor)
        tokens = self.file.tokens_in(start, end)
        if not tokens:
            return
        if tokens[0][2] == "!" and self.file.is_plain(*tokens[0][:2]):
            self.add("not", start, tokens[0][1], "", "'!' is removed", statement)
        for token in (tokens[0], tokens[-1]):
            self.swap("increment", token, STEPS, statement)

    def conditions(self, cursor, statement):
        condition = self.condition(cursor)
        if condition is None:
            return
        start, end = self.file.range(condition)
        if not self.file.is_whole(start, end):
            return
        text = self.file.text_of(start, end)  # its calls are made, and their results ignored
        if cursor.kind == self.kinds.IF_STMT:
            self.add("condition", start, end, f"({text}) || 1", "the condition is always true",
                     statement)
        self.add("condition", start, end, f"({text}) && 0", "the condition is never true",
                 statement)

    def literal(self, cursor, statement):
        start, end = self.file.range(cursor)
        spelling = self.file.text_of(start, end)
        if spelling in ("true", "false"):  # of stdbool.h, a macro
            other = "false" if spelling == "true" else "true"
            self.add("boolean", start, end, other, f"{spelling} becomes {other}", statement)
            return
        digits = spelling.rstrip("uUlLzZ")
        try:
            number = int(digits, 8 if digits[:1] == "0" and digits.isdigit() else 0)
        except ValueError:
            return
        if self.file.is_plain(start, end):
            for other in (number + 1, number - 1) if number > 0 else (1,):
                self.add("constant", start, end, f"{other}{spelling[len(digits):]}",
                         f"{spelling} becomes {other}", statement)

    def returns(self, cursor, statement):
        children = list(cursor.get_children())
        if not children or self.function.kind == self.kinds.LAMBDA_EXPR:
            return
        start, end = self.file.range(children[0])
        types = self.file.clang.TypeKind
        kind = self.function.result_type.get_canonical()
        text = self.file.text_of(start, end)
        if not self.file.is_whole(start, end) or end <= start:
            return
        after = None
        if kind.kind == types.BOOL:
            after = None if text in ("true", "false") else f"!({text})"
        elif kind.kind == types.ENUM:
            scope, colons, own = text.rpartition("::")
            after = next((scope + colons + name
                          for name in self.enumerators(kind.get_declaration()) if name != own),
                         None)
        elif kind.kind == types.POINTER:
            after = "0"
        elif types.CHAR_U.value <= kind.kind.value <= types.INT128.value:
            after = None if text.isdigit() else "0"  # digits: another operator changes them
        if after is not None:
            self.add("return", start, end, after, f"returns {' '.join(after.split())}", statement)


def mutants(path, arguments, first_mark=0):
    """In the order of the text. Marks are numbered from the first on."""
    file = File(path, arguments)
    walk = Walk(file)
    found = sorted(walk.found, key=lambda item: (item["start"], item["end"], item["operator"]))
    result, seen = [], set()
    for item in found:
        key = item["start"], item["end"], item["after"]
        if key not in seen:
            seen.add(key)
            line = file.text.count(b"\n", 0, item["start"]) + 1
            column = item["start"] - (file.text.rfind(b"\n", 0, item["start"]) + 1) + 1
            result.append(Mutant(number=len(result) + 1, line=line, column=column, **item))
    return result, probes(file, walk, first_mark)


PROBE = """
#include <stdlib.h>
#include <sys/stat.h>
static void bz_adequacy_reached(unsigned number) {
    static char path[4096], seen[%d];
    const char *folder = getenv("BUZZER_ADEQUACY_REACHED");
    unsigned length = 0;
    if (seen[number] || !folder) return;
    seen[number] = 1;
    for (; folder[length] && length < 4000; length++) path[length] = folder[length];
    path[length++] = '/';
    for (unsigned digit = 100000; digit > 0; digit /= 10)
        path[length++] = (char)('0' + (number + %du) / digit %% 10);
    path[length] = 0;
    (void)mkdir(path, 0777);
}
#line %d
"""


def probes(file, walk, first_mark):
    """The text with a mark at each statement, or None if there is no place for the helper."""
    inserts = []
    for number, (start, end, is_in_list) in enumerate(walk.statements):
        mark = f"bz_adequacy_reached({number}u);"
        if is_in_list:
            inserts.append((start, 1, mark))
        elif file.token_at(end)[2] == ";" or file.text[end - 1:end] in (b"}", b";"):
            after = file.token_at(end)[1] if file.token_at(end)[2] == ";" else end
            inserts += [(start, 1, "{" + mark), (after, 0, "}")]
    first = min((file.range(cursor)[0] for cursor in file.unit.cursor.get_children()
                 if file.is_here(cursor) and cursor.kind in walk.functions
                 and cursor.is_definition()), default=None)
    if first is None:
        return None
    first = file.text.rfind(b"\n", 0, first) + 1
    line = file.text.count(b"\n", 0, first) + 1
    inserts.append((first, -1, PROBE % (len(walk.statements) + 1, first_mark, line)))
    text = file.text
    for offset, _, insert in sorted(inserts, reverse=True):
        text = text[:offset] + insert.encode() + text[offset:]
    return text
