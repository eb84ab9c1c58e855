"""The one schema of a training run: what a YAML file or the command line may say, and what is
legal.

Every departure becomes a ConfigError with one line a mistake: the key as a dotted path, the value,
    what is legal.
"""

from __future__ import annotations

import dataclasses
import difflib
import re
from collections.abc import Iterator
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError, model_validator
from pydantic_core import PydanticCustomError

from sleuth_env import sleuth
from sleuth_env.checks import one_line
from sleuth_env.game import load_game
from sleuth_env.policies.policy_file import SUFFIX, names_file, pretrained_names
from sleuth_env.policies.operations import MOST_UNITS

# Characters of a value, and mistakes, that a message repeats.
MOST_QUOTED = 80
MOST_MISTAKES = 20


class ConfigError(ValueError):
    """A configuration is not legal; one line a mistake."""


def whole_number(value: Any) -> Any:
    """Let ``1e6`` stand for a million where a whole number is asked for."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


def options_of(value: Any) -> Any:
    """Turn a mapping into the game's options, whose own checks are the only ones."""
    if isinstance(value, sleuth.Options):
        return value
    if not isinstance(value, dict):
        raise PydanticCustomError("mapping", "must be a mapping of keys to values")
    known = [field.name for field in dataclasses.fields(sleuth.Options)]
    for key in value:
        if key not in known:
            raise PydanticCustomError(
                "option", "{text}", {"text": f"{str(key)[:MOST_QUOTED]}: {unknown_key(str(key)[:MOST_QUOTED], known)}"}
            )
    try:
        return sleuth.Options(**value)
    except ValueError as error:
        # The game's messages begin with the name of the option.
        key = re.match(r"\w*", str(error))[0]  # type: ignore[index]
        raise PydanticCustomError("option", "{text}", {"text": f"{key}: {error}"}) from error


# Far above what anybody needs, and below what overflows or hides a slip of the keyboard until
# memory or patience ends.
MOST_STEPS = 10**12
MOST_ROLLOUT = 2**20
Count = Annotated[int, BeforeValidator(whole_number), Field(ge=1, le=MOST_STEPS)]
Units = Annotated[int, BeforeValidator(whole_number), Field(ge=1, le=4096)]
Seed = Annotated[int, BeforeValidator(whole_number), Field(ge=0, lt=2**32)]
Share = Annotated[float, Field(ge=0, le=1e6)]
Bias = Annotated[float, Field(ge=-1e3, le=1e3)]


def player_name(value: Any) -> Any:
    """Check that a text names a bot or a policy file; whether the file is one shows when it is
    loaded.
    """
    if isinstance(value, str) and value not in sleuth.BOTS and not names_file(value):
        known = ", ".join([*sleuth.BOTS, *pretrained_names()])
        raise PydanticCustomError(
            "player", "must be one of {names}, or a file that ends in {suffix}", {"names": known, "suffix": SUFFIX}
        )
    return value


PlayerName = Annotated[str, BeforeValidator(player_name)]


def policy_file(value: Any) -> Any:
    """Check that a text names a policy file; whether it is one shows when it is loaded."""
    if isinstance(value, str) and not names_file(value):
        raise PydanticCustomError("file", "must be a policy file, whose name ends in {suffix}", {"suffix": SUFFIX})
    return value


PolicyFile = Annotated[str, BeforeValidator(policy_file)]


class Section(BaseModel):
    """Refuse unknown keys, look-alike types (``"3"``, ``true`` for 1) and not-a-numbers; a run's
    settings never change.
    """

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, allow_inf_nan=False)


class NetworkConfig(Section):
    """The policy and the value network: two multi-layer perceptrons of the same shape, or a
    relational network.
    """

    kind: Literal["mlp", "relational"] = Field(
        "mlp",
        description="mlp: perceptrons, of the sizes hidden and cells; relational: the same weights for each opponent, gem and question (algorithm ppo)",
    )
    units: Annotated[int, BeforeValidator(whole_number), Field(ge=2, le=MOST_UNITS, multiple_of=2)] = Field(
        32, description="relational: units of a question to an opponent; the other embeddings have half as many"
    )
    hidden: Annotated[list[Units], Field(min_length=1, max_length=8)] = Field(
        [256, 256], description="units of each hidden layer"
    )
    activation: Literal["relu", "tanh"] = Field("relu", description="activation function of the hidden layers")
    card_network: Annotated[list[Units], Field(max_length=8)] | None = Field(
        None, description="hidden layers of the network shared by the gem cards; null: none"
    )
    initial_bias: dict[str, Bias] = Field(
        {}, description="bias of the untrained policy's logits by the first word of the action, e.g. {accuse: -4}"
    )


