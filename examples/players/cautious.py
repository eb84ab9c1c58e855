"""A player of Sleuth and of I Say, Holmes! in Python that imports nothing of the package.

It keeps the protocol of docs/protocol.md: `sleuth match "exec:python3 examples/players/cautious.py" random random`.
In Sleuth it accuses only what it has seen to be left, in Holmes it plays whatever it may.
"""

import json
import random
import sys

COLOURS = ("red", "blue", "green", "yellow")
KINDS = ("diamond", "pearl", "opal")
TYPES = ("solitaire", "pair", "cluster")
GEMS = [f"{colour}-{kind}-{type_}" for colour in COLOURS for kind in KINDS for type_ in TYPES]


def possible_gems(facts):
    """Return the gems that may be missing: those that are not seen, and in no hand that was shown."""
    seen = {*facts["hand"], *facts["table"]}
    for seat in facts["seats"].values():
        seen.update(seat["shown_to_you"])
    return [gem for gem in GEMS if gem not in seen]


def sleuth(facts, legal, chance, options):
    """Choose an action of Sleuth."""
    known = facts["missing"] or possible_gems(facts)
    if len(known) <= options["missing"]:
        for gem in known:
            if f"accuse {gem}" in legal:
                return f"accuse {gem}"
    if "pass" in legal and facts["phase"] == "offer":
        return "pass"
    asks = [name for name in legal if name.startswith("ask")]
    rest = [name for name in legal if not name.startswith(("accuse", "final"))]
    return chance.choice(asks or rest or legal)


def holmes(facts, legal, chance, options):
    """Choose an action of I Say, Holmes!"""
    return chance.choice([name for name in legal if name != "pass"] or legal)


def main():
    """Answer requests until there are no more."""
    choose = None
    options = {}
    for line in sys.stdin:
        request = json.loads(line)
        answer = None
        if request["type"] == "hello":
            options = request["options"]
            choose = {"sleuth": sleuth, "holmes": holmes}[request["game"]]
            answer = {"type": "hello", "protocol": 1, "name": "cautious"}
        elif request["type"] == "decide":
            chance = random.Random(request["seed"])
            action = choose(request["facts"], request["legal"], chance, options)
            answer = {"id": request["id"], "action": action}
        # Whatever else comes needs no answer.
        if answer is not None:
            sys.stdout.write(json.dumps(answer) + "\n")
            sys.stdout.flush()


if __name__ == "__main__":
    main()
