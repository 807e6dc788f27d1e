"""Words that models of all providers are told, beside their prompts and the results of calls."""

from domain.ports import Exchange, Section

SEPARATOR = "\n\n"
BEGIN = "Begin."
GO_ON = "Go on."
NUDGES = (
    """\
Your last answer held a function call that could not be read. Answer again: call one of the \
functions, with arguments that fit its schema.""",
    """\
That call could not be read either. Make one function call, with short and simple arguments that \
fit its schema.""",
)
"""What is added for the answer after one that could not be read; one each, in order."""
UNANSWERED = "this call was not carried out"


def go_on(forced: str) -> str:
    """What follows an answer without calls; `forced`: the only tool that may be called, if any."""
    return f"Now call {forced}." if forced else GO_ON


def retold(exchange: Exchange) -> str:
    """An earlier turn of another provider's model, as text."""
    if not exchange.results:
        return "Earlier in this wake another model answered, without calling a function."
    told = [
        f"- {result.tool}: {'refused: ' if result.is_error else ''}{result.output}"
        for result in exchange.results
    ]
    return "\n".join(["Earlier in this wake another model called, and was told:", *told])


def joined(sections: tuple[Section, ...]) -> str:
    """The texts of sections as one."""
    return SEPARATOR.join(section.text for section in sections)
