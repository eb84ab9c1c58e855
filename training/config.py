"""The schema of a training run: what a YAML file or the command line may say, and what is legal.

`read_config` reads a file, puts the values of the command line into it and validates the result,
once. Each mistake becomes one line of a `ConfigError`, see `values`. What is legal depends on the
game, which is settled first and handed to the validators as pydantic's context.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, ValidationError, model_validator

from sleuth_env.checks import one_line
from sleuth_env.game import DEFAULT_GAME, GAMES, Game, load_game, name_of
from sleuth_env.options import described
from sleuth_env.policies.operations import MOST_UNITS

from .config_file import ConfigError, file_of, given_value, option_of, overridden, read_file, shown, value_at
from .values import (
    MLP,
    MOST_STEPS,
    Bias,
    Count,
    PlayerName,
    PolicyFile,
    Seed,
    Share,
    Units,
    each_once,
    explained,
    mistake,
    networks_of,
    one_of,
    options_of,
    players_of,
    unknown_key,
    whole,
)

# Mistakes that a message lists.
MOST_MISTAKES = 20
MOST_ROLLOUT = 2**20
# What is legal in these depends on the game.
OF_THE_GAME = ("record", "options", "network", "opponents", "evaluation")
# What the numbers of a run mean depends on these, so they cannot change when it is resumed.
FIXED = ("game", "algorithm", "seed", "start", "record", "options", "network", "shards")
# Who may be told of a run besides TensorBoard: libraries, each an extra of its name.
TRACKERS = ("wandb", "mlflow")


# --- the schema ---


class Section(BaseModel):
    """Settings that never change; unknown keys, ``"3"`` or ``true`` for 3, and nan are refused."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, allow_inf_nan=False)


class NetworkConfig(Section):
    """The policy and the value: two perceptrons of the same shape, or a network of the game's."""

    kind: one_of(networks_of) = Field(
        MLP,
        description="mlp: perceptrons of the sizes hidden and card_network; "
        "another kind is a network of the game's own, of the size units (algorithm ppo)",
    )
    units: whole(2, MOST_UNITS, step=2) = Field(
        32,
        description="size of a network of the game's own, from which it derives the widths of its layers",
    )
    hidden: Annotated[list[Units], Field(min_length=1, max_length=8)] = Field(
        [256, 256], description="units of each hidden layer"
    )
    activation: Literal["relu", "tanh"] = Field("relu", description="activation function of the hidden layers")
    card_network: Annotated[list[Units], Field(max_length=8)] | None = Field(
        None,
        description="hidden layers of a network with the same weights for every card, which scores the one action "
        "that the game has for each; null: none",
    )
    initial_bias: dict[str, Bias] = Field(
        {},
        description="bias of the untrained policy's logits by the block of the action, e.g. {BLOCK: -4}",
    )
    sharpness: float = Field(
        1.0,
        gt=0,
        le=100,
        description="with start: what the logits of the policy are multiplied by; above 1 it begins with playing "
        "its likeliest actions oftener",
    )


class PpoConfig(Section):
    """Proximal policy optimisation.

    A setting that has a ``final_`` value moves to it linearly over the whole run.
    """

    rollout_steps: whole(1, 65536) = Field(128, description="decisions of each environment between two updates")
    batch_size: whole(2, MOST_ROLLOUT) = Field(
        1024, description="decisions in a minibatch, a divisor of num_envs * rollout_steps"
    )
    epochs: whole(1, 100) = Field(4, description="passes over each rollout")
    learning_rate: float = Field(3e-4, gt=0, le=1, description="Adam's step size")
    final_learning_rate: float | None = Field(
        None, ge=0, le=1, description="its value at the end of the run; null: constant"
    )
    clip_range: float = Field(0.2, gt=0, le=1, description="how far the probability ratio may move")
    final_clip_range: float | None = Field(
        None, gt=0, le=1, description="its value at the end of the run; null: constant"
    )
    entropy: float = Field(0.01, ge=0, le=10, description="weight of the entropy bonus")
    final_entropy: float | None = Field(
        None, ge=0, le=10, description="its value at the end of the run; null: constant"
    )
    gamma: float = Field(1.0, gt=0, le=1, description="discount per decision")
    gae_lambda: float = Field(0.95, ge=0, le=1, description="lambda of the generalised advantage estimate")
    value_weight: float = Field(0.5, ge=0, le=10, description="weight of the value loss")
    max_grad_norm: float = Field(0.5, gt=0, le=1e6, description="gradients are clipped to this norm")
    value_first: whole(0, MOST_STEPS) = Field(
        200_000,
        description="with start: decisions at first in which only the value is learned, "
        "which a policy file does not hold",
    )
    target_kl: float | None = Field(
        None, gt=0, le=1e6, description="an update stops early beyond 1.5 times this divergence; null: never"
    )

    def at(self, name: str, progress: float) -> float:
        """Return a scheduled setting where ``progress`` (0 to 1) of the whole run is done."""
        start = getattr(self, name)
        end = getattr(self, f"final_{name}")
        return float(start if end is None else start + (end - start) * min(progress, 1.0))