class PpoConfig(Section):
    """Proximal policy optimisation. A ``final_`` value makes the setting fall or rise linearly over
    the whole run.
    """

    rollout_steps: Annotated[int, BeforeValidator(whole_number), Field(ge=1, le=65536)] = Field(
        128, description="decisions of each environment between two updates"
    )
    batch_size: Annotated[int, BeforeValidator(whole_number), Field(ge=2, le=MOST_ROLLOUT)] = Field(
        1024, description="decisions in a minibatch, a divisor of num_envs * rollout_steps"
    )
    epochs: Annotated[int, BeforeValidator(whole_number), Field(ge=1, le=100)] = Field(
        4, description="passes over each rollout"
    )
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
    gamma: float = Field(1.0, gt=0, le=1, description="discount a decision")
    gae_lambda: float = Field(0.95, ge=0, le=1, description="lambda of the generalised advantage estimate")
    value_weight: float = Field(0.5, ge=0, le=10, description="weight of the value loss")
    max_grad_norm: float = Field(0.5, gt=0, le=1e6, description="gradients are clipped to this norm")
    value_first: Annotated[int, BeforeValidator(whole_number), Field(ge=0, le=MOST_STEPS)] = Field(
        200_000,
        description="with start: decisions at first in which only the value is learned, which a policy file does not hold",
    )
    target_kl: float | None = Field(
        None, gt=0, le=1e6, description="an update stops early beyond 1.5 times this divergence; null: never"
    )

    def at(self, name: str, progress: float) -> float:
        """Give a scheduled setting where ``progress`` (0 to 1) of the whole run is done."""
        start = getattr(self, name)
        end = getattr(self, f"final_{name}")
        return float(start if end is None else start + (end - start) * min(progress, 1.0))


class OpponentsConfig(Section):
    """Who sits in the other seats (``ppo``: in all seats); every seat of every game is drawn anew
    in these shares.
    """

    bots: dict[PlayerName, Share] = Field(
        {"random": 1.0},
        max_length=64,
        description=f"share of each bot ({', '.join(sleuth.BOTS)}), policy that comes with the package (pretrained:4p) or policy file",
    )
    past_selves: Share = Field(1.0, description="share of snapshots of the learner")
    learner: Share = Field(
        1.0,
        description="algorithm ppo: share of the learner itself, who learns in every seat that is his; at least one in every game",
    )
    snapshot_every: Count = Field(50_000, description="steps between two snapshots")
    pool_size: Annotated[int, BeforeValidator(whole_number), Field(ge=1, le=64)] = Field(
        8, description="snapshots that play; the oldest leaves, its file stays"
    )


class EvaluationConfig(Section):
    """Matches against named bots during training; the mean win share decides which policy is the
    best one.
    """

    against: list[PlayerName] = Field(
        ["random"],
        max_length=64,
        description="one match for each: the policy in one seat, this bot or policy file in the others; [] for none",
    )
    every: Count = Field(100_000, description="steps between two evaluations")
    deals: Annotated[int, BeforeValidator(whole_number), Field(ge=2, le=100000)] = Field(
        50, description="deals of a match, each played once from every seat"
    )
    seed: Seed = Field(1_000, description="seed of the deals, the same in every evaluation")
    stop_at: float | None = Field(
        None, gt=0, le=1, description="the run ends once an evaluation's mean win share reaches this; null: never"
    )
    patience: Count | None = Field(
        None,
        description="the run ends after as many evaluations in a row without a new best mean win share; null: never",
    )


class CheckpointsConfig(Section):
    """What ``--resume`` starts from."""

    every: Count = Field(100_000, description="steps between two checkpoints")
    keep: Annotated[int, BeforeValidator(whole_number), Field(ge=1, le=1000)] = Field(2, description="checkpoints kept")


