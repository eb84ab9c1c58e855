"""Policy files: the same actions as the network, and a clear refusal of everything else."""

from __future__ import annotations

import copy
import json
import os
import pickle
import struct
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sleuth_env import sleuth
from sleuth_env.cli.commands import main
from sleuth_env.doors import ArrayError
from sleuth_env.matches.match import play_match
from sleuth_env.matches.players import make_player
from sleuth_env.matches.table import Table
from sleuth_env.policies.card import model_card
from sleuth_env.policies.mlp import Mlp
from sleuth_env.policies.policy import Policy, load_policy, save_policy
from sleuth_env.policies.policy_file import CHECKSUM, PolicyError, pretrained_names, read_metadata, read_policy_file
from sleuth_env.sleuth import Options
from tests.support.policies import THREE, VERSIONS, random_policy


def positions(options: Options, number: int = 300) -> tuple[np.ndarray, np.ndarray]:
    """Views and legal actions of games between cautious bots."""
    table = Table(sleuth, options, 40, [sleuth.make_bot("cautious", options)], 0)
    table.deal(np.arange(40), np.arange(40, dtype=np.uint64))
    views = []
    legal = []
    while sum(map(len, views)) < number:
        rows = np.flatnonzero(~table.finished)
        views.append(table.views(rows))
        legal.append(table.legal(rows))
        table.play_round()
    return np.concatenate(views)[:number], np.concatenate(legal)[:number]


@pytest.fixture(scope="module")
def seen() -> tuple[np.ndarray, np.ndarray]:
    return positions(THREE)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    save_policy(random_policy(steps=1234), tmp_path / "p.safetensors", VERSIONS)
    return tmp_path / "p.safetensors"


def seeds(number: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).integers(2**64, size=number, dtype=np.uint64)


# --- playing ---


@pytest.mark.parametrize("card_network", [True, False])
@pytest.mark.parametrize("record", sleuth.RECORDS)
def test_a_file_plays_as_the_policy_that_was_saved(tmp_path: Path, seen, record: str, card_network: bool):
    policy = random_policy(record=record, card_network=card_network)
    save_policy(policy, tmp_path / "p.safetensors", VERSIONS)
    views, legal = seen
    loaded = load_policy(tmp_path / "p.safetensors")
    assert (loaded.act(views, legal, seeds(len(views))) == policy.act(views, legal, seeds(len(views)))).all()
    assert loaded.name == "p"


@pytest.mark.parametrize("greedy", [True, False])
def test_every_action_is_legal_and_settled_by_its_seed(seen, greedy: bool):
    views, legal = seen
    policy = random_policy(greedy=greedy)
    actions = policy.act(views, legal, seeds(len(views)))
    assert legal[np.arange(len(views)), actions].all()
    assert (policy.act(views, legal, seeds(len(views))) == actions).all()
    assert (policy.act(views, legal, seeds(len(views), 1)) == actions).all() == greedy


def test_a_row_of_a_batch_acts_as_a_batch_of_one(seen):
    views, legal = seen
    policy = random_policy()
    together = policy.act(views, legal, seeds(len(views)))
    alone = [policy.act(views[i : i + 1], legal[i : i + 1], seeds(len(views))[i : i + 1])[0] for i in range(len(views))]
    assert together.tolist() == alone
    observations = np.random.default_rng(0).random((50, sleuth.observation_size(THREE, "sheet")), np.float32)
    rows = np.concatenate([policy.logits(observations[i : i + 1]) for i in range(50)])
    assert rows.tobytes() == policy.logits(observations).tobytes()


def test_actions_are_drawn_by_the_softmax_over_the_legal_ones(seen):
    views = seen[0][:1]
    legal = seen[1][:1]
    policy = random_policy()
    drawn = policy.act(np.repeat(views, 20_000), np.repeat(legal, 20_000, 0), seeds(20_000))
    observation = np.zeros((1, sleuth.observation_size(THREE, "sheet")), np.float32)
    sleuth.write_observations(sleuth.make_rules(THREE), views, observation, "sheet")
    chances = np.where(legal[0], np.exp(policy.logits(observation)[0].astype(float)), 0)
    chances /= chances.sum()
    shares = np.bincount(drawn, minlength=len(chances)) / 20_000
    assert (np.abs(shares - chances) <= 4.5 * np.sqrt(chances * (1 - chances) / 20_000) + 1e-9).all()