class OpponentsConfig(Section):
    """Who sits in the other seats (``ppo``, ``rllib``: in all): shares by which each seat is drawn."""

    bots: dict[PlayerName, Share] = Field(
        {"random": 1.0}, max_length=64, description="share of each bot, bundled policy or policy file"
    )
    past_selves: Share = Field(1.0, description="share of snapshots of the learner")
    learner: Share = Field(
        1.0,
        description="algorithms ppo and rllib: share of the learner itself, which learns in each of its seats; "
        "it has at least one in every game",
    )
    snapshot_every: Count = Field(50_000, description="steps between two snapshots")
    focus: float = Field(
        0.0,
        ge=0,
        le=16,
        description="algorithm ppo: 0: all past selves equally often; else each in proportion to this power of its "
        "chance to win a game of two against the learner, by their ratings when the last snapshot was taken",
    )
    pool_size: whole(1, 64) = Field(8, description="snapshots that play; the oldest leaves, its file stays")


class EvaluationConfig(Section):
    """Matches during training; the mean win share decides which policy is the best."""

    against: list[PlayerName] = Field(
        ["random"],
        max_length=64,
        description="one match for each: the policy in one seat, this bot or policy file in the others; [] for none",
    )
    every: Count = Field(100_000, description="steps between two evaluations")
    deals: whole(2, 100_000) = Field(50, description="deals of a match, each played once from every seat")
    seed: Seed = Field(1_000, description="seed of the deals, the same in every evaluation")
    stop_at: float | None = Field(
        None, gt=0, le=1, description="the run ends once an evaluation's mean win share reaches this; null: never"
    )
    patience: Count | None = Field(
        None,
        description="the run ends after this many evaluations in a row without a new best mean win share; null: never",
    )


class CheckpointsConfig(Section):
    """What ``--resume`` starts from."""

    every: Count = Field(100_000, description="steps between two checkpoints")
    keep: whole(1, 1000) = Field(2, description="checkpoints kept")


class RllibConfig(Section):
    """How RLlib is used."""

    env_runners: whole(0, 1024) = Field(
        2,
        description="algorithm rllib: processes that play, each an equal part of the num_envs games; "
        "0: the learner's process plays them",
    )


