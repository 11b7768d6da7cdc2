"""`sublane template` beside jinja2 with the reference's settings: the families' templates over many conversations, and
random templates. Same bytes, or an error in both."""
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest
import warnings

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import reference_jinja  # noqa: E402
from template_fragments import Generator  # noqa: E402

# Small templates of our own, each in the manner of a public family, with the features that it uses.
FAMILIES = sorted(pathlib.Path(__file__).with_name("families").glob("*.jinja"))
NOW = "2025-01-31T23:59:58"
TOKENS = {"bos_token": "<s>", "eos_token": "</s>"}
WEATHER = {"type": "function", "function": {
    "name": "get_weather", "description": "Weather <now> & \"later\" in a città.\nSecond line.",
    "parameters": {"type": "object", "properties": {
        "city": {"type": "string", "description": " the city ", "enum": ["Köln", "東京"], "default": "Köln"},
        "days": {"type": "integer", "description": "how many", "default": 3},
        "tags": {"type": "array", "items": {"type": "string", "nullable": True}},
        "where": {"type": "object", "properties": {"lat": {"type": "number"}, "lon": {"type": "number"}}, "required": ["lat"]},
        "either": {"oneOf": [{"type": "string"}, {"type": "boolean", "description": "flag"}]}}, "required": ["city"]}}}
EMPTY_TOOL = {"type": "function", "function": {"name": "now", "description": "The time.", "parameters": {"type": "object", "properties": {}}}}


def call(arguments, name="get_weather", number="call00001"):
    return {"id": number, "type": "function", "function": {"name": name, "arguments": arguments}}


def said(role, content, **more):
    return {"role": role, "content": content, **more}


TOOL_TURNS = [said("user", "Wie ist das Wetter?"), said("assistant", None, tool_calls=[call({"city": "Köln", "days": 2.0, "tags": [None, True]})]),
              said("tool", "{\"t\": 21.5}", tool_call_id="call00001", name="get_weather"), said("assistant", "Es sind <21,5> °C & sonnig.")]
CONVERSATIONS = [
    dict(messages=[said("user", "Hello!")]),
    dict(messages=[said("system", "Be  brief.\n"), said("user", "  Hi there \n")]),
    dict(messages=[said("system", "S /no_think"), said("user", "one"), said("assistant", "two"), said("user", "three\nlines\nhere")]),
    dict(messages=[said("user", "q"), said("assistant", "<think>\nhm, ok\n</think>\n\nAnswer."), said("user", "and?"), said("assistant", "x", reasoning_content="because\n")]),
    dict(messages=[said("user", "naïve 日本語 🦙 \u0000\u2028 'q' \"d\" \\ </s>")], enable_thinking=False, thinking=False),
    dict(messages=[said("user", "why?")], enable_thinking=True, thinking=True, reasoning_effort="high", thinking_budget=600, controls={"length": "short"}),
    dict(messages=[said("user", [{"type": "text", "text": "look: "}, {"type": "image", "image": "a.png"}, {"type": "text", "text": " é"}])]),
    dict(messages=[said("user", "Weather?")], tools=[WEATHER, EMPTY_TOOL]),
    dict(messages=[said("system", "With tools.")] + TOOL_TURNS, tools=[WEATHER]),
    dict(messages=TOOL_TURNS + [said("user", "Danke", name="Ann")], tools=[WEATHER], tools_with_user=False),
    dict(messages=[said("user", "two"), said("assistant", "", tool_calls=[call({"city": "東京"}), call({}, "now", "call00002")]),
                   said("tool", "r1", tool_call_id="call00001"), said("tool", {"content": {"deep": [1, {"a": None}]}}, tool_call_id="call00002")], tools=[WEATHER, EMPTY_TOOL]),
    dict(messages=[said("user", "args as text"), said("assistant", None, tool_calls=[call("{\"city\": \"Rom\"}")])], tools=[EMPTY_TOOL]),
    dict(messages=[]),
    dict(messages=[said("assistant", "I begin."), said("user", "You do.")]),
    dict(messages=[said("user", "a"), said("user", "b")], documents=[{"title": "T", "text": "one\ntwo"}, {"n": 1.5, "b": False}]),
    dict(messages=[said("user" if i % 2 == 0 else "assistant", f"turn {i} " + "long " * (i * 7)) for i in range(41)], documents=[]),
    dict(messages=[said("developer", "odd role", children=[said("user", "child"), said("x", None)]), said("user", "?")], model_identity="Me."),
]


