"""Writes corpus/{template,stop}/*: small inputs from which the fuzzer starts. The templates are those of our own test.

    python3 tests/fuzz/make_text_seeds.py
"""
import json
import pathlib
import random

HERE = pathlib.Path(__file__).resolve().parent


def write(what: str, name: str, content: bytes) -> None:
    folder = HERE / "corpus" / what
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_bytes(content)


for family in sorted((HERE.parent / "text" / "families").glob("*.jinja")):
    write("template", family.stem, family.read_bytes())
draw = random.Random(7)
for number in range(8):  # pieces of templates, in any order
    write("template", f"spelled_{number}", b"S" + bytes(draw.randrange(160) for _ in range(40)))
write("template", "bomb", b"{% set ns = namespace(x='a') %}{% for i in range(60) %}{% set ns.x = ns.x ~ ns.x %}{% endfor %}{{ ns.x }}")
write("template", "repeat", b"{{ 'a' * 1000000000 }}{{ [1] * 1000000000 }}{{ range(1000000000)|list|length }}")
write("template", "macro", b"{% macro m(x) %}{{ m(x) }}{% endmacro %}{{ m(1) }}")
write("template", "context", b"{{ a.b[0]|tojson(indent=2) }}{{ a }}\xff" + json.dumps({"a": {"b": [1e300, -0.0, "\u2028"]}}).encode())
write("stop", "two", b"\x02\x2aEND\xff\nUser:\xffso EN END and \nUser: hi")
write("stop", "bytes", b"\x81\x13\xf0\x9f\xa6\x99\xffx\xf0\x9f\xa6\x99y")
write("stop", "overlap", b"\x03\x05aab\xffab\xffb\xffaaab")
write("stop", "broken", b"\x01\x00a\xff\xf0\x9f\xffa")