class Config(Section):
    """A training run."""

    run: str = Field("runs/run", min_length=1, description="the run folder, which must not exist yet")
    game: str = Field(
        DEFAULT_GAME, description=f"the game: one of {', '.join(GAMES)}, or the full name of a game module"
    )
    start: PolicyFile | None = Field(
        None, description="algorithm ppo: the policy file whose weights the policy begins with; null: random ones"
    )
    algorithm: Literal["maskable_ppo", "ppo", "rllib"] = Field(
        "maskable_ppo",
        description="maskable_ppo: sb3-contrib's, in one seat of every game; "
        "ppo: self-play from every seat, several times faster; "
        "rllib: the same by RLlib's PPO, in several processes",
    )
    seed: Seed = Field(1, description="seed of the network, of the deals and of the draws of opponents")
    threads: whole(1, 256) = Field(
        1, description="threads: of torch; with algorithm ppo, of the games and the opponents too"
    )
    device: Literal["cpu", "cuda", "auto"] = Field(
        "cpu", description="where torch computes; auto: the GPU if there is one"
    )
    total_steps: Count = Field(
        1_000_000,
        description="decisions of the learner in the whole run, "
        "rounded up to whole rollouts of num_envs * ppo.rollout_steps",
    )
    num_envs: whole(1, 16384) = Field(64, description="games played side by side")
    shards: whole(1, 1024) = Field(
        1,
        description="algorithm ppo: parts of these games that may be played by as many workers; the numbers of a run "
        "depend on it, and not on the workers",
    )
    record: one_of(lambda game: game.RECORDS) = Field(description="the kind of observation")
    options: Annotated[Any, BeforeValidator(options_of)] = Field(description="the options of the game")
    network: NetworkConfig = NetworkConfig()
    ppo: PpoConfig = PpoConfig()
    rllib: RllibConfig = RllibConfig()
    opponents: OpponentsConfig = OpponentsConfig()
    evaluation: EvaluationConfig = EvaluationConfig()
    checkpoints: CheckpointsConfig = CheckpointsConfig()
    tracking: Annotated[list[Literal[TRACKERS]], AfterValidator(each_once)] = Field(
        [], description="who is told of the run besides TensorBoard, e.g. [wandb, mlflow]"
    )

    @property
    def module(self) -> Game:
        """The game module."""
        return load_game(self.game)

    @property
    def torch_threads(self) -> int:
        """How many threads torch gets: the learner of ``ppo`` has threads of its own."""
        return 1 if self.algorithm == "ppo" else self.threads

    def fixed(self) -> dict[str, Any]:
        """Return what cannot change when a run is resumed, by dotted paths."""
        flat: dict[str, Any] = {}
        for key, value in self.model_dump(mode="json", include=set(FIXED)).items():
            flat |= {f"{key}.{name}": part for name, part in value.items()} if isinstance(value, dict) else {key: value}
        return flat

    @model_validator(mode="after")
    def _fits_together(self) -> Config:
        self._check_game()
        self._check_rollout()
        self._check_shards()
        if self.algorithm == "rllib":
            self._check_rllib()
        self._check_players()
        self._check_network()
        return self

    def _check_game(self) -> None:
        """Check the constants of the game that name blocks, which depend on its options."""
        game = self.module
        blocks = self.module.action_blocks(self.options)
        known = f"its blocks are {', '.join(blocks)}"
        for block in (*game.OFFERED, *game.SCORED.values()):
            if block not in blocks:
                constant = "OFFERED" if block in game.OFFERED else "SCORED"
                raise mistake("game", f"{self.game}: {constant} names {block!r}, which is not a block; {known}")
        if set(game.OFFERED) != set(list(blocks)[len(blocks) - len(game.OFFERED) :]):
            raise mistake("game", f"{self.game}: OFFERED must be the last blocks, got {list(game.OFFERED)}; {known}")
        if game.DECLINE and game.DECLINE not in game.OFFERED:
            raise mistake("game", f"{self.game}: DECLINE must be one of OFFERED, got {game.DECLINE!r}; {known}")
        self._check_scored(known)

    def _check_scored(self, known: str) -> None:
        game = self.module
        layout = game.observation_layout(self.options, self.record)
        # A card network reads the blocks whose last axis is the scored one.
        sizes = {block.axes[-1]: block.shape[-1] for block in layout if block.axes}
        for axis, name in game.SCORED.items():
            block = game.action_blocks(self.options)[name]
            number = block.stop - block.start
            if sizes.get(axis, number) != number:
                raise mistake(
                    "game",
                    f"{self.game}: SCORED maps the axis {axis!r}, of size {sizes[axis]}, "
                    f"to the block {name!r}, of {number} actions; {known}",
                )
            if axis not in sizes and self.network.card_network is not None:
                raise mistake(
                    "network.card_network",
                    f"must be null: the observation {self.record!r} of {self.game} has no axis {axis!r}",
                )

    def _check_rollout(self) -> None:
        decisions = self.ppo.rollout_steps * self.num_envs
        if decisions > MOST_ROLLOUT:
            raise mistake("num_envs", f"num_envs * ppo.rollout_steps must be at most {MOST_ROLLOUT}, got {decisions}")
        if decisions % self.ppo.batch_size:
            raise mistake(
                "ppo.batch_size", f"must divide num_envs * ppo.rollout_steps = {decisions}, got {self.ppo.batch_size}"
            )

    def _check_shards(self) -> None:
        if self.shards > 1 and self.algorithm != "ppo":
            raise mistake("shards", f"must be 1 with algorithm {self.algorithm!r}, got {self.shards}")
        if self.num_envs % self.shards:
            raise mistake("shards", f"must divide num_envs = {self.num_envs}, got {self.shards}")

    def _check_rllib(self) -> None:
        for key in ("final_clip_range", "target_kl"):
            if getattr(self.ppo, key) is not None:
                raise mistake(f"ppo.{key}", f"must be null: RLlib has no such setting, got {getattr(self.ppo, key)}")
        if self.num_envs % max(self.rllib.env_runners, 1):
            raise mistake("rllib.env_runners", f"must divide num_envs = {self.num_envs}, got {self.rllib.env_runners}")

    def _check_players(self) -> None:
        if self.opponents.focus and self.algorithm != "ppo":
            raise mistake("opponents.focus", f"must be 0 with algorithm {self.algorithm!r}: it rates nobody")
        learner = 0.0 if self.algorithm == "maskable_ppo" else self.opponents.learner
        if sum(self.opponents.bots.values()) + self.opponents.past_selves + learner < 0.001:
            raise mistake("opponents", "the shares must add up to at least 0.001")
        for key in ("stop_at", "patience"):
            if getattr(self.evaluation, key) is not None and not self.evaluation.against:
                raise mistake(f"evaluation.{key}", "needs somebody in evaluation.against, got []")

    def _check_network(self) -> None:
        network = self.network
        if network.kind != MLP and self.algorithm == "maskable_ppo":
            raise mistake("network.kind", f"{network.kind!r} needs algorithm 'ppo' or 'rllib', got {self.algorithm!r}")
        if network.card_network is not None and not self.module.SCORED:
            raise mistake("network.card_network", f"must be null: the game {self.game!r} scores no cards")
        blocks = list(self.module.action_blocks(self.options))
        for block in network.initial_bias:
            if block not in blocks:
                raise mistake(f"network.initial_bias.{block}", unknown_key(block, blocks))