def program(rows):
    """What `sublane template` makes of requests that carry their templates: (text or None, error or None) each."""
    with tempfile.TemporaryDirectory() as folder:
        bare = pathlib.Path(folder, "empty.jinja")
        bare.write_text("")
        run = subprocess.run([os.environ["SUBLANE_BINARY"], "template", bare, "--now", NOW, "--jsonl", "-"],
                             input="".join(json.dumps(row) + "\n" for row in rows), capture_output=True, text=True, encoding="utf-8")
    if run.returncode not in (0, 2):
        raise AssertionError(f"exit code {run.returncode}: {run.stderr[-2000:]}")
    answers = [json.loads(line) for line in run.stdout.split("\n")[:-1]]
    if len(answers) != len(rows):
        raise AssertionError(f"{len(rows)} requests, {len(answers)} answers: {run.stderr[-2000:]}")
    return [(None, answer["error"]) if isinstance(answer, dict) else (answer, None) for answer in answers]


def names_an_address(text):
    """Python prints an address or a function, which no template can mean; there the program has an error."""
    return any(mark in text for mark in ["object at 0x", "<function", "<built-in", "<bound method", "<class", "<Undefined"])


class Templates(unittest.TestCase):
    def setUp(self):
        warnings.simplefilter("ignore")  # Python's, of what templates make of its syntax
        self.environment = reference_jinja.environment(NOW)

    def compare(self, rows, at_least):
        rendered, wrong = 0, []
        for (template, context), (text, error) in zip(rows, program([{**context, "chat_template": template} for template, context in rows])):
            expected, fault = reference_jinja.render(self.environment, template, context)
            if expected is not None and names_an_address(expected):
                continue
            rendered += expected is not None
            if text != expected:
                wrong.append(f"template {template!r}\ncontext {context}\njinja2  {expected!r} {fault}\nsublane {text!r} {error}")
        self.assertFalse(wrong, f"{len(wrong)} of {len(rows)} differ; the first:\n" + "\n\n".join(wrong[:3]))
        self.assertGreaterEqual(rendered, at_least)
        return rendered

    def test_families(self):
        self.assertGreaterEqual(len(FAMILIES), 30)
        for family in FAMILIES:
            template = family.read_text(encoding="utf-8")
            rows = [(template, {**TOKENS, "tools": None, "documents": None, "add_generation_prompt": prompt, **conversation})
                    for conversation in CONVERSATIONS for prompt in (True, False)]
            with self.subTest(family.stem):
                self.compare(rows, at_least=10)

    def test_random_expressions(self):
        generator = Generator(2026)
        rows = [("{{ " + generator.expression() + " }}", generator.context()) for _ in range(4000)]
        self.compare(rows, at_least=1200)

    def test_random_templates(self):
        generator = Generator(2027)
        rows = [(generator.template(), generator.context()) for _ in range(2000)]
        self.compare(rows, at_least=250)

    def test_case_10(self):
        value = {"b": "<é> & 'q'", "a": [1, 2.0, None, True], "e": []}
        tests = ["{{ v|tojson }}", "{{ v|tojson(indent=4) }}", "{{ v|tojson(ensure_ascii=False) }}", "{{ v|tojson(ensure_ascii=True) }}",
                 "{{ v|tojson(sort_keys=true, separators=(',', ':')) }}", "{{ v }}", "{{ none }}{{ v.none }}{{ true }}"]
        self.assertEqual(self.compare([(test, {"v": value}) for test in tests], at_least=7), 7)


if __name__ == "__main__":
    unittest.main()
