"""Random templates over random values: what nobody thought of trying. Same seed, same templates."""
import random

NAMES = ["s", "t", "n", "f", "b", "z", "l", "d", "o", "m", "deep", "missing"]
STRINGS = ["", "a", "Hello World", "  pad \n", "x,y,,z", "é漢🦙", "it's \"q\"", "a\nb\r\nc", "ABC def-ghi", "12", "-3.5", "%s|%d",
           "</think>tail", "\u3000wide\u00a0", "ßtraße", "tab\there", "<b>&", "0x1F", "A{x}B", "ÀÉ", "one two  three"]
NUMBERS = ["0", "1", "2", "-1", "3", "7", "-8", "100", "2.5", "-0.5", "1e16", "1.0", "0.1", "1e-7", "12345678901234567890"]
FILTERS = [
    "length", "count", "upper", "lower", "title", "capitalize", "trim", "first", "last", "list", "reverse", "reverse|list", "string",
    "int", "float", "abs", "round", "round(1)", "round(1, 'floor')", "round(0, 'ceil')", "sort", "sort(reverse=true)", "unique|list",
    "join", "join(', ')", "join('-', attribute='k')", "default('D')", "default('D', true)", "d('x')", "items|list", "dictsort",
    "dictsort(by='value')", "tojson", "tojson(indent=2)", "tojson(ensure_ascii=true)", "tojson(sort_keys=true)",
    "tojson(separators=(',', ':'))", "replace('a', 'bb')", "replace('l', '', 1)", "indent", "indent(2, true)", "indent(3, blank=true)",
    "wordcount", "e", "escape", "safe", "batch(2)|list", "batch(2, 'f')|list", "slice(2)|list", "map('upper')|list",
    "map('string')|list", "map(attribute='k')|list", "map(attribute='k', default=0)|list", "map('length')|list",
    "select|list", "reject|list", "select('string')|list", "select('odd')|list", "rejectattr('k')|list", "selectattr('k')|list",
    "selectattr('k', 'equalto', 1)|list", "selectattr('k', 'defined')|list", "selectattr('r', '==', 'user')|list",
    "rejectattr('k', 'none')|list", "sum", "sum(attribute='k')", "min", "max", "truncate(5)", "truncate(5, true)", "center(9)",
    "format(1)", "format('z', 2)", "groupby('k')", "sort(attribute='k')", "attr('upper')", "trim('a ')", "int(7)", "int(0, 16)",
    "select('in', [1, 2, 'a'])|list", "map('tojson')|join(',')", "first|string",
]
TESTS = [
    "defined", "undefined", "none", "string", "mapping", "sequence", "iterable", "boolean", "true", "false", "integer", "float", "number",
    "odd", "even", "divisibleby 2", "divisibleby(3)", "equalto 1", "eq 'a'", "ne 1", "gt 1", "lessthan 2", "in [1, 'a']", "in 'abc'",
    "lower", "upper", "callable", "sameas none", "sameas true", "escaped", "ge 1", "not none", "not defined", "== 1",
]
METHODS = [
    "strip()", "lstrip()", "rstrip()", "strip('a ')", "lstrip('H')", "rstrip('\\n')", "split()", "split(',')", "split('</think>')[-1]",
    "split(',', 1)", "rsplit(',', 1)", "rsplit()", "split(None, 1)", "rsplit(None, 1)", "replace('a', 'b')", "replace('', '-')", "replace('l', 'L', 1)",
    "startswith('a')", "startswith(('a', 'H'))", "endswith('z')", "endswith(('c', 'd'))", "startswith('e', 1)", "title()", "capitalize()", "upper()", "lower()",
    "swapcase()", "find('l')", "find('zz')", "rfind('l')", "index('e')", "count('l')", "count('')", "splitlines()", "splitlines(true)",
    "join(['p', 'q'])", "join(l)", "isdigit()", "isalpha()", "isalnum()", "isspace()", "isupper()", "islower()", "istitle()", "zfill(6)",
    "center(7)", "center(8, '*')", "ljust(6, '.')", "rjust(6)", "partition(' ')", "rpartition(',')", "removeprefix('a')", "removesuffix('d')",
    "expandtabs(4)", "casefold()", "format(1, x=2)", "encode", "items()", "keys()", "values()", "get('k')", "get('q', 'dflt')", "items()|list",
    "keys()|list", "values()|list", "copy()", "append(1)", "count(1)", "index(1)", "pop('k')", "items", "is_integer()", "__class__", "k", "r", "c.d", "x",
]
SUBSCRIPTS = ["0", "1", "-1", "-9", "99", "'k'", "'q'", "::-1", "1:", ":2", "-2:", "::2", "1:3", "5:1:-1", "'items'", "true", "none", "1.0", ":-1", "-3:-1"]
BINARY = ["+", "-", "/", "//", "%", "~", "==", "!=", "<", ">", "<=", ">=", "in", "not in", "and", "or"]
FORMATS = ["%s", "%d", "%5.2f|", "%-6s|", "%06.1f", "%x", "%r", "%+d", "%e", "%g", "%5s|", "%.3s", "%i", "%%", "%c", "%o", "%#x", "% d"]
BRACES = ["{}", "{0}", "{:>6}|", "{:<6}|", "{:^7}|", "{:*^9}", "{:.2f}", "{:05d}", "{:,}", "{!r}", "{:x}", "{:+}", "{:e}", "{:%}", "{:.3}", "{:d}", "{:s}", "{0[0]}"]