# --- from a mapping or a file ---


def game_in(mapping: Mapping[str, Any], source: str, given: Collection[str] = ()) -> Game:
    """Return the game that a configuration names, or the default one.

    Args:
        mapping: of keys and values.
        source: the file that messages name.
        given: the keys whose values are those of the command line.

    Raises:
        ConfigError: there is no such game.
    """
    name = mapping.get("game", DEFAULT_GAME)
    if not isinstance(name, str):
        raise ConfigError(f"{placed('game', source, given)}: must be a text, got {shown(name)}")
    try:
        return load_game(name)
    except ValueError as error:
        raise ConfigError(one_line(f"{placed('game', source, given)}: {error}")) from error


def placed(path: str, source: str, given: Collection[str]) -> str:
    """Return where the value of a key comes from, for a message.

    Args:
        path: the key.
        source: the file.
        given: the keys whose values are those of the command line, as far as they concern the key.

    >>> placed("seed", "a.yaml", ["seed"]), placed("seed", "a.yaml", [])
    ('--seed', 'a.yaml: seed')
    >>> placed("ppo.batch_size", "a.yaml", ["num_envs"])
    'a.yaml with --num-envs: ppo.batch_size'
    """
    whole = next((key for key in given if _is_part(path, key)), None)
    if whole is not None:
        return option_of(path) if whole == path else f"{option_of(whole)}: {path}"
    options = f" with {', '.join(map(option_of, given))}" if given else ""
    return f"{source}{options}: {path}"


def _is_part(path: str, of: str) -> bool:
    return f"{path}.".startswith(f"{of}.")


def _concerned(path: str, place: Sequence[str | int], given: Collection[str]) -> list[str]:
    """Return the keys of the command line that a mistake may come from.

    Args:
        path: the key that the mistake is said of.
        place: what pydantic was looking at: nothing where it was how values fit together.
        given: the keys of the command line.
    """
    section = place[0] if place else None
    return [
        key
        for key in given
        if section is None
        or _is_part(path, key)
        or (section == "options" and _is_part(key, "options"))
        or (section in OF_THE_GAME and key == "game")
    ]


