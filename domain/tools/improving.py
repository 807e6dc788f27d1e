"""The tool of an agent that improves a template: other directives, which a person decides on.

A proposal says a rule and no task: whoever lives on the template is told it, whatever category they
are of. So nothing is copied from what the person said of one task."""

from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from typing import Annotated, Final

from msgspec.structs import asdict

from domain.log.keys import key
from domain.log.state import LogState
from domain.templates import template as templates
from domain.templates.template import DIRECTIVE_MAX_BYTES, TEMPLATE, Template, Version, evolve
from domain.text import cut, fold, squeeze
from domain.tools.arguments import Arguments, id_of, text_of
from domain.tools.base import Tool, ToolEffect, ToolRefusal, quoted, redundant
from domain.tools.snapshot import Snapshot, SnapshotTemplate

PROPOSE: Final = "propose_directives"
RATIONALE_MAX = 1000
DECIDED_LEAST = 10  # of the active version, before an agent proposes another one unasked
LINE_SHOWN = 80

TOO_SOON = ToolRefusal(
    "too_soon",
    f"Fewer than {DECIDED_LEAST} proposals of the active version are decided, and the person did "
    "not ask in words. Report what there is.",
)


class ProposeDirectives(Arguments, frozen=True):
    general: Annotated[str, text_of(None, "How its agents work; the whole text.", "text")]
    report: Annotated[str, text_of(None, "How they report; the whole text.", "text")]
    rationale: Annotated[
        str, text_of(RATIONALE_MAX, "Which facts it rests on, for the person.", "text")
    ]

    def problem(self) -> str:
        for name in ("general", "report"):
            if (size := len(getattr(self, name).encode())) > DIRECTIVE_MAX_BYTES:
                return f"{name}: has {size} bytes; {DIRECTIVE_MAX_BYTES} are allowed"
        return ""


class NewDirectives(ProposeDirectives, frozen=True):
    """Directives as a person decides on them."""

    template: Annotated[str, id_of("Its template's id.")] = ""


def digest_of(general: str, report: str) -> str:
    """What two versions have in common that say the same."""
    return key("directives", general, report)


def seen_now(
    agents: LogState, template_id: str, decided: int = 0, active: Version | None = None
) -> Snapshot:
    """What a proposal would be applied to: the template, as the log of agents stands. `active`:
    look at it as if this one were."""
    template = templates.load(agents, template_id)

    def said(one: Version) -> tuple[str, str]:
        return agents.text(one.general), agents.text(one.report)

    active = active or template.version
    general, report = said(active) if active else ("", "")
    known = tuple(digest_of(*said(one)) for one in template.versions)
    number = active.version if active else 0
    seen = SnapshotTemplate(template_id, template.name, number, general, report, decided, known)
    return Snapshot("", 0, "", "", template=seen)


def version_before(agents: LogState, template_id: str, item: str) -> Version | None:
    """The version that was active when that of a proposal was made so, the last time."""
    template, before = Template(template_id), None
    for row in agents.rows(TEMPLATE, template_id):
        was, template = template.version, evolve(template, row)
        now = template.version
        if now is not None and now.item == item and (was is None or was.item != item):
            before = was
    return before


def _template(snapshot: Snapshot) -> SnapshotTemplate:
    return snapshot.template or SnapshotTemplate("", "", 0, "", "")


def _facts(snapshot: Snapshot, given: ProposeDirectives, _: str) -> tuple[()] | ToolRefusal:
    """A version that there was is made active again by a rollback, not by one more version."""
    if digest_of(given.general, given.report) in _template(snapshot).known:
        return redundant("A version of the template says just this already.")
    return ()


def changed_lines(before: str, after: str) -> tuple[list[str], list[str]]:
    """The lines that are new in a text, and those that are gone, as they stand there."""

    def without(one: str, other: str) -> list[str]:
        known = set(map(squeeze, other.splitlines()))
        return [line for line in one.splitlines() if squeeze(line) not in known and squeeze(line)]

    return without(after, before), without(before, after)


def _summary(snapshot: Snapshot, given: ProposeDirectives) -> str:
    """The first line that is new, so that two proposals differ to the eye."""
    seen = _template(snapshot)
    parts = ((seen.general, given.general), (seen.report, given.report))
    changed = [changed_lines(*one) for one in parts]
    new, gone = ([line for one in changed for line in one[nth]] for nth in (0, 1))
    marked = [*(f"+ {one}" for one in new), *(f"- {one}" for one in gone)] or ["other order"]
    first = cut(squeeze(marked[0].replace("+ - ", "+ ", 1)), length_max=LINE_SHOWN)
    more = f" ({len(new)} new, {len(gone)} gone)" if len(marked) > 1 else ""
    return f"New directives for {cut(seen.name, length_max=LINE_SHOWN)}: {first}{more}"


