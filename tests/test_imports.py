"""Who may import what: the table that keeps the parts apart, and what `import sleuth_env` costs."""

from __future__ import annotations

import ast
import graphlib
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
MODULES = sorted((ROOT / "sleuth_env").rglob("*.py"))

# What the rules of the second game are made of.
HOLMES_RULES = (
    *("bits", "kernels"),
    *("holmes.bounds", "holmes.changes", "holmes.notes", "holmes.sheet"),
    *(f"holmes.{name}" for name in ("cards", "cases", "choices", "moves", "results", "rules", "state", "turns")),
)
# Modules of this package that a module may import, by the beginning of its path; the longest
# beginning that fits holds. A name stands for everything below it.
FIRST_PARTY = {
    "__init__": ("version",),
    "__main__": (),
    # The ground floor.
    "checks": (),
    "files": (),
    "locks": (),
    "options": ("checks",),
    "threads": (),
    "kernel_cache": ("files",),
    "kernels": ("kernel_cache",),
    "bits": ("kernels",),
    "rows": (),
    "layout": ("bits", "checks", "doors", "kernels"),
    "playing": ("bits", "game", "kernels"),
    "memory": (),
    "version": (),
    "game": ("checks", "options"),
    "actions": ("checks", "game"),
    "drawing/": ("checks",),
    "naming": ("checks",),
    "statements": (),
    "words": ("checks", "doors", "game", "statements"),
    "transcripts": ("checks", "doors", "game", "naming", "options"),
    "doors": ("game", "kernels"),
    "game_doors": ("checks", "doors", "game"),
    # Cards, holders and counts; it has never heard of a game.
    "deduction/": ("bits", "doors", "kernels", "checks", "deduction"),
    "deduction/evidence": ("checks", "doors", "kernels"),
    "deduction/sheet": ("bits", "kernels", "checks", "rows", "deduction.evidence"),
    # The game.
    "sleuth/cards": ("checks", "options"),
    "sleuth/state": ("bits", "checks", "kernels", "memory", "sleuth.cards"),
    "sleuth/results": ("kernels", "game", "sleuth.state"),
    "sleuth/rules": ("bits", "kernels", "sleuth.cards", "sleuth.results", "sleuth.state"),
    "sleuth/invariants": ("bits", "game_doors", "kernels", "sleuth.cards", "sleuth.state"),
    "sleuth/view": ("bits", "kernels", "sleuth.cards", "sleuth.state"),
    "sleuth/rebuild": (
        *("bits", "doors", "kernels"),
        *("sleuth.cards", "sleuth.checked", "sleuth.invariants", "sleuth.rules", "sleuth.state", "sleuth.view"),
    ),
    "sleuth/clues": ("bits", "kernels", "sleuth.cards", "sleuth.checked", "sleuth.view", "deduction"),
    "sleuth/notation": ("game", "naming", "sleuth.cards", "sleuth.state"),
    # Texts of whole games and what tells them are the only other places that see states.
    "sleuth/transcript": (
        *("naming", "transcripts"),
        *("sleuth.cards", "sleuth.checked", "sleuth.notation", "sleuth.state", "sleuth.rules"),
    ),
    "sleuth/telling": ("game", "game_doors", "sleuth"),
    "sleuth/__init__": ("options", "sleuth"),
    # Chance as a player: it sees states, too.
    "sleuth/extensive": ("game", "sleuth"),
    # Features, bots, drawings: the numbers that `state` gives names to, never its functions (see
    # the test below).
    "sleuth/checked": (
        *("doors", "game_doors", "options"),
        *("sleuth.cards", "sleuth.invariants", "sleuth.state", "sleuth.view"),
    ),
    "sleuth/doors": (
        *("game", "game_doors"),
        *("sleuth.checked", "sleuth.invariants", "sleuth.results", "sleuth.rules", "sleuth.state", "sleuth.view"),
    ),
    "sleuth/bots/playing": ("bits", "deduction", "kernels", "playing", "sleuth"),
    "sleuth/": (
        "bits",
        "checks",
        "doors",
        "drawing",
        "game",
        "game_doors",
        "kernels",
        "layout",
        "naming",
        "deduction",
        "sleuth",
    ),
    "sleuth/relational": ("kernels", "game", "policies.mlp", "policies.operations", "policies.policy_file", "sleuth"),
    # The second game.
    "holmes/__init__": ("options", "holmes"),
    "holmes/cards": ("checks", "options"),
    "holmes/state": ("checks", "memory", "holmes.cards"),
    "holmes/results": ("game", "kernels", "holmes.cards", "holmes.state"),
    "holmes/bounds": ("bits", "kernels", "holmes.cards", "holmes.state"),
    "holmes/changes": HOLMES_RULES,
    "holmes/notes": ("bits", "kernels", "holmes.cards", "holmes.state"),
    "holmes/sheet": HOLMES_RULES,
    "holmes/moves": HOLMES_RULES,
    "holmes/cases": HOLMES_RULES,
    "holmes/choices": HOLMES_RULES,
    "holmes/turns": HOLMES_RULES,
    "holmes/rules": HOLMES_RULES,
    "holmes/invariants": ("game_doors", *HOLMES_RULES),
    "holmes/redeal": HOLMES_RULES,
    "holmes/extensive": ("bits", "game", "holmes"),
    "holmes/view": ("kernels", "rows", "holmes.cards", "holmes.state"),
    "holmes/checked": ("doors", "options", "holmes.cards", "holmes.state", "holmes.view"),
    "holmes/records": (
        *("doors", "game_doors"),
        *("holmes.cards", "holmes.checked", "holmes.invariants", "holmes.state", "holmes.view"),
    ),
    "holmes/doors": ("doors", "game", "game_doors", "holmes"),
    "holmes/notation": ("checks", "doors", "game", "naming", "holmes.cards", "holmes.state"),
    "holmes/board": ("game", "holmes"),
    "holmes/wording": ("game", "holmes"),
    "holmes/review": ("game", "game_doors", "holmes"),
    "holmes/telling": ("game", "game_doors", "holmes"),
    "holmes/reveal": ("game", "holmes.cards", "holmes.records", "holmes.results", "holmes.state"),
    "holmes/set_up": ("checks", "game", "kernels", "holmes"),
    "holmes/transcript": ("naming", "transcripts", "holmes"),
    # It plays games of its own, dealt as its view allows.
    "holmes/bots/planner": ("bits", "checks", "doors", "game", "kernels", "holmes"),
    "holmes/bots/playing": ("bits", "kernels", "playing", "holmes"),
    "holmes/": ("bits", "checks", "doors", "drawing", "game_doors", "kernels", "layout", "holmes"),
    # What knows no game.
    "policies/": ("bits", "doors", "kernels", "layout", "checks", "files", "game", "options", "policies"),
    "policies/card": ("files", "game", "policies.policy_file"),
    "policies/wrapped": ("checks", "doors", "game", "policies.policy_file"),
    "matches/seating": ("checks", "doors", "game"),
    "matches/table": ("actions", "bits", "checks", "doors", "game", "memory", "matches.seating"),
    "matches/sitting": ("game", "matches.table"),
    "matches/rating": (),
    # What travels to other processes, and knows no games.
    "matches/tasks": ("checks", "matches.seating"),
    "matches/processes": ("matches.process", "matches.tasks"),
    "matches/cluster": ("checks", "matches.seating", "matches.tasks"),
    "matches/shards": (*("checks", "matches.cluster", "matches.processes", "matches.seating", "matches.tasks"),),
    "matches/schedule": ("bits", "matches.match"),
    "matches/strengths": ("matches.rating",),
    "matches/tournament_file": ("checks", "files", "version", "matches.rating", "matches.schedule", "matches.seating"),
    "matches/crosstable": (
        *("checks", "matches.match", "matches.rating", "matches.schedule", "matches.seating", "matches.strengths"),
        *("matches.tournament_file",),
    ),
    "matches/picture": ("checks", "matches.crosstable", "matches.seating"),
    "matches/tournament": ("checks", "files", "game", "matches", "memory"),
    "matches/process": (),
    "matches/program": (
        *("checks", "game", "words"),
        *("matches.process", "matches.rating", "matches.seating"),
    ),
    "matches/neighbours": ("files", "policies"),
    "matches/imported": ("checks", "files", "game", "matches.neighbours", "matches.seating", "policies"),
    "matches/": ("bits", "checks", "game", "memory", "matches", "policies"),
    "envs/snapshot": ("checks", "doors", "game"),
    "envs/binding": ("checks", "game"),
    "envs/resetting": ("checks", "doors"),
    "envs/observing": (),
    "envs/rendering": ("checks", "game"),
    "envs/aec": ("actions", "checks", "game", "envs.binding", "envs.rendering", "envs.snapshot"),
    "envs/wrappers": ("actions", "checks", "envs.aec", "envs.snapshot"),
    # Faces of other libraries.
    "envs/openspiel": ("actions", "checks", "game", "options"),
    "envs/supersuit": ("checks",),
    "envs/tianshou": ("envs.solo",),
    "envs/openenv": ("game", "matches", "envs.text"),
    "envs/text": ("actions", "checks", "game", "matches", "words"),
    "envs/": ("actions", "checks", "game", "memory", "threads", "matches", "envs"),
    # It uses all that a user may use.
    "compilation": ("game", "kernels", "matches", "policies", "envs", "trainer"),
    "trainer": ("checks",),
    "holmes_v0": ("game", "envs", "holmes"),
    "sleuth_v0": ("game", "envs", "sleuth"),
    # Pages for browsers. What is sent and shown of a game is made of views; games are known by their parts only;
    # only the lobby knows files and players, and nothing but the server a framework of the web.
    "web/": ("game", "policies.policy", "web"),
    "web/modules": (),
    "web/packing": (),
    "web/page": ("web.modules", "web.packing"),
    "web/messages": ("deduction.worlds", "game"),
    "web/frames": ("checks", "game", "policies.policy", "policies.policy_file", "web.messages"),
    "web/tournament_page": ("checks", "matches.crosstable", "matches.program", "web"),
    "web/room": (
        *("checks", "game", "matches.program", "matches.rating", "matches.sitting", "transcripts"),
        "web.messages",
    ),
    "web/kept": ("files", "locks", "transcripts"),
    "web/offers": ("game", "options", "policies.policy_file"),
    "web/lobby": (
        *("checks", "game", "matches.players", "matches.program", "policies.policy_file"),
        *("web.kept", "web.messages", "web.offers", "web.room"),
    ),
    "web/server": ("matches.processes", "web"),
    # The command line stands above everything but the games; nothing else may use it.
    "cli/": (
        *("actions", "checks", "compilation", "files", "game", "kernel_cache", "options"),
        *("matches", "policies", "trainer", "version", "web", "words", "cli"),
    ),
}
# Frameworks, and the modules that alone may import them.
FRAMEWORKS = {
    "pettingzoo": {"envs/aec", "envs/supersuit", "envs/wrappers", "holmes_v0", "sleuth_v0"},
    "gymnasium": {
        "__init__",
        "envs/aec",
        "envs/learner_table",
        "envs/observing",
        "envs/resetting",
        "envs/rllib",
        "envs/sb3",
        "envs/solo",
        "envs/tianshou",
        "envs/vector",
    },
    "stable_baselines3": {"envs/sb3", "envs/supersuit", "policies/trained"},
    "supersuit": {"envs/supersuit"},
    "tianshou": {"envs/tianshou"},
    "pyspiel": {"envs/openspiel"},
    "sb3_contrib": set(),
    # Two of these are imported late, by `policies/export`; the others are for those who have torch anyway.
    "torch": {"envs/rllib", "envs/tianshou", "policies/export", "policies/torch_module", "policies/trained"},
    "onnx": {"policies/onnx_graph"},
    "openenv": {"envs/openenv"},
    "PIL": {"drawing/canvas"},
    "choix": {"matches/strengths"},
    "matplotlib": {"matches/picture"},
    "ray": {"envs/rllib", "matches/cluster"},
    "rich": {"cli/report", "cli/screen"},
    "starlette": {"web/server"},
    "uvicorn": {"cli/serve"},
    "prompt_toolkit": {"cli/session", "cli/streams"},
}
# Those that may be imported inside functions only, so that the package does without them until they
# are needed.
LATE = ("stable_baselines3", "openenv", "PIL", "choix", "matplotlib", "ray", "rich", "prompt_toolkit", "uvicorn")
# Of the state's module, what a module that is given views may name: its constants.
STATE_FUNCTIONS = {"STATE", "BLANK", "deal", "new_states", "legal", "step", "ends", "settled", "standings", "counts"}
VIEWERS = sorted(
    path
    for game in ("holmes", "sleuth")
    for pattern in (
        "clues.py",
        "belief.py",
        "features.py",
        "relations.py",
        "relational.py",
        "bots/*.py",
        "drawing/*.py",
    )
    for path in (ROOT / "sleuth_env" / game).glob(pattern)
    # It plays on from games that it deals itself.
    if path.stem != "planner"
)