@pytest.mark.parametrize("bits", [0, 2**64 - 1, 2**63])
def test_extreme_seeds_and_logits_give_legal_actions(seen, bits: int):
    views, legal = seen
    policy = random_policy(card_network=False)
    policy.network._layers[-1][1][:] = np.random.default_rng(1).choice([-3e38, 0, 3e38], legal.shape[1])
    with np.errstate(over="ignore", invalid="ignore"):
        actions = policy.act(views, legal, np.full(len(views), bits, np.uint64))
    assert legal[np.arange(len(views)), actions].all()


def test_nothing_legal_is_refused(seen):
    views, legal = seen
    nothing = legal[:2].copy()
    nothing[1] = 0
    with pytest.raises(ArrayError, match="legal must mark a legal action in every row, got none in row 1"):
        random_policy().act(views[:2], nothing, seeds(2))


def test_no_rows_give_no_actions(seen):
    views, legal = seen
    assert random_policy().act(views[:0], legal[:0], seeds(0)).shape == (0,)


def test_a_policy_file_is_a_seat_of_a_match(file: Path):
    result = play_match(sleuth, THREE, [str(file), "random", "random"], 10, 1)
    assert result.games == 30
    assert result == play_match(sleuth, THREE, [str(file), "random", "random"], 10, 1, batch_size=3)


def test_playing_needs_no_torch(file: Path):
    code = (
        "import sys, sleuth_env.sleuth as s; from sleuth_env.matches.match import play_match; "
        f"play_match(s, s.Options(num_players=3), [{str(file)!r}, 'random', 'random'], 2); "
        "print([m for m in ('torch', 'stable_baselines3') if m in sys.modules])"
    )
    assert (
        subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.strip() == "[]"
    )


# --- what a file says, and for which games it is ---


def test_the_metadata_says_what_the_file_is_and_nothing_of_the_machine(file: Path):
    metadata = read_metadata(file)
    assert metadata["game"] == "sleuth"
    assert metadata["num_players"] == 3
    assert metadata["steps"] == 1234
    assert Options(**metadata["options"]) == THREE
    assert metadata["observation"][0] == ["hand", [36]]
    assert sum(int(np.prod(shape)) for _, shape in metadata["observation"]) == sleuth.observation_size(THREE, "sheet")
    assert metadata["architecture"] == {"kind": "mlp", "hidden": [32, 16], "cells": [8], "activation": "relu"}
    assert metadata["versions"] == VERSIONS
    content = file.read_bytes()
    assert str(file.parent).encode() not in content


@pytest.mark.parametrize("change", [{"first_player": "seat_0"}, {"offer_order": "clockwise"}, {"max_turns": 5}])
def test_options_that_matter_little_may_differ(file: Path, seen, change: dict[str, Any]):
    player = make_player(str(file), Options(num_players=3, **change))
    assert play_match(sleuth, Options(num_players=3, **change), [player, "random", "random"], 3).games == 9


@pytest.mark.parametrize(
    "change",
    [
        {"num_players": 4},
        {"missing": 2},
        {"winners": 2},
        {"double_interrogation": True},
        {"super_sleuth": True},
        {"accuse": "own_turn"},
        {"last_survivor_wins": True},
    ],
)
def test_other_options_are_refused_by_name(file: Path, change: dict[str, Any]):
    ((name, value),) = change.items()
    with pytest.raises(PolicyError, match=rf"p was trained for .*{name}=.*{value!r}"):
        make_player(str(file), Options(**{"num_players": 3, **change}))


def test_a_name_that_is_neither_a_bot_nor_a_file_is_refused():
    known = ", ".join([*sleuth.BOTS, *pretrained_names("sleuth")])
    with pytest.raises(
        PolicyError, match=rf"no bot 'nobody': a player is one of the bots {known}, or a policy file, .*\.safetensors"
    ):
        make_player("nobody", THREE)
    assert make_player("random", THREE).name == "random"


# --- damaged and foreign files ---


def rewritten(file: Path, header: Any = None, body: bytes | None = None, **metadata: Any) -> Path:
    """Change the header's metadata, the whole header, or the body of a file, which has no checksum then."""
    content = file.read_bytes()
    size = int.from_bytes(content[:8], "little")
    old = json.loads(content[8 : 8 + size])
    old["__metadata__"].pop(CHECKSUM, None)
    old["__metadata__"].update(metadata)
    for key in [key for key, value in metadata.items() if value is None]:
        del old["__metadata__"][key]
    text = json.dumps(old if header is None else header(old)).encode()
    file.write_bytes(struct.pack("<Q", len(text)) + text + (content[8 + size :] if body is None else body))
    return file