def make_config(mapping: Mapping[str, Any], source: str = "configuration", given: Collection[str] = ()) -> Config:
    """Validate a mapping.

    Args:
        mapping: keys and values; what is missing gets its default.
        source: the file that messages name.
        given: the keys whose values are those of the command line, which messages name instead.

    Raises:
        ConfigError: one line for each unknown key, wrong type and illegal value.

    >>> make_config({"options": {"num_players": 3}}).record
    'sheet'
    """
    game = game_in(mapping, source, given)
    settled = {"record": game.RECORDS[0], "options": {}, **mapping, "game": name_of(game)}
    try:
        return Config.model_validate(settled, context=game)
    except ValidationError as error:
        # A list has as many mistakes as it has bad items, each at its own place.
        lines = []
        for found in error.errors()[:MOST_MISTAKES]:
            path, text = explained(found, Config)
            lines.append(one_line(f"{placed(path, source, _concerned(path, found['loc'], given))}: {text}"))
        if error.error_count() > MOST_MISTAKES:
            lines.append(f"{source}: and {error.error_count() - MOST_MISTAKES} more mistakes")
        raise ConfigError("\n".join(lines)) from error


def read_config(path: str | Path, given: Mapping[str, str] | None = None) -> Config:
    """Read a configuration file.

    Args:
        path: the file, or the name of a configuration that comes with the package.
        given: texts of the command line by dotted paths, which win over the file.

    Raises:
        ConfigError: the file cannot be read, or a value there or of the command line is not legal.
    """
    given = given or {}
    path = file_of(path)
    return make_config(overridden(read_file(path), given, str(path)), str(path), given)


def read_resumed(path: str | Path, given: Mapping[str, str]) -> Config:
    """Read the configuration with which a run goes on.

    Args:
        path: the file in the run folder.
        given: texts of the command line by dotted paths, which win over the file.

    Raises:
        ConfigError: see `read_config`; or something changes that cannot.
    """
    stored = read_file(path)
    for key, text in given.items():
        if key.split(".")[0] in FIXED and given_value(key, text) != value_at(stored, key):
            raise ConfigError(f"{option_of(key)}: cannot change when a run is resumed; start a new run")
    return make_config(overridden(stored, given, str(path)), str(path), given)


def differences(there: Mapping[str, Any], here: Mapping[str, Any], place: str = "here") -> str:
    """Say what differs between two mappings, with both values; empty where nothing does."""
    return ", ".join(
        f"{key} is {shown(there.get(key))} there, {shown(here.get(key))} {place}"
        for key in {**there, **here}
        if there.get(key) != here.get(key)
    )


# --- the list of keys ---


class Key(NamedTuple):
    """A key of the schema: its dotted path, what it means and what is legal, and its default."""

    path: str
    text: str
    default: Any


def keys(game: Game) -> Iterator[Key]:
    """List every key of the schema, with the options of a game."""
    choices = {
        "record": game.RECORDS,
        "network.kind": networks_of(game),
        "opponents.bots": players_of(game),
        "evaluation.against": players_of(game),
    }
    for key in _keys_of(Config):
        if key.path == "options":
            for about in described(game.Options):
                yield Key(f"options.{about.name}", f"{about.meaning} ({about.values})", about.default)
        elif key.path in choices:
            default = game.RECORDS[0] if key.path == "record" else key.default
            yield Key(key.path, f"{key.text} ({', '.join(choices[key.path])})", default)
        else:
            yield key


def _keys_of(section: type[BaseModel], prefix: str = "") -> Iterator[Key]:
    schema = section.model_json_schema()["properties"]
    for name, field in section.model_fields.items():
        default = field.get_default(call_default_factory=True)
        if isinstance(default, BaseModel):
            yield from _keys_of(type(default), f"{prefix}{name}.")
        else:
            yield Key(prefix + name, f"{field.description}{_legal(schema[name])}", default)


# What limits in a JSON schema mean. Next to JSON's names stand pydantic's own: those of numbers
# that are prepared before they are checked.
LIMITS = {
    "exclusiveMinimum": "above",
    "minimum": "at least",
    "ge": "at least",
    "exclusiveMaximum": "below",
    "maximum": "at most",
    "le": "at most",
    "multiple_of": "a multiple of",
}


def _legal(schema: dict[str, Any]) -> str:
    """Say in words what a JSON schema allows."""
    schema = schema.get("anyOf", [schema])[0]
    limits = [f"{word} {schema[name]}" for name, word in LIMITS.items() if name in schema]
    if "items" in schema and (each := _legal(schema["items"])):
        limits.append(f"each {each.strip(' ()')}")
    if "maxItems" in schema:
        limits.append(f"at most {schema['maxItems']} of them")
    if "enum" in schema:
        limits.append(f"one of {', '.join(schema['enum'])}")
    return f" ({', '.join(limits)})" if limits else ""
