"""Lines of keys and items, against TOML written with everything the format allows."""

import tomllib

import pytest

from lawful.spec import locate

TEXT = '''\
# comment = "no key"
plain = 1
"quoted # key" = "a # b [c]" # d = 2
'literal "key"' = 'x = "]'
dotted . "in.side".deep = true
many = """
first = 1
\\"""" # still = 2
raw = \'\'\'
[no.header]\'\'\'
ends = """x"""""
list = [
  1, # one
  [2, 3],

  { a = 1, b = { c = "}" }, d.e = [
    4 ] },
  1979-05-27 07:32:00, "]",
]
empty = {}
none = []
[table]
running = ["-", "?retry"]
[ event . start ] # spaced
add = { attempts = 1 }
[event.fail]
[[item]]
x = 1
[item.sub]
y = 2
[[item]]
x = 3
[[item.deep]]
z = [[], [[5]]]
'''

EXPECTED = {
    ("plain",): 2,
    ("quoted # key",): 3,
    ('literal "key"',): 4,
    ("dotted",): 5,
    ("dotted", "in.side"): 5,
    ("dotted", "in.side", "deep"): 5,
    ("many",): 6,
    ("raw",): 9,
    ("ends",): 11,
    ("list",): 12,
    ("list", 0): 13,
    ("list", 1): 14,
    ("list", 1, 0): 14,
    ("list", 1, 1): 14,
    ("list", 2): 16,
    ("list", 2, "a"): 16,
    ("list", 2, "b"): 16,
    ("list", 2, "b", "c"): 16,
    ("list", 2, "d"): 16,
    ("list", 2, "d", "e"): 16,
    ("list", 2, "d", "e", 0): 17,
    ("list", 3): 18,
    ("list", 4): 18,
    ("empty",): 20,
    ("none",): 21,
    ("table",): 22,
    ("table", "running"): 23,
    ("table", "running", 0): 23,
    ("table", "running", 1): 23,
    ("event",): 24,
    ("event", "start"): 24,
    ("event", "start", "add"): 25,
    ("event", "start", "add", "attempts"): 25,
    ("event", "fail"): 26,
    ("item",): 27,
    ("item", 0): 27,
    ("item", 0, "x"): 28,
    ("item", 0, "sub"): 29,
    ("item", 0, "sub", "y"): 30,
    ("item", 1): 31,
    ("item", 1, "x"): 32,
    ("item", 1, "deep"): 33,
    ("item", 1, "deep", 0): 33,
    ("item", 1, "deep", 0, "z"): 34,
    ("item", 1, "deep", 0, "z", 0): 34,
    ("item", 1, "deep", 0, "z", 1): 34,
    ("item", 1, "deep", 0, "z", 1, 0): 34,
    ("item", 1, "deep", 0, "z", 1, 0, 0): 34,
}


def test_every_key_and_item_has_its_line() -> None:
    assert tomllib.loads(TEXT)["dotted"] == {"in.side": {"deep": True}}
    assert locate(TEXT) == EXPECTED


def test_windows_line_ends_count_once() -> None:
    assert locate(TEXT.replace("\n", "\r\n")) == EXPECTED


def paths(value: object, path: tuple[str | int, ...] = ()) -> set[tuple[str | int, ...]]:
    found = {path} if path else set()
    if isinstance(value, dict):
        for key, inner in value.items():
            found |= paths(inner, (*path, key))
    if isinstance(value, list):
        for index, inner in enumerate(value):
            found |= paths(inner, (*path, index))
    return found


def test_every_path_that_tomllib_reads_is_located_and_no_other() -> None:
    assert set(locate(TEXT)) == paths(tomllib.loads(TEXT))


@pytest.mark.parametrize("text", ["a =", "= 1", "[a", 'a = "', "a b", "[[a]", "a = [1"])
def test_text_that_is_not_toml_is_a_value_error(text: str) -> None:
    with pytest.raises(ValueError, match="line 1 is not TOML"):
        locate(text)
