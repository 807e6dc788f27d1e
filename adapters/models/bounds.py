"""How large a model's reply may be. One beyond these bounds is malformed as a whole.

The wake fails with the code ``malformed``, in the extra turn for a report it completes without
one; it is not asked again, and nothing of the reply is recorded but how large it was. Of fewer
calls than `CALLS_MAX`, those that are too many for a turn are refused one by one, see
`domain.wake.calls`.
"""

from domain.ports import NOT_TOLD, ModelFault, Reply, Usage

CODE = "malformed"
CALLS_MAX = 1_024
SENT_MAX_BYTES = 4 * 1024 * 1024
"""As it is sent: over the wire, or as a line of a tape."""
UNPACKED_MAX_BYTES = 32 * 1024 * 1024
"""What packed bytes may come to."""


def too_large(what: str, usage: Usage = NOT_TOLD) -> ModelFault:
    """The fault of a reply that has more than `what`."""
    return ModelFault(CODE, f"the reply has more than {what}", of_provider=False, usage=usage)


def checked(reply: Reply) -> Reply:
    """A reply as it was given. Raises `ModelFault` if it is beyond the bounds."""
    if len(reply.calls) > CALLS_MAX:
        told = f"the reply has {len(reply.calls)} calls; at most {CALLS_MAX} are read"
        raise ModelFault(CODE, told, of_provider=False, usage=reply.usage)
    if len(reply.raw) > UNPACKED_MAX_BYTES:
        raise too_large(f"{UNPACKED_MAX_BYTES} bytes", reply.usage)
    return reply