def quoted(text):
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'").replace("\n", "\\n").replace("\r", "\\r").replace("\t", "\\t") + "'"


class Generator:
    def __init__(self, seed):
        self.random = random.Random(seed)

    def pick(self, options):
        return self.random.choice(options)

    def value(self, depth=0):
        kind = self.random.randrange(9 if depth < 3 else 6)
        if kind == 0:
            return None
        if kind == 1:
            return self.pick([True, False])
        if kind == 2:
            return self.pick([0, 1, 2, -1, 3, 10, 255, 2**40, -7])
        if kind == 3:
            return self.pick([0.0, 1.0, 0.5, -2.25, 1e16, 1e-5, 3.14159, 1e300, 123456.789])
        if kind <= 5:
            return self.pick(STRINGS)
        if kind == 6:
            return [self.value(depth + 1) for _ in range(self.random.randrange(4))]
        return {self.pick(["k", "r", "c", "x", "items", "a b", "é"]): self.value(depth + 1) for _ in range(self.random.randrange(4))}

    def context(self):
        uniform = self.pick([lambda: self.random.randrange(-3, 9), lambda: self.pick(STRINGS), lambda: self.value(2)])
        return {
            "s": self.pick(STRINGS), "t": self.pick(STRINGS), "n": self.pick([0, 1, 2, 5, -3, 7]), "f": self.pick([0.5, 1.0, 2.25, -1.5, 1e20]),
            "b": self.pick([True, False]), "z": None, "l": [uniform() for _ in range(self.random.randrange(5))],
            "d": {key: self.value(1) for key in self.random.sample(["k", "r", "c", "x", "items", "B"], self.random.randrange(5))},
            "o": [{"k": self.random.randrange(3), "r": self.pick(["user", "tool"]), "c": {"d": self.pick(STRINGS)}} for _ in range(self.random.randrange(4))],
            "m": [self.value(1) for _ in range(self.random.randrange(4))], "deep": self.value(),
        }

    def atom(self):
        kind = self.random.randrange(12)
        if kind < 5:
            return self.pick(NAMES)
        if kind < 7:
            return self.pick(NUMBERS)
        if kind < 9:
            return quoted(self.pick(STRINGS))
        return self.pick(["true", "false", "none", "[]", "{}", "[1, 'a', none]", "{'k': 1, 'q': [2]}", "(1, 2)", "('a',)", "range(3)", "[3, 1, 2]",
                          "['b', 'A', 'a']", "range(5, 0, -2)", "dict(a=1)", "'a' 'b'", "ns.v", "loop.index", "loop.last", "loop.previtem", "m1(s)", "m2(1, y=t)"])

    def expression(self, depth=0):
        if depth > 3 or self.random.random() < 0.15:
            return self.atom()
        deeper = lambda: self.expression(depth + 1)
        kind = self.random.randrange(16)
        if kind < 4:
            return f"{self.operand(depth)}|{self.pick(FILTERS)}"
        if kind < 6:
            return f"{self.operand(depth)}.{self.pick(METHODS)}"
        if kind < 8:
            # Not of literals: jinja2 folds those by another rule than that of its run time.
            return f"{self.pick(NAMES + ['m1(s)', '(s ~ t)', '(l + l)'])}[{self.pick(SUBSCRIPTS)}]"
        if kind == 8:
            # Small factors: Python would take the machine's memory and time. No negative literal before "**", which
            # jinja2 writes into its program without brackets.
            power = f"{self.pick(NAMES)} **" if self.random.random() < 0.5 else f"{deeper()} *"
            return f"({power} {self.pick(['0', '1', '2', '3', '-1', '0.5', 'b'])})"
        if kind < 11:
            return f"({deeper()} {self.pick(BINARY)} {deeper()})"
        if kind == 11:
            return f"({deeper()} is {self.pick(TESTS)})"
        if kind == 12:
            return f"({deeper()} if {deeper()}" + (f" else {deeper()})" if self.random.random() < 0.8 else ")")
        if kind == 13:
            return self.pick([f"not {deeper()}", f"-{self.operand(depth)}", f"[{deeper()}, {deeper()}]", f"{{'k': {deeper()}, 'j': {deeper()}}}", f"({deeper()},)"])
        if kind == 14:
            return f"({quoted(self.pick(FORMATS) + self.pick(FORMATS + ['']))} % {self.pick(['(' + deeper() + ',)', '(' + deeper() + ', ' + deeper() + ')', deeper()])})"
        return f"{quoted(self.pick(BRACES) + self.pick(['', self.pick(BRACES)]))}.format({deeper()}, {deeper()})"

    def operand(self, depth):
        return self.pick([self.atom(), f"({self.expression(depth + 1)})"])

    def spaces(self):
        return self.pick(["", "", " ", "\n", "  \n", "\n  ", "x", " y ", "\t", "\n\n", "z\n", "\r\n", "\u00a0\n"])

    def tag(self, inner):
        return "{%" + self.pick(["", "", "-", "+"]) + " " + inner + " " + self.pick(["", "", "-", "+"]) + "%}"

    def output(self):
        return "{{" + self.pick(["", "", "-", "+"]) + " " + self.expression(1) + " " + self.pick(["", "", "-"]) + "}}"

    def statement(self, depth=0):
        if depth > 2:
            return self.output()
        body = lambda: self.spaces() + "".join(self.statement(depth + 1) + self.spaces() for _ in range(self.random.randrange(1, 3)))
        kind = self.random.randrange(13)
        tag, short = self.tag, lambda: self.expression(2)
        if kind < 3:
            return self.output()
        if kind == 3:
            return tag(f"if {short()}") + body() + self.pick(["", tag(f"elif {short()}") + body()]) + self.pick(["", tag("else") + body()]) + tag("endif")
        if kind == 4:
            target = self.pick(["x", "x", "k, v", "s"])
            over = self.pick([self.operand(2), "l", "o", "d.items()", "d|dictsort", "range(3)", "m", "s", "[[1, 2], [3, 4]]"])
            more = self.pick(["", "", f" if {short()}"])
            escape = self.pick(["", "", tag("if loop.index > 1") + tag(self.pick(["break", "continue"])) + tag("endif")])
            return tag(f"for {target} in {over}{more}") + escape + "{{ loop.index0 }}{{ loop.cycle('a', 'b') }}" + body() + self.pick(["", tag("else") + body()]) + tag("endfor")
        if kind == 5:
            return tag(f"set {self.pick(['s', 'q', 'n', 'ns.v', 'q, r'])} = {short()}")
        if kind == 6:
            return tag(f"set q{self.pick(['', ' | upper', ' | trim | title'])}") + body() + tag("endset") + "{{ q }}"
        if kind == 7:
            return tag(f"with x = {short()}, s = {short()}") + "{{ x }}" + body() + tag("endwith")
        if kind == 8:
            return tag("generation") + body() + tag("endgeneration")
        if kind == 9:
            return tag(f"filter {self.pick(['upper', 'trim', 'indent(2)', 'lower|trim'])}") + body() + tag("endfilter")
        if kind == 10:
            return tag("call m3(t)") + body() + tag("endcall")
        if kind == 11:
            return self.pick(["{# note #}", "{#- note -#}", "{# note -#}", "{%raw%}{{ no }}{%endraw%}", "{% raw -%}\n {% x %} {%- endraw %}\n", "{%- raw %}{# {% endraw -%}  "])
        return self.pick([tag("macro m1(x, y=2)") + body() + tag("endmacro"), "{{ x }}", "{{ ns.v }}{{ q }}", tag("set ns.v = ns.v|string ~ 'x'")])

    def template(self):
        head = ("{% set ns = namespace(v=0) %}{% macro m1(x, y='d') %}<{{ x }}:{{ y }}>{% endmacro %}{% macro m2(x, y=x) %}{{ caller is defined }}"
                "({{ x }}{{ y }}){{ varargs }}{% endmacro %}{% macro m3(a) %}[{{ a }}{{ caller() }}]{% endmacro %}")
        return head + self.spaces() + "".join(self.statement() + self.spaces() for _ in range(self.random.randrange(1, 5)))
