"""The manual tells the truth: examples, tables, commands, names and links are checked."""

from __future__ import annotations

import argparse
import importlib
import importlib.util
import itertools
import json
import pkgutil
import re
import shlex
import subprocess
import sys
from collections.abc import Callable
from dataclasses import Field, fields
from functools import cache
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
from PIL import Image

from docs import make_pictures, make_tables
from docs.make_tables import BUILDERS, MATCH, TABLE, cells, pages, up_to_date
from sleuth_env.cli.commands import parse
from sleuth_env.game import DEFAULT_GAME, load_game
from sleuth_env.policies.policy import save_policy
from sleuth_env.policies.policy_file import pretrained_names
from sleuth_env.sleuth.bots import BOTS
from sleuth_env.sleuth.cards import Options, make_rules, num_actions
from sleuth_env.sleuth.features import RECORDS, observation_layout, observation_size
from sleuth_env.sleuth.notation import parse_action
from sleuth_env.trainer import configurations
from tests.support.policies import VERSIONS, random_policy

ROOT = Path(__file__).parents[1]
PAGES = {path.relative_to(ROOT).as_posix(): path.read_text() for path in pages()}
README = PAGES["README.md"]
FENCED = re.compile(r"^```([\w{}-]*).*?\n(.*?)^```", re.M | re.S)
EXAMPLES = [
    pytest.param(found[2], id=f"{page}:{text.count(chr(10), 0, found.start()) + 2}")
    for page, text in PAGES.items()
    for found in FENCED.finditer(text)
    if found[1] == "python"
]


def table(page: str, heading: str) -> list[list[str]]:
    """Return the cells of the first table after a heading of a page, without its heading rows."""
    text = PAGES[page]
    rows = re.search(r"(?:^\|.*\n)+", text[text.index(heading) :], re.M)
    assert rows is not None
    return [cells(line) for line in rows.group().splitlines()[2:]]


# --- examples ---


@pytest.mark.parametrize("example", EXAMPLES)
def test_every_python_example_runs(example: str, tmp_path: Path) -> None:
    # Where an example speaks of a trained policy, an untrained one will do.
    (tmp_path / "runs/smoke").mkdir(parents=True)
    save_policy(random_policy(), tmp_path / "runs/smoke/best.safetensors", VERSIONS)
    run = subprocess.run([sys.executable, "-c", example], cwd=tmp_path, capture_output=True, text=True, timeout=300)
    assert run.returncode == 0, run.stderr


def test_there_are_examples() -> None:
    assert len(EXAMPLES) >= 10
    assert len(re.findall(r"^```py", README, re.M)) >= 5


def test_the_readme_is_a_page_to_begin_with() -> None:
    assert README.count("\n") <= 200
    assert len(README.split()) < 1400


# --- tables ---


@pytest.mark.parametrize("page", PAGES)
def test_the_tables_are_what_the_code_says(page: str) -> None:
    assert PAGES[page] == up_to_date(PAGES[page]), "python docs/make_tables.py writes it again"


def test_every_table_that_can_be_written_stands_in_one_page() -> None:
    named = [found[2] for text in PAGES.values() for found in TABLE.finditer(text)]
    assert sorted(named) == sorted(BUILDERS)


@pytest.mark.parametrize(
    ("page", "heading"),
    [("docs/game.md", "## Options"), ("docs/game.md", "## Actions"), ("docs/observations.md", "## Blocks")],
)
def test_every_name_in_a_table_has_a_meaning(page: str, heading: str) -> None:
    rows = table(page, heading)
    assert [row[0] for row in rows if not row[-1]] == []


def test_the_table_of_options_names_every_option_with_its_default() -> None:
    rows = {row[0].strip("`"): row[1] for row in table("docs/game.md", "## Options")}
    assert list(rows) == [field.name for field in fields(Options)]
    for field in fields(Options):
        default = f'"{field.default}"' if isinstance(field.default, str) else str(field.default)
        assert re.match(rf"{re.escape(default)}\b|{re.escape(default)}", rows[field.name]), field.name