# ----------------------------------------------------------------------------------- what is copied

IN_A_ROW, FEW_IN_A_ROW, RARE_LEAST = 8, 5, 2
_COMMON: Final = """
the be to of and a in that have i it for not on with he as you do at this but his by from they we
say her she or an will my one all would there their what so up out if about who get which go me
when make can like time no just him know take people into year your good some could them see other
than then now look only come its over think also back after use two how our work first well way
even new want because any these give day most us is are was were been has had did does done said
got made task tasks person item items date due per each every more less least such where while
before until since without within between must should may might never always often again still yet
here why too very much many few own same both either neither another next last left right long
short set put ask tell need keep let help find part week month hour minute today tomorrow name
names text texts word words note notes whole through under off down away around during against upon
among whether though although however der die das und zu den ein eine einen einem einer eines ist
sind war waren sein von mit auf für nicht sich auch es er sie wir ihr ich du als dem des im am um
aus bei nach vor über unter bis durch oder aber wenn dann weil dass ob wie wo wer kein keine keinen
nur noch schon sehr mehr viel viele hat haben hatte wird werden wurde kann können muss müssen soll
sollen wollen darf dürfen man mein meine dein deine seine unser unsere alle alles jeder jede jedes
dieser diese dieses hier da dort heute morgen tag tage woche monat jahr stunde aufgabe aufgaben
texte wort wörter neu neue alt alte gut gute immer nie oft wieder erst zum zur vom beim ins bitte
ohne gegen zwischen seit während ihre ihren ihm ihn uns euch mir mich dir dich machen macht gemacht
"""
"""The commonest words of English and German: they tell of nobody."""


@cache
def _common() -> frozenset[str]:
    return frozenset(_folded(_COMMON))


_MARKS = dict.fromkeys(
    (
        *(*range(0x21, 0x30), *range(0x3A, 0x41), *range(0x5B, 0x61), *range(0x7B, 0xC0)),
        *range(0x2010, 0x206F),
    ),
    " ",
)
_UNSEEN = dict.fromkeys((0xAD, *range(0x200B, 0x2010), 0xFEFF), "")


def _folded(text: str) -> list[str]:
    """The words of a text in their order, whatever case, white space and marks they have."""
    return fold(text.translate(_UNSEEN).translate(_MARKS)).split(" ")


def copied(given: Iterable[str], feedback: Iterable[str], versions: Iterable[str]) -> str:
    """The words in a row that directives share with a line of feedback and with no version: eight,
    or five of which two are not common ones. Empty: none."""
    said, told = ([*map(_folded, each)] for each in (given, feedback))
    own = [*map(_folded, versions)]
    for most in (IN_A_ROW, FEW_IN_A_ROW):
        there = {row for one in said for row in _rows(one, most)}
        there -= {row for one in own for row in _rows(one, most)}
        for row in (row for one in told for row in _rows(one, most) if row in there):
            rare = sum(one not in _common() for one in row)
            if most == IN_A_ROW or rare >= RARE_LEAST:
                return " ".join(row)
    return ""


def _rows(words: Sequence[str], most: int) -> Iterator[tuple[str, ...]]:
    return (tuple(words[n : n + most]) for n in range(len(words) - most + 1))


def refused(
    seen: Snapshot,
    given: ProposeDirectives,
    feedback: Sequence[str],
    versions: Sequence[str],
    *,
    is_asked: bool,
) -> ToolRefusal | None:
    """Why directives are not proposed that are in order otherwise. `feedback`, `versions`: what the
    wake was told; `is_asked`: the person asked in words."""
    if not is_asked and _template(seen).decided < DECIDED_LEAST:
        return TOO_SOON
    if row := copied((given.general, given.report), feedback, versions):
        because = f"{quoted(row)} is copied from what the person said of one task"
        return ToolRefusal("copied", f"{because}: say the rule, not the example.")
    return None


TOOLS = (
    Tool(
        name=PROPOSE,
        since=7,
        brief="Propose directives in place of the active ones, both texts whole.",
        description="",
        arguments=ProposeDirectives,
        element=NewDirectives,
        fills=lambda snapshot, given: NewDirectives(
            **asdict(given), template=_template(snapshot).id
        ),
        effect=ToolEffect(
            facts=_facts,
            values=lambda snapshot, _: [_template(snapshot).general, _template(snapshot).report],
            touches=lambda given: (f"template:{given.template}",),
            summary=_summary,
            is_told_whole=False,
            now=lambda snapshot, _: f"version {_template(snapshot).version}",
            form={"general": "How to work", "report": "How to report"},
        ),
        capabilities=("template.propose",),
        scope="own_template",
        entities=("template",),
        tokens=(),
    ),
)