def refused(file: Path) -> str:
    with pytest.raises(PolicyError) as error:
        load_policy(file)
    assert str(file) in str(error.value)
    assert "\n" not in str(error.value)
    return str(error.value)


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"\x01",
        b"hello, this is text",
        b"\xff" * 64,
        struct.pack("<Q", 2) + b"{}",
        struct.pack("<Q", 2**40) + b"{}",
        struct.pack("<Q", 4) + b"null",
    ],
)
def test_what_is_no_policy_file_is_refused(tmp_path: Path, content: bytes):
    (tmp_path / "x.safetensors").write_bytes(content)
    assert "not a policy file" in refused(tmp_path / "x.safetensors")


def test_a_missing_file_and_a_folder_are_refused(tmp_path: Path):
    assert "No such file" in refused(tmp_path / "nothing.safetensors")
    assert "cannot be read" in refused(tmp_path)


def test_a_pipe_is_refused_and_not_waited_for(tmp_path: Path):
    os.mkfifo(tmp_path / "x.safetensors")
    assert "not a regular file" in refused(tmp_path / "x.safetensors")


def test_a_file_says_what_the_policy_won(tmp_path: Path):
    save_policy(random_policy(), tmp_path / "x.safetensors", VERSIONS, 0.75)
    assert read_metadata(tmp_path / "x.safetensors")["win_share"] == 0.75
    save_policy(random_policy(), tmp_path / "x.safetensors", VERSIONS)
    assert read_metadata(tmp_path / "x.safetensors")["win_share"] is None


def test_nothing_is_ever_unpickled(tmp_path: Path):
    class Trap:
        def __reduce__(self) -> Any:
            return (Path.touch, (tmp_path / "sprung",))

    (tmp_path / "x.safetensors").write_bytes(pickle.dumps(Trap()))
    refused(tmp_path / "x.safetensors")
    assert not (tmp_path / "sprung").exists()