@pytest.mark.parametrize("option", fields(Options), ids=lambda field: field.name)
def test_the_values_of_an_option_are_legal(option: Field[object]) -> None:
    values = {row[0].strip("`"): row[2] for row in table("docs/game.md", "## Options")}[option.name]
    if isinstance(option.default, (bool, str)):
        # Some values are legal only with more than one winner.
        for text in values.split(";")[0].split(", "):
            value = {"True": True, "False": False}.get(text, text)
            assert getattr(Options(**{"winners": 2, option.name: value}), option.name) == value
    else:
        assert int(re.match(r"\d+", values)[0]) <= option.default


@pytest.mark.parametrize("num_players", range(3, 8))
def test_the_table_of_observations_has_every_block_with_its_shape(num_players: int) -> None:
    rows = {row[0].strip("`"): row for row in table("docs/observations.md", "## Blocks")}
    named = set()
    for record in RECORDS:
        for block in observation_layout(Options(num_players), record):
            shape = tuple(
                {"n": num_players, "(n-1)": num_players - 1}.get(size) or int(size)
                for size in rows[block.name][1].split(" x ")
            )
            assert shape == block.shape, block.name
            assert tuple(rows[block.name][2].split(" x ")) == block.axes, block.name
            assert record in (re.findall(r"\w+", rows[block.name][3]) or RECORDS), block.name
            named.add(block.name)
    assert named == set(rows)


@pytest.mark.parametrize("record", RECORDS)
def test_the_blocks_lie_in_the_order_of_the_table(record: str) -> None:
    rows = [row[0].strip("`") for row in table("docs/observations.md", "## Blocks")]
    places = [rows.index(block.name) for block in observation_layout(Options(), record)]
    assert places == sorted(places)


def test_the_table_of_sizes_is_right() -> None:
    rows = [[int(cell) for cell in row[1:]] for row in table("docs/observations.md", "## Sizes")]
    assert rows[:3] == [[observation_size(Options(n), record) for n in range(3, 8)] for record in RECORDS]
    assert rows[3] == [num_actions(Options(n)) for n in range(3, 8)]


@pytest.mark.parametrize("num_players", range(3, 8))
def test_the_table_of_actions_adds_up(num_players: int) -> None:
    rows = table("docs/game.md", "## Actions")
    sizes = [eval(row[1].replace("(n-1)", str(num_players - 1)).replace("x", "*"), {}) for row in rows]
    rules = make_rules(Options(num_players))[0]
    assert sum(sizes) == rules["num_actions"]
    starts = [sum(sizes[:i]) for i in range(6)]
    assert starts[1:5] == [rules["final_at"], rules["exchange_at"], rules["accuse_at"], rules["pass_at"]]
    for row, start, end in zip(rows, starts, starts[1:], strict=False):
        assert start <= parse_action(row[2].strip("`"), num_players) < end


def test_the_tables_of_bots_name_all_of_them() -> None:
    assert [row[0].strip("`") for row in table("docs/bots.md", "# Bots")] == list(BOTS)
    begins = [row[0].strip("`") for row in table("README.md", "## Bots and policies")]
    assert begins[: len(BOTS)] == list(BOTS)
    assert [name for name in begins if name.startswith("pretrained:")] == pretrained_names("sleuth")


def test_the_shares_of_policies_in_the_readme_are_those_of_the_results() -> None:
    shares = next(row[1:] for row in table("docs/results.md", "## Policies that come") if row[0] == "`sheet`")
    begins = [row[2] for row in table("README.md", "## Bots and policies") if row[0].startswith("`pretrained:")]
    assert [share.split()[0] for share in shares] == [cell.split()[0] for cell in begins]


def output(command: str) -> str:
    run = subprocess.run(
        [sys.executable, "-m", "sleuth_command", *command.split()[1:]], capture_output=True, text=True, timeout=300
    )
    assert run.returncode == 0, run.stderr
    return run.stdout


def test_the_table_of_a_match_is_what_its_command_prints() -> None:
    shown = re.findall(
        r"`(sleuth match [^`]*)` shows how they compare:.*?```text\n(.*?)\n```", PAGES["docs/bots.md"], re.S
    )
    assert [(command, text) for command, text in shown] == [(MATCH, output(MATCH).strip())]


