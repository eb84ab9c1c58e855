"""What pages are made of: modules put into one script, data packed as what changes."""

from __future__ import annotations

import random
from typing import Any

import pytest

from sleuth_env.web.modules import STATIC, ModuleFormError, in_one_script
from sleuth_env.web.packing import applied, as_changes, change, from_changes, packed, unpacked
from sleuth_env.web.page import make_page
from tests.support.pages import check_alone, elements

# --- modules ---


def script_of(**files: str) -> str:
    return in_one_script("main", {f"{name}.js": text for name, text in files.items()}.__getitem__)


def test_modules_are_put_before_those_that_need_them_and_once() -> None:
    script = script_of(
        main='import { b } from "./one.js";\nimport {\n  c as other,\n} from "./two.js";\nb(other);',
        one='import { c } from "./two.js";\nexport function b() {}',
        two="const hidden = 1;\nexport const c = hidden;\nexport async function d() {}\nexport class E {}",
    )
    assert script.count("const $two") == 1
    assert script.index("const $two") < script.index("const $one") < script.index("b(other)")
    assert "const { c: other } = $two;" in script
    assert "return { c, d, E };" in script
    assert "import" not in script
    assert "export" not in script


@pytest.mark.parametrize(
    "text",
    [
        "export default 1;",
        'import * as all from "./one.js";',
        'import one from "./one.js";',
        'import { b } from "https://example.org/one.js";',
        'import { b } from "../one.js";',
        "export { b };",
        "export let b = 1;",
        'const b = await import("./one.js");',
    ],
)
def test_another_form_of_an_import_or_an_export_is_refused(text: str) -> None:
    with pytest.raises(ModuleFormError, match="is not a form of an import or an export"):
        script_of(main=text, one="export function b() {}")


def test_modules_in_a_circle_are_refused() -> None:
    with pytest.raises(ModuleFormError, match="in a circle: main -> one -> main"):
        script_of(main='import { b } from "./one.js";', one='import { a } from "./main.js";')


@pytest.mark.parametrize("name", sorted(path.stem for path in STATIC.glob("*.js")))
def test_every_module_of_the_package_can_be_put_into_a_page(name: str) -> None:
    assert in_one_script(name)


# --- packed data ---


def any_value(rng: random.Random, depth: int = 3) -> Any:
    kind = rng.choice(["dict", "list", "plain"] if depth else ["plain"])
    if kind == "dict":
        return {rng.choice("abcdef"): any_value(rng, depth - 1) for _ in range(rng.randrange(5))}
    if kind == "list":
        return [any_value(rng, depth - 1) for _ in range(rng.randrange(4))]
    return rng.choice([None, True, False, 0, 1, 1.0, 0.25, "", "x", "é</script>"])


def test_changes_restore_every_value_with_the_order_of_its_keys() -> None:
    rng = random.Random(1)
    for _ in range(300):
        values = [any_value(rng) for _ in range(4)]
        values.append(values[-1])
        restored = list(from_changes(unpacked(packed(as_changes(values)))))
        assert repr(restored) == repr(values)


def test_nothing_changed_is_an_empty_change() -> None:
    value = {"a": [1, {"b": 2}], "c": "x"}
    assert change(value, value) == {}
    assert applied(value, {}) == value


# --- the frame of a page ---


def test_nothing_from_outside_is_markup() -> None:
    hostile = "</title></script></style><img src=x onerror=alert(1)>"
    page = make_page(hostile, "<main></main>", ("style.css",), "curves", {"some-data": {hostile: hostile}})
    assert [tag for tag, _ in elements(page)] == [
        *("html", "head", "meta", "meta", "meta", "title", "style", "body", "main", "script", "script"),
    ]
    check_alone(page)


def test_a_page_without_a_script_runs_none() -> None:
    page = make_page("Title", "<main></main>", ("style.css",))
    assert "<script" not in page
    assert "default-src 'none'" in page
