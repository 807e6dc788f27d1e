"""What an agent is like, set on its page: as `wakelog agent set` does."""

from collections.abc import Sequence

from adapters.actions import agents, policy
from adapters.web.agents import known, settings_of
from adapters.web.asking import (
    AtField,
    Compared,
    Form,
    FormRequest,
    Notice,
    clashing,
    compared,
    in_lines,
)
from adapters.web.site import Site
from domain.agent.identity import Wanted
from domain.errors import invalid
from domain.text import squeeze

LABELS = {
    "automatic": "whether changes and timers wake it",
    "loops": "open loops",
    "turns": "turns at most",
}
FORMS: dict[str, Form] = {
    "goal": "text",
    "loops": "text",
    "preferences": "text",
    "mode": "hidden",
    "automatic": "hidden",
}


def configure(site: Site, asked: FormRequest) -> Notice:
    """Change an agent's settings, goal, loops and preferences: what of it the form changes."""
    agent = known(site, asked.names["id"])
    now = settings_of(agent.agent)
    given = {name: in_lines(asked.form.get(name, asked.needed(f"was.{name}"))) for name in now}
    given |= {name: given[name].strip() for name in ("name", "goal", "model", "turns")}
    given["loops"] = "\n".join(lines_of(given["loops"]))
    said = sorted(map(preference_of, lines_of(given["preferences"])))
    given["preferences"] = "\n".join(f"{name}={value}" for name, value in said if value)
    given["automatic"] = "yes" if asked.form.get("automatic") == "yes" else "no"
    found = compared(asked, given, now)
    if not found.changed:
        return Notice("Nothing was changed.")
    if found.moved and not agents.is_known(site.home, asked.key):
        return clashing(asked, found, LABELS, FORMS)
    agents.configure_agent(site.home, agent.id, wanted_of(found), asked.key)
    return Notice("Set.", lines=_lacking(site, agent.id) if "model" in found.changed else ())


def wanted_of(found: Compared) -> Wanted:
    """What a form asks to be changed, of what it was made from.

    Raises:
        Refused: Code ``invalid_value``: what was typed is no number, or no preference.
    """
    given = {name: found.given[name] for name in found.changed}
    opened, closed = _apart(found, "loops")
    said, forgotten = _apart(found, "preferences")
    kept = [preference_of(one) for one in said]  # one that is named twice is refused
    gone = dict.fromkeys(preference_of(one)[0] for one in forgotten)
    cleared = [(name, "") for name in gone if name not in dict(kept)]
    return Wanted(
        name=given.get("name"),
        mode=given.get("mode"),
        model=given.get("model"),
        turn_max=number_of(given["turns"]) if "turns" in given else None,
        is_automatic=given["automatic"] == "yes" if "automatic" in given else None,
        goal=given.get("goal"),
        open_loops=tuple(opened),
        close_loops=tuple(closed),
        preferences=(*cleared, *kept),
    )


def number_of(given: str) -> int:
    """A number of turns; how many there may be the agent says.

    Raises:
        Refused: Code ``invalid_value``.
    """
    if given.isascii() and given.isdigit() and len(given) < 4:
        return int(given)
    wrong = invalid(f"{given[:20]!r} is no number of turns", "write a number from 1 to 20")
    raise AtField("turns", wrong)


def preference_of(line: str) -> tuple[str, str]:
    """A preference as it is typed.

    >>> preference_of("tone = brief"), preference_of("ratio=1=2")
    (('tone', 'brief'), ('ratio', '1=2'))

    Raises:
        Refused: Code ``invalid_value``.
    """
    name, sign, value = line.partition("=")
    if not sign or not name.strip():
        because = f"{line[:60]!r} is no preference"
        wrong = invalid(because, "write name=value on a line, as in tone=brief")
        raise AtField("preferences", wrong)
    return squeeze(name), squeeze(value)


def lines_of(text: str) -> list[str]:
    """The things of a list that is typed one a line, each once.

    >>> lines_of(" b \\n\\na\\nb")
    ['b', 'a']
    """
    return list(dict.fromkeys(one for line in text.split("\n") if (one := squeeze(line))))


def _apart(found: Compared, name: str) -> tuple[Sequence[str], Sequence[str]]:
    """What a list has more and less than now, where the form changes it."""
    if name not in found.changed:
        return (), ()
    given, now = lines_of(found.given[name]), lines_of(found.now[name])
    return [one for one in given if one not in now], [one for one in now if one not in given]


def _lacking(site: Site, agent_id: str) -> list[str]:
    """What a person must agree to before another model is asked."""
    lacking = policy.needed(site.home, [agent_id])
    return [f"Nothing goes to {one.model} before you agree to it, on this page." for one in lacking]