def test_the_commands_that_need_no_file_run() -> None:
    inline = {command for text in PAGES.values() for command in re.findall(r"`(sleuth match [^`]*)`", text)}
    assert inline
    for command in inline:
        assert "win share" in output(command)


def test_the_tables_of_all_bots_are_made_from_the_results_beside_their_script() -> None:
    script = script_module("tables")
    rows = json.loads(script.RESULTS.read_text())
    assert script.tables(rows) in PAGES["docs/results.md"]
    assert {script.subject_of(row) for row in rows} == set(
        itertools.product(script.BOTS, script.VARIANTS, script.DEALS)
    )
    assert all(map(script.is_current, rows))


def test_the_tables_of_the_searcher_are_made_from_the_results_beside_their_script() -> None:
    script = script_module("searcher")
    rows = json.loads(script.RESULTS.read_text())
    assert script.among_bots(rows) in PAGES["docs/results.md"]
    assert script.parts(rows) in PAGES["docs/results.md"]


@cache
def script_module(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, ROOT / f"benchmarks/{name}.py")
    assert spec is not None
    assert spec.loader is not None
    script = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(script)
    return script


# --- commands ---


def commands() -> dict[str, list[str]]:
    """Return the pages of every command line that the manual shows."""
    found: dict[str, list[str]] = {}
    for page, text in PAGES.items():
        blocks = [
            line.split("#")[0] for kind, block in FENCED.findall(text) if kind == "sh" for line in block.splitlines()
        ]
        inline = re.findall(r"`((?:sleuth|make|python) [^`\n]+)`", FENCED.sub("", text))
        for command in (part.strip() for line in blocks + inline for part in line.split("&&")):
            found.setdefault(command, []).append(page)
    return found


COMMANDS = commands()
TRAINING = {"train": "command", "imitate": "imitation", "plot": "figure", "fit_racer": "fit_racer"}
OF_A_GAME = ("train", "imitate")
# What is shown of the shell, and no command of the project.
SHELL = ("git clone", "cd ", "pip install", "source ", "pre-commit ", "docker ", "ray start ")


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_line_parses(command: str) -> None:
    words = shlex.split(command)
    if words[0] == "sleuth" and words[1] in TRAINING:
        parses(parser_of(words[1]).parse_args, words[2:], bare=len(words) == 2)
        if words[1] in OF_A_GAME and len(words) > 2 and not words[2].startswith("--"):
            assert words[2] in configurations()
    elif words[0] == "sleuth":
        parses(parse, words[1:], bare=len(words) == 2)
    elif words[:3] == ["python", "-m", "sleuth_env"]:
        parses(parse, words[3:], bare=len(words) == 3)
    elif words[:2] == ["python", "-m"]:
        package, name = words[2].split(".")
        assert package == "training"
        assert importlib.util.find_spec(words[2]) is not None
        parses(parser_of(name).parse_args, words[3:], bare=len(words) == 3)
    elif words[0] == "python":
        script = (ROOT / words[1]).read_text()
        for option in (word for word in words[2:] if word.startswith("--")):
            assert f'"{option}"' in script, option
    elif words[0] == "make":
        assert re.search(rf"^{words[1]}:", (ROOT / "Makefile").read_text(), re.M), words[1]
    else:
        assert command.startswith(SHELL)


def parser_of(name: str) -> argparse.ArgumentParser:
    """Return the parser of a script of training."""
    make_parser = importlib.import_module(f"training.{TRAINING[name]}").make_parser
    parser: argparse.ArgumentParser = make_parser(load_game(DEFAULT_GAME)) if name in OF_A_GAME else make_parser()
    return parser


def parses(parse: Callable[[list[str]], object], words: list[str], bare: bool) -> None:
    """Parse a command line; one that only names its command is asked for its help.

    Words that stand for files are files to a parser; unknown options are refused.
    """
    if not bare and "--help" not in words:
        parse(words)
        return
    with pytest.raises(SystemExit) as ended:
        parse([word for word in words if word != "--help"] + ["--help"])
    assert ended.value.code == 0