class Config(Section):
    """A training run."""

    run: str = Field("runs/run", min_length=1, description="the run folder, which must not be there yet")
    start: PolicyFile | None = Field(
        None, description="algorithm ppo: the policy file whose weights the policy begins with; null: random ones"
    )
    algorithm: Literal["maskable_ppo", "ppo"] = Field(
        "maskable_ppo",
        description="maskable_ppo: sb3-contrib's, in one seat of every game; ppo: self-play from every seat, several times faster",
    )
    seed: Seed = Field(1, description="seed of the network, of the deals and of the draws of opponents")
    threads: Annotated[int, Field(ge=1, le=256)] = Field(
        1, description="threads: of torch; with algorithm ppo, of the games and the opponents too"
    )
    device: Literal["cpu", "cuda", "auto"] = Field(
        "cpu", description="where torch computes; auto: the GPU if there is one"
    )
    total_steps: Count = Field(
        1_000_000,
        description="decisions of the learner in the whole run, rounded up to whole rollouts of num_envs * ppo.rollout_steps",
    )
    num_envs: Annotated[int, BeforeValidator(whole_number), Field(ge=1, le=16384)] = Field(
        64, description="games played side by side"
    )
    record: Literal["sheet", "raw", "exact"] = Field(
        "sheet",
        description="observation with the information sheet, without any deduction, or with the chances of each gem by a count of all deals",
    )
    options: Annotated[sleuth.Options, BeforeValidator(options_of)] = Field(
        sleuth.Options(), description="options of the game"
    )
    game: str = Field("sleuth", description="the game")
    network: NetworkConfig = NetworkConfig()
    ppo: PpoConfig = PpoConfig()
    opponents: OpponentsConfig = OpponentsConfig()
    evaluation: EvaluationConfig = EvaluationConfig()
    checkpoints: CheckpointsConfig = CheckpointsConfig()

    @property
    def module(self) -> Any:
        """The game module."""
        return load_game(self.game)

    @property
    def torch_threads(self) -> int:
        """How many threads torch gets: the learner of ``ppo`` has threads of its own."""
        return 1 if self.algorithm == "ppo" else self.threads

    def fixed(self) -> dict[str, Any]:
        """Give what cannot change when a run is resumed, by dotted paths."""
        flat: dict[str, Any] = {}
        for key, value in self.model_dump(
            mode="json", include={"algorithm", "seed", "start", "record", "options", "network"}
        ).items():
            flat |= {f"{key}.{name}": part for name, part in value.items()} if isinstance(value, dict) else {key: value}
        return flat

    @model_validator(mode="after")
    def _fits_together(self) -> Config:
        decisions = self.ppo.rollout_steps * self.num_envs
        verbs = list(self.module.action_blocks(self.options))
        if decisions > MOST_ROLLOUT:
            raise _mistake("num_envs", f"num_envs * ppo.rollout_steps must be at most {MOST_ROLLOUT}, got {decisions}")
        if decisions % self.ppo.batch_size:
            raise _mistake(
                "ppo.batch_size", f"must divide num_envs * ppo.rollout_steps = {decisions}, got {self.ppo.batch_size}"
            )
        shares = [
            *self.opponents.bots.values(),
            self.opponents.past_selves,
            self.opponents.learner if self.algorithm == "ppo" else 0.0,
        ]
        if sum(shares) < 0.001:
            raise _mistake("opponents", "the shares must add up to at least 0.001")
        for key in ("stop_at", "patience"):
            if getattr(self.evaluation, key) is not None and not self.evaluation.against:
                raise _mistake(f"evaluation.{key}", "needs somebody in evaluation.against, got []")
        if self.network.kind == "relational" and self.algorithm != "ppo":
            raise _mistake("network.kind", f"'relational' needs algorithm 'ppo', got {self.algorithm!r}")
        for verb in self.network.initial_bias:
            if verb not in verbs:
                raise _mistake(f"network.initial_bias.{verb}", unknown_key(verb, verbs))
        return self


def _mistake(path: str, text: str) -> PydanticCustomError:
    return PydanticCustomError("fit", "{text}", {"text": f"{path}: {text}"})


def shown(value: Any) -> str:
    """Quote a value of a file that may be of any length."""
    text = repr(value)
    return text if len(text) <= MOST_QUOTED else f"{text[:MOST_QUOTED]} ..."


def differences(there: dict[str, Any], here: dict[str, Any], place: str = "here") -> str:
    """Say what differs between two dicts, with both values; empty where nothing does."""
    return ", ".join(
        f"{key} is {shown(there.get(key))} there, {shown(here.get(key))} {place}"
        for key in there | here
        if there.get(key) != here.get(key)
    )


