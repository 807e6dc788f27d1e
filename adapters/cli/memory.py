"""`wakelog memory`: what an agent remembers, and what its digests were made of."""

from adapters.cli.lazy_groups import command
from adapters.cli.shared import Session, option
from adapters.documents.agents import memory_document, sources_document
from adapters.text.agent import memory_lines, sources_lines
from adapters.usecases.resolve import pick_agent
from domain.errors import invalid


@command(
    "memory",
    "agent=TASK|AGENT",
    example=(
        '"Fix the sink"',
        '"Fix the sink" --at yesterday',
        '"Fix the sink" --sources nb5evlz4',
    ),
)
@option("--sources=ID", "What a digest was made of.", default="")
@option("--at where=WHERE", "As it was then.", default="")
def memory_command(session: Session, agent: str, sources: str, where: str) -> None:
    """See what an agent remembers: its digests, newer notes, and what is critical and open.

    A digest is made as a wake ends, once more than 40 notes are in none. WHERE is as for `at`.
    """
    home = session.reading()
    agent_id = pick_agent(home, agent)
    zone = home.settings.timezone
    if sources and where:
        because = "both a digest and a moment are named; what a digest was made of never changes"
        raise invalid(because, "leave --at out")
    if sources:
        made_of = sources_document(home, agent_id, sources)
        session.tell(made_of, *sources_lines(made_of, zone))
        return
    place = None
    if where:
        from adapters.usecases.time_travel import find_moment

        place = find_moment(home, where)
    document = memory_document(home, agent_id, place)
    session.tell(document, *memory_lines(document, zone))