def imports(path: Path) -> Iterator[tuple[str, set[str], bool]]:
    """Iterate over the imports of a file.

    Each is the full name of the module, the names taken from it, and whether it is at the top.
    """
    package = list(path.relative_to(ROOT).parts[:-1])
    tree = ast.parse(path.read_text())
    # What only type checkers read is not imported.
    unread = {
        node
        for block in ast.walk(tree)
        if isinstance(block, ast.If) and ast.unparse(block.test) == "TYPE_CHECKING"
        for statement in block.body
        for node in ast.walk(statement)
    }
    for node in ast.walk(tree):
        if node in unread:
            continue
        top = node in tree.body
        if isinstance(node, ast.Import):
            yield from ((alias.name, set(), top) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else []
            module = ".".join([*base, *([node.module] if node.module else [])])
            names = {alias.name for alias in node.names}
            if node.module is None:
                yield from ((f"{module}.{name}", set(), top) for name in names)
            else:
                yield module, names, top


def place(path: Path) -> str:
    return path.relative_to(ROOT / "sleuth_env").with_suffix("").as_posix()


@pytest.mark.parametrize("path", MODULES, ids=place)
def test_a_module_imports_only_what_the_table_allows(path: Path) -> None:
    fitting = [beginning for beginning in FIRST_PARTY if place(path).startswith(beginning)]
    allowed = FIRST_PARTY[max(fitting, key=len)]
    for module, _, _ in imports(path):
        if module.startswith("sleuth_env"):
            name = module.removeprefix("sleuth_env").strip(".")
            assert any(other in ("", name) or name.startswith(other + ".") for other in allowed), (
                f"{place(path)} imports {module}"
            )


def module_name(path: Path) -> str:
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def test_no_modules_import_one_another_in_a_circle() -> None:
    files = [*MODULES, *(ROOT / "training").glob("*.py"), ROOT / "sleuth_command.py"]
    names = {module_name(path) for path in files}
    graph = {
        module_name(path): {
            # What is imported from a package may be a module of its.
            other
            for module, taken, _ in imports(path)
            for other in ({f"{module}.{name}" for name in taken} & names or {module} & names)
        }
        for path in files
    }
    graphlib.TopologicalSorter(graph).prepare()


@pytest.mark.parametrize("path", MODULES, ids=place)
def test_frameworks_are_imported_in_their_own_files_only(path: Path) -> None:
    for module, _, top in imports(path):
        framework = module.split(".")[0]
        if framework in FRAMEWORKS:
            assert place(path) in FRAMEWORKS[framework], f"{place(path)} imports {module}"
            assert not (top and framework in LATE), f"{place(path)} imports {module} at its top"


@pytest.mark.parametrize("path", VIEWERS, ids=place)
def test_what_is_given_views_names_no_function_of_the_state(path: Path) -> None:
    game = place(path).partition("/")[0]
    for module, names, _ in imports(path):
        if module in (f"sleuth_env.{game}.{name}" for name in ("state", "rules", "cases")):
            assert not names & STATE_FUNCTIONS, f"{place(path)} imports {names & STATE_FUNCTIONS}"


def test_nothing_in_the_package_imports_the_training() -> None:
    assert not [
        place(module) for module in MODULES if any(name.split(".")[0] == "training" for name, _, _ in imports(module))
    ]


def loaded_after(code: str) -> set[str]:
    """Run code in a process of its own and tell which modules it has loaded."""
    done = subprocess.run(
        [sys.executable, "-c", f"{code}\nimport sys\nprint(*sys.modules)"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return set(done.stdout.split())


def test_importing_the_package_loads_no_framework_but_gymnasium_and_compiles_nothing() -> None:
    loaded = loaded_after("import sleuth_env")
    assert not loaded & {
        "torch",
        "pettingzoo",
        "stable_baselines3",
        "sb3_contrib",
        "numba",
        "llvmlite",
        "PIL",
        "rich",
        "prompt_toolkit",
        "pygame",
    }
    assert {name for name in loaded if name.startswith("sleuth_env")} == {"sleuth_env", "sleuth_env.version"}


def test_playing_without_drawing_loads_nothing_to_draw_with() -> None:
    loaded = loaded_after(
        "from sleuth_env import sleuth_v0\nenv = sleuth_v0.env()\nenv.reset(seed=1)\nenv.last()\nenv.close()"
    )
    assert not loaded & {"PIL", "rich", "prompt_toolkit", "pygame", "matplotlib", "torch", "stable_baselines3"}


WITHOUT_TORCH = """
import sys

class Missing:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in ("torch", "stable_baselines3", "sb3_contrib", "tensorboard"):
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

sys.meta_path.insert(0, Missing())
import numpy as np
import sleuth_env
from sleuth_env import sleuth_v0
from sleuth_env.envs import sb3, vector
from sleuth_env.policies import policy

env = sleuth_v0.env(num_players=3, render_mode="rgb_array")
env.reset(seed=1)
env.render()
for agent in env.agent_iter(30):
    observation, _, terminated, truncated, _ = env.last()
    env.step(None if terminated or truncated else env.action_space(agent).sample(observation["action_mask"]))
solo = sleuth_env.SoloEnv(num_players=3, opponents="sheet")
solo.reset(seed=1)
solo.step(int(np.flatnonzero(solo.action_masks())[0]))
sleuth_env.play_match(sleuth_env.sleuth, sleuth_env.Options(num_players=3), ["random"] * 3, 2)
"""


def test_the_package_plays_where_there_is_no_torch() -> None:
    assert "torch" not in loaded_after(WITHOUT_TORCH)