def make_config(mapping: dict[str, Any], source: str = "configuration") -> Config:
    """Validate a mapping.

    Raises:
        ConfigError: one line for each unknown key, wrong type and illegal value.
    """
    try:
        return Config.model_validate(mapping)
    except ValidationError as error:
        # A list gives as many mistakes as it has bad items, each under its own place.
        lines = [one_line(f"{source}: {_explain(mistake)}") for mistake in error.errors()[:MOST_MISTAKES]]
        more = (
            [f"{source}: and {error.error_count() - MOST_MISTAKES} mistakes more"]
            if error.error_count() > MOST_MISTAKES
            else []
        )
        raise ConfigError("\n".join(lines + more)) from error


def keys(section: type[BaseModel] = Config, prefix: str = "") -> Iterator[tuple[str, str, Any]]:
    """List every key of the schema as (dotted path, what it is and what is legal, default)."""
    schema = section.model_json_schema()["properties"]
    for name, field in section.model_fields.items():
        default = field.get_default(call_default_factory=True)
        if isinstance(default, BaseModel):
            yield from keys(type(default), f"{prefix}{name}.")
        elif dataclasses.is_dataclass(default):
            # Its docstring says of each option what it means and what is legal.
            said = dict(re.findall(r"^\s*(\w+): (.+)$", type(default).__doc__ or "", re.M))
            for option in dataclasses.fields(default):
                yield f"{prefix}{name}.{option.name}", said.get(option.name, "option of the game"), option.default
        else:
            yield prefix + name, f"{field.description}{_legal(schema[name])}", default


def _legal(schema: dict[str, Any]) -> str:
    """Say in words what a JSON schema allows."""
    schema = schema.get("anyOf", [schema])[0]
    # Beside JSON's names stand pydantic's own: those of numbers that are prepared before they are
    # checked.
    words = {
        "exclusiveMinimum": "above",
        "minimum": "at least",
        "ge": "at least",
        "exclusiveMaximum": "below",
        "lt": "below",
    }
    words |= {"maximum": "at most", "le": "at most", "multiple_of": "a multiple of"}
    limits = [f"{word} {schema[key]}" for key, word in words.items() if key in schema]
    if "items" in schema and (each := _legal(schema["items"])):
        limits.append(f"each {each.strip(' ()')}")
    limits += [f"at most {schema['maxItems']} of them"] if "maxItems" in schema else []
    limits += [f"only {schema['const']}"] if "const" in schema else []
    limits += [f"one of {', '.join(schema['enum'])}"] if "enum" in schema else []
    return f" ({', '.join(limits)})" if limits else ""


def unknown_key(key: str, known: list[str]) -> str:
    """Say that a key is unknown, what was probably meant, and what there is."""
    near = difflib.get_close_matches(key, known, 1)
    return "unknown key" + (f", did you mean {near[0]}?" if near else "") + f"; known here: {', '.join(known)}"


# What pydantic calls things, and what they are in a file.
PLAIN = {
    "a valid dictionary( or instance of .*)?$": "a mapping of keys to values",
    "greater than or equal to": "at least",
    "less than or equal to": "at most",
    "greater than": "above",
    "less than": "below",
    "a valid integer(, .*)?$": "a whole number",
    "a valid number(, .*)?$": "a number",
    "a valid string$": "a text",
    "Keys should be strings": "keys must be texts",
    "a valid list$": "a list",
    " after validation, not .*$": "",
}


def _explain(mistake: Any) -> str:
    path = ".".join(str(name)[:MOST_QUOTED] for name in mistake["loc"])
    value = mistake["input"]
    if mistake["type"] == "fit":
        return str(mistake["msg"])
    if mistake["type"] == "option":
        return f"{path}.{mistake['msg']}"
    if mistake["type"] == "extra_forbidden":
        section = Config
        for name in mistake["loc"][:-1]:
            section = section.model_fields[name].annotation  # type: ignore[assignment]
        return f"{path}: {unknown_key(str(mistake['loc'][-1]), list(section.model_fields))}"
    text = re.sub("^(Input|List|String|Dictionary) should", "must", mistake["msg"])
    for jargon, words in PLAIN.items():
        text = re.sub(jargon, words, text)
    return f"{path.removesuffix('.[key]')}: {text[:1].lower()}{text[1:]}, got {shown(value)}"
