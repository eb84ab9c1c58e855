"""Print how many tokens observations in words take at most: by the bound, and by tokenizers where these are installed.

Games of Holmes are played by random choice, and games of Sleuth to the turn limit by players who ask
everybody everything. The tokenizers are those that come with mistral-common, which the package does not need:
pip install mistral-common.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from functools import partial
from importlib import import_module
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sleuth_env import holmes, rules_text, sleuth, text_observation
from sleuth_env.cli.arguments import whole
from sleuth_env.game import Game
from sleuth_env.words import most_tokens

Choose = Callable[[int, NDArray[np.int64]], int]
# Files of mistral-common by what their tokenizers are called.
TOKENIZERS = {"tekken": "tekken_240911.json", "v3": "mistral_instruct_tokenizer_240323.model.v3"}
# Of long games only some decisions are looked at, one in this many.
FROM = 1000
ONE_IN = 7


def tokenizers() -> dict[str, Callable[[str], int]]:
    """Return what counts the tokens of a text, by the names of tokenizers; {} where they are not installed."""
    try:
        package = import_module("mistral_common")
        tekken = import_module("mistral_common.tokens.tokenizers.tekken").Tekkenizer
        pieces = import_module("mistral_common.tokens.tokenizers.sentencepiece").SentencePieceTokenizer
    except ImportError:
        return {}
    folder = Path(str(package.__file__)).parent / "data"
    made = {"tekken": tekken.from_file(folder / TOKENIZERS["tekken"]), "v3": pieces(folder / TOKENIZERS["v3"])}
    return {name: partial(_count, tokenizer) for name, tokenizer in made.items()}


def _count(tokenizer: Any, text: str) -> int:
    return len(tokenizer.encode(text, bos=False, eos=False))


def texts(game: Game, options: Any, seed: int, choose: Choose) -> Iterator[str]:
    """Iterate over what whoever decides in a game is told."""
    rules = game.make_rules(options)
    states = game.new_states(1)
    game.deal(rules, states, np.array([seed], np.uint64))
    legal = np.zeros((1, game.num_actions(options)), np.uint8)
    views = np.zeros(1, game.VIEW)
    taken = np.zeros(1, np.uint8)
    rewards = np.zeros((1, options.num_players))
    while (seat := int(states["actor"][0])) >= 0:
        game.legal(rules, states, legal)
        game.view(rules, states, np.array([seat]), views)
        yield text_observation(views[0], options, legal[0])
        action = choose(seat, np.flatnonzero(legal[0]))
        game.step(rules, states, np.array([action]), taken, rewards)


def at_random(seed: int) -> Choose:
    """Return a player of any legal actions."""
    rng = np.random.default_rng(seed)
    return lambda seat, legal: int(rng.choice(legal))


def everything(options: sleuth.Options, seed: int) -> Choose:
    """Return players of Sleuth who ask everybody what they have asked least, and accuse only if they must."""
    rng = np.random.default_rng(seed)
    names = [sleuth.action_name(action, options) for action in range(sleuth.num_actions(options))]
    asked: Counter[tuple[int, str]] = Counter()

    def choose(seat: int, legal: NDArray[np.int64]) -> int:
        actions = rng.permutation(legal).tolist()
        # The card that pays for it does not matter.
        questions = {action: names[action].partition(" with ")[0] for action in actions if names[action][:3] == "ask"}
        if not questions:
            return next((action for action in actions if names[action] in ("pass", "exchange")), actions[0])
        action = min(questions, key=lambda ask: asked[seat, questions[ask]])
        asked[seat, questions[action]] += 1
        return action

    return choose


def observed(games: int) -> Iterator[tuple[str, Iterator[str]]]:
    """Iterate over kinds of texts: what they are, and texts."""
    for module, players in ((holmes, 4), (holmes, 8)):
        options = module.Options(num_players=players)
        played = (texts(module, options, seed, at_random(seed)) for seed in range(games))
        yield f"{module.NAME}, {players} players", (text for game in played for text in game)
    for options in (sleuth.Options(4), sleuth.Options(4, double_interrogation=True), sleuth.Options(7)):
        long_games = (texts(sleuth, options, seed, everything(options, seed)) for seed in range(games))
        double = ", two questions a turn" if options.double_interrogation else ""
        late = (text for game in long_games for text in islice(game, FROM, None, ONE_IN))
        yield f"sleuth, {options.num_players} players{double}", late
    for module in (sleuth, holmes):
        yield f"{module.NAME}, the rules, told once", iter([rules_text(module.Options(num_players=4))])


def main() -> None:
    """Print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--games", type=whole(1, 1000), default=5, metavar="N", help="games of each kind [%(default)s]")
    counts = {"bound": most_tokens, **tokenizers()}
    games = parser.parse_args().games
    print(f"{'most tokens of an observation':<40}" + "".join(f"{name:>8}" for name in counts))
    for kind, content in observed(games):
        most = dict.fromkeys(counts, 0)
        for text in content:
            most = {name: max(most[name], count(text)) for name, count in counts.items()}
        print(f"{kind:<40}" + "".join(f"{number:>8,}" for number in most.values()))
    if len(counts) == 1:
        sys.stderr.write("No tokenizer: pip install mistral-common counts by two of them, too.\n")


if __name__ == "__main__":
    main()