def test_a_file_cut_short_anywhere_is_refused(file: Path):
    content = file.read_bytes()
    for length in [*range(0, 64, 7), *range(64, len(content), len(content) // 40), len(content) - 1]:
        file.write_bytes(content[:length])
        assert refused(file)


def test_a_file_with_any_byte_of_its_header_changed_is_refused_or_harmless(file: Path):
    content = bytearray(file.read_bytes())
    for place in range(0, 8 + int.from_bytes(content[:8], "little"), 13):
        changed = content.copy()
        changed[place] ^= 0x15
        file.write_bytes(bytes(changed))
        with suppress(PolicyError):
            assert load_policy(file).options


def flipped(content: bytes, bit: int) -> bytes:
    """Return bytes with one bit changed."""
    changed = bytearray(content)
    changed[bit // 8] ^= 1 << bit % 8
    return bytes(changed)


def test_a_bit_flip_anywhere_is_refused_or_in_the_name_of_the_checksum(file: Path):
    content = file.read_bytes()
    said, tensors = read_policy_file(file)
    name = content.index(b'"sha256"')
    start = 8 + int.from_bytes(content[:8], "little")
    bits = [*range(0, 8 * start, 29), *range(8 * name, 8 * name + 64), *range(8 * start, 8 * len(content), 9973)]
    for bit in [*bits, 8 * len(content) - 1]:
        file.write_bytes(flipped(content, bit))
        if not name < bit // 8 < name + len('"sha256'):
            assert refused(file)
            continue
        with suppress(PolicyError):
            metadata, found = read_policy_file(file)
            assert metadata == said
            assert all((found[key] == tensor).all() for key, tensor in tensors.items())


def test_whoever_reads_a_file_says_that_it_is_damaged(file: Path, capsys: pytest.CaptureFixture[str]):
    content = file.read_bytes()
    # The lowest bit of the first weight: another number, and a good one.
    file.write_bytes(flipped(content, 8 * (8 + int.from_bytes(content[:8], "little"))))
    line = f"{file} is damaged: its content does not have its checksum"
    for read in (load_policy, read_metadata, model_card, lambda path: make_player(str(path), THREE)):
        with pytest.raises(PolicyError) as error:
            read(file)
        assert str(error.value) == line
    for words in (
        ["evaluate", str(file), "--against", "random", "--games", "3"],
        ["match", "random", "random", str(file), "--games", "3"],
        ["card", str(file)],
        ["export", str(file), "--to", "onnx", "--out", str(file.parent / "x.onnx")],
    ):
        assert main(words) == 2
        assert capsys.readouterr().err == f"sleuth: {line}\n"
    assert [path.name for path in file.parent.iterdir()] == ["p.safetensors"]


def test_what_a_file_says_is_under_its_checksum_too(file: Path):
    content = file.read_bytes()
    file.write_bytes(content.replace(b'"steps":"1234"', b'"steps":"1235"'))
    assert "does not have its checksum" in refused(file)
    rewritten(file)
    assert load_policy(file).steps == 1235


def test_a_file_without_a_checksum_is_read_and_one_that_is_none_is_not(file: Path):
    before = read_policy_file(file)
    rewritten(file)
    assert CHECKSUM.encode() not in file.read_bytes()
    assert read_metadata(file) == before[0]
    assert "does not have its checksum" in refused(rewritten(file, sha256=""))
    assert "is damaged" in refused(rewritten(file, sha256=3))


def test_the_checksum_does_not_depend_on_how_a_tool_writes_the_file(file: Path):
    from safetensors import safe_open
    from safetensors.numpy import load_file, save_file

    with safe_open(file, "np") as opened:
        metadata = opened.metadata()
    tensors = load_file(file)
    save_file(dict(reversed(tensors.items())), file, dict(reversed(metadata.items())))
    assert load_policy(file).steps == 1234
    # A shape counts, whose bytes are the same.
    tensors["layers.0.bias"] = tensors["layers.0.bias"].reshape(1, -1)
    save_file(tensors, file, metadata)
    assert "does not have its checksum" in refused(file)


def test_equal_policies_are_equal_files(file: Path, tmp_path: Path):
    for number in range(10):
        save_policy(random_policy(steps=1234), tmp_path / f"{number}.safetensors", VERSIONS)
        assert (tmp_path / f"{number}.safetensors").read_bytes() == file.read_bytes()


def test_a_safetensors_file_of_something_else_is_refused(tmp_path: Path):
    from safetensors.numpy import save_file

    save_file({"weight": np.zeros(3, np.float32)}, tmp_path / "x.safetensors", {"format": "pt"})
    assert "not a policy file" in refused(tmp_path / "x.safetensors")


@pytest.mark.parametrize(
    ("metadata", "word"),
    [
        ({"format": "other"}, "'other'"),
        ({"format_version": "2"}, "'2'"),
        ({"game": "clue"}, "'clue'"),
        ({"record": "psychic"}, "psychic"),
        ({"observation_hash": "0" * 16}, "another observation"),
        ({"options": '{"num_players": 9}'}, "from 3 to 7"),
        ({"options": '{"num_player": 3}'}, "num_player"),
        ({"options": "[]"}, "not a policy file"),
        ({"options": "{"}, "not a policy file"),
        ({"options": None}, "not a policy file"),
        ({"steps": "many"}, "not a policy file"),
        ({"steps": "[" * 5000}, "not a policy file"),
        ({"architecture": '{"kind": "transformer", "hidden": [], "cells": [], "activation": "relu"}'}, "transformer"),
        ({"architecture": '{"kind": "mlp", "hidden": [1, 2, 3], "cells": [8], "activation": "relu"}'}, "lacks"),
        ({"architecture": '{"kind": "mlp", "hidden": [32], "cells": [8], "activation": "relu"}'}, "unknown tensors"),
        ({"architecture": '{"kind": "mlp", "hidden": 3, "cells": [8], "activation": "relu"}'}, "unknown architecture"),
        ({"architecture": '{"kind": "mlp", "hidden": [32, 16], "cells": [8], "activation": "exec"}'}, "'relu', 'tanh'"),
        ({"architecture": "{}"}, "lacks"),
        (
            {"architecture": '{"kind": "mlp", "hidden": [32, 17], "cells": [8], "activation": "relu"}'},
            "hidden = [32, 17], its weights are of [32, 16]",
        ),
        (
            {"architecture": '{"kind": "mlp", "hidden": [32, 16], "cells": [9], "activation": "relu"}'},
            "cells = [9], its weights are of [8]",
        ),
        ({"num_players": "4"}, "contradicts itself"),
        ({"num_players": "true"}, "not a policy file"),
        ({"observation": '[["hand", [36]]]'}, "contradicts itself"),
        ({"steps": "-1"}, "not a policy file"),
        ({"steps": "true"}, "not a policy file"),
        ({"steps": "1.0"}, "not a policy file"),
        ({"win_share": "1.5"}, "not a policy file"),
    ],
)
def test_metadata_that_does_not_fit_is_refused(file: Path, metadata: dict[str, Any], word: str):
    assert word in refused(rewritten(file, **metadata))


def test_a_policy_for_other_options_does_not_fit_by_its_shapes(file: Path):
    layout = sleuth.observation_layout(Options(num_players=4), "sheet")
    blocks = json.dumps([[block.name, list(block.shape)] for block in layout])
    other = {
        "options": '{"num_players": 4}',
        "num_players": "4",
        "observation": blocks,
        "observation_hash": layout.digest,
    }
    assert "layer 0 must have weights" in refused(rewritten(file, **other))


def test_other_types_of_numbers_are_refused(file: Path):
    def halved(header: dict[str, Any]) -> dict[str, Any]:
        header["layers.0.bias"]["dtype"] = "F16"
        return header

    assert "layers.0.bias" in refused(rewritten(file, halved))


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_weights_that_are_no_numbers_are_refused(tmp_path: Path, value: float):
    policy = random_policy()
    policy.network.layers[1][0][3, 3] = value
    save_policy(policy, tmp_path / "x.safetensors", VERSIONS)
    assert "not finite" in refused(tmp_path / "x.safetensors")


@pytest.mark.parametrize("network", ["layers", "card_layers"])
def test_weights_that_could_make_a_logit_overflow_are_refused(tmp_path: Path, network: str):
    policy = random_policy()
    for weight, _ in getattr(policy.network, network):
        weight *= 1e20
    save_policy(policy, tmp_path / "x.safetensors", VERSIONS)
    assert "could overflow" in refused(tmp_path / "x.safetensors")


def test_no_number_on_the_way_to_a_logit_may_overflow_either(tmp_path: Path):
    policy = random_policy(card_network=False)
    for (weight, _), factor in zip(policy.network.layers, (1e20, 1e20, 1e-30), strict=True):
        weight *= factor
    save_policy(policy, tmp_path / "x.safetensors", VERSIONS)
    assert "could overflow" in refused(tmp_path / "x.safetensors")


def test_the_largest_weights_allowed_give_finite_logits():
    size = sleuth.observation_size(THREE, "sheet")
    weight = np.full((448, size), 0.99e30 / size, np.float32)
    policy = Policy(sleuth, THREE, "sheet", Mlp([(weight, np.zeros(448, np.float32))]))
    assert policy.logits(np.ones((1, size), np.float32))[0, 0] == pytest.approx(0.99e30, rel=1e-4)
    with pytest.raises(PolicyError, match="could overflow"):
        Policy(sleuth, THREE, "sheet", Mlp([(weight * np.float32(1.1), np.zeros(448, np.float32))]))


@pytest.mark.parametrize("value", [-1, 10**6])
def test_inputs_of_the_card_network_outside_the_observation_are_refused(tmp_path: Path, value: int):
    policy = random_policy()
    policy.network.card_inputs[3, 3] = value
    save_policy(policy, tmp_path / "x.safetensors", VERSIONS)
    assert "card network's inputs" in refused(tmp_path / "x.safetensors")


def test_saving_replaces_a_file_in_one_step_and_leaves_nothing_else(file: Path):
    save_policy(random_policy(steps=99), file, VERSIONS)
    assert read_metadata(file)["steps"] == 99
    assert [path.name for path in file.parent.iterdir()] == ["p.safetensors"]


def test_a_policy_can_be_copied_and_pickled(file: Path, seen) -> None:
    views, legal = seen
    policy = load_policy(file)
    for other in (copy.deepcopy(policy), pickle.loads(pickle.dumps(policy))):
        np.testing.assert_array_equal(
            other.act(views, legal, seeds(len(views))), policy.act(views, legal, seeds(len(views)))
        )


def test_a_policy_object_for_other_options_is_refused_as_its_file_is(file: Path) -> None:
    with pytest.raises(PolicyError, match="super_sleuth=False"):
        play_match(sleuth, Options(num_players=3, super_sleuth=True), [load_policy(file), "random", "random"], 1)


@pytest.mark.parametrize("path", [None, 5, "a\0b"])
def test_what_is_no_path_is_refused(path: object) -> None:
    with pytest.raises(PolicyError, match="cannot be read"):
        load_policy(path)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match=r"a player is named by a text|there is no bot"):
        make_player(path, THREE)  # type: ignore[arg-type]


def test_messages_are_one_short_printable_line() -> None:
    message = str(PolicyError("\x1b[31mred\nnext" + "x" * 60_000))
    assert message.isprintable()
    assert len(message) < 600


def test_a_path_object_is_a_player_too(file: Path) -> None:
    result = play_match(sleuth, THREE, [file, "random", "random"], 2)  # type: ignore[list-item]
    assert result.entries[0].name == str(file)


def test_a_name_without_the_ending_is_not_written(tmp_path: Path) -> None:
    with pytest.raises(PolicyError, match=r"must end in .safetensors, got '.*x.bin'"):
        save_policy(random_policy(), tmp_path / "x.bin", VERSIONS)
    assert not list(tmp_path.iterdir())
