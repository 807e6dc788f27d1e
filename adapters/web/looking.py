"""Looking back from a wake: the world just before it, and how it differs from the one before."""

from collections.abc import Iterable

from adapters.documents.diffs import WakesDiff, wakes_diff
from adapters.documents.timetravel import MomentDetails, around, at_document, wake_seen
from adapters.text.difference import Line
from adapters.text.timetravel import at_lines, sides_lines, wake_called, wakes_lines
from adapters.timetravel.place import Place, past_of
from adapters.web.asking import FormRequest, Page, missing
from adapters.web.site import Site
from adapters.web.words import clip
from domain.errors import Refused
from projections import wakes
from projections.wakes import WakeDocument

LINE_MAX = 2_000  # characters
ELEMENTS = {"-": ("del", ""), "+": ("ins", ""), "@": ("span", "where")}  # with a class of page.css
EARLIER_MAX = 50  # wakes that are looked through for one that ran


def show_at(site: Site, asked: FormRequest) -> Page:
    """The page `/wakes/RUN/at`: the document of `at`, of the wake's task and its links."""
    place, wake = _place(site, asked.names["run"])
    own = wake.task_id or site.home.services.agent(wake.agent_id).task
    document = at_document(place, around(place, own))
    lines = [Line(one) for one in at_lines(document, site.zone)]
    return _page("The world before", wake, document, lines, f"at {wake.run_key[:12]}")


def show_diff(site: Site, asked: FormRequest) -> Page:
    """The page `/wakes/RUN/diff`: the document of `diff` with ``?with=``, else the wake before."""
    place, wake = _place(site, asked.names["run"])
    other = asked.query.get("with", "") or before(site, wake)
    if not other:
        because = "no wake of this agent ran before it"
        raise Refused("no_page", because=because, instead="compare later ones")
    earlier, was = _place(site, other)
    sides = (wake_seen(one.past, one.spot.run_key, one.replica) for one in (earlier, place))
    document = wakes_diff(*sides)
    lines = [Line("Nothing differs.")]
    if not document.same:
        called = (wake_called(one, site.zone) for one in (was, wake))
        lines = [*sides_lines(*called), Line(""), *wakes_lines(document)]
    command = f"diff {was.run_key[:12]} {wake.run_key[:12]}"
    return _page(f"From wake {was.run_key[:8]} to", wake, document, lines, command)


def before(site: Site, wake: WakeDocument) -> str:
    """The run key of the same agent's wake that ran before; empty where none did."""
    earlier = site.home.views.page(
        wakes.VIEW, shelf=wake.agent_id, before=wake.place, newest_first=True, limit=EARLIER_MAX
    )
    return next((one.run_key for one in earlier if one.started_at), "")


def _place(site: Site, run_key: str) -> tuple[Place, WakeDocument]:
    wake = site.home.views.get(wakes.VIEW, run_key)
    if wake is None:
        raise missing("unknown_wake", "wake", run_key)
    past = past_of(site.home)
    spot = past.run(run_key, wake.replica, wake.queued_n, 0)
    return Place(site.home, past, spot, run_key, wake), wake


def _page(
    title: str,
    wake: WakeDocument,
    document: MomentDetails | WakesDiff,
    lines: list[Line],
    command: str,
) -> Page:
    values = {"run_key": wake.run_key, "lines": shown_lines(lines), "command": command}
    return Page("looking.html", f"{title} wake {wake.run_key[:8]}", document, values)


def shown_lines(lines: Iterable[Line]) -> list[tuple[str, str, str]]:
    """Lines as a page shows them: the text, its element, and a class of it."""
    plain = ("span", "")
    return [(clip(one.text, LINE_MAX), *ELEMENTS.get(one.mark, plain)) for one in lines]