def test_files_named_in_commands_exist() -> None:
    named = {
        word
        for command in COMMANDS
        for word in command.split()
        if word.startswith(("configs/", "tests/", "benchmarks/"))
    }
    assert named
    assert [name for name in sorted(named) if not (ROOT / name).exists()] == []


# --- links and form ---


def anchors(text: str) -> set[str]:
    """Return the anchors of a page's headings, by GitHub's rule."""
    headings = re.findall(r"^#+ (.+)$", FENCED.sub("", text), re.M)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("page", PAGES)
def test_the_links_of_a_page_lead_to_files_and_headings(page: str) -> None:
    for target in re.findall(r"\]\(([^)\s]+)\)", FENCED.sub("", PAGES[page]).replace("\n", " ")):
        if target.startswith("https://"):
            continue
        name, _, anchor = target.partition("#")
        file = ((ROOT / page).parent / name).resolve() if name else ROOT / page
        assert file.exists(), target
        if anchor:
            assert anchor in anchors(file.read_text()), target


def test_every_name_of_the_reference_can_be_imported() -> None:
    named = re.findall(r"^\.\. auto(?:function|class|exception):: ([\w.]+)$", PAGES["docs/api.md"], re.M)
    assert len(named) == PAGES["docs/api.md"].count(".. auto")
    assert [name for name in named if found_by(name) is None] == []


def test_every_member_that_the_reference_picks_exists() -> None:
    picked = re.findall(r"^\.\. autoclass:: ([\w.]+)\n   :members: (.+)$", PAGES["docs/api.md"], re.M)
    assert picked
    members = [f"{name}.{member}" for name, listed in picked for member in listed.split(", ")]
    assert [name for name in members if found_by(name) is None] == []


def found_by(name: str) -> object:
    """Return what a full name stands for; None where there is nothing."""
    owner, _, last = name.rpartition(".")
    try:
        # By its owner: a module may have the name of what it holds, such as `belief`.
        return getattr(pkgutil.resolve_name(owner), last)
    except (ImportError, AttributeError):
        return None


def test_every_page_is_in_the_table_of_contents() -> None:
    listed = set(re.findall(r"^(\w+)$", PAGES["docs/index.md"], re.M))
    assert {f"docs/{name}.md" for name in listed} == {page for page in PAGES if page.startswith("docs/")} - {
        "docs/index.md"
    }


@pytest.mark.parametrize("page", PAGES)
def test_prose_is_wrapped(page: str) -> None:
    prose = FENCED.sub("", PAGES[page]).splitlines()
    assert [line for line in prose if len(line) > 100 and not line.startswith("|")] == []


def test_files_and_folders_that_the_manual_names_exist() -> None:
    named = re.findall(r"`((?:sleuth_env|training|tests|benchmarks|configs|docs)/[\w./]*)`", "".join(PAGES.values()))
    assert named
    made = ("docs/_build",)
    assert [name for name in sorted(set(named)) if not (ROOT / name).exists() and not name.startswith(made)] == []


def test_the_picture_is_what_the_game_draws() -> None:
    with Image.open(make_pictures.PICTURE) as picture:
        shown = np.asarray(picture.convert("RGB"))
    assert (shown == make_pictures.game_picture()).all(), "python docs/make_pictures.py draws it again"
    assert make_pictures.PICTURE.stat().st_size < 200_000


def test_a_page_that_is_out_of_date_is_named_and_written_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    page = tmp_path / "page.md"
    old = "<!-- table: sizes -->\n\n| players | 3 |\n|---|---|\n\n<!-- end of table -->\n"
    page.write_text(old)
    monkeypatch.setattr(make_tables, "pages", lambda: [page])
    assert make_tables.main(["--check"]) == 1
    assert page.read_text() == old
    assert make_tables.main([]) == 0
    assert capsys.readouterr().out == f"{page}\n" * 2
    assert make_tables.main(["--check"]) == 0
    assert "| actions | 448 | 653 |" in page.read_text()
