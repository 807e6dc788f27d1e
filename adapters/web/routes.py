"""Which address shows or does what. People bookmark these: they stay."""

from collections.abc import Callable

from adapters.web import (
    agent_controls,
    agent_settings,
    agent_steering,
    agents,
    catalog,
    deciding,
    health,
    inbox,
    lessons,
    looking,
    policy,
    report_pages,
    task_edits,
    tasks,
    template_edits,
    template_looks,
    templating,
    time_edits,
    undoing,
    wakes,
)
from adapters.web.asking import FormRequest, Notice, Page
from adapters.web.site import Site

Show = Callable[[Site, FormRequest], Page]
Act = Callable[[Site, FormRequest], Notice]

_ID = "(?P<id>[a-z0-9-]{1,64})"
_RUN = "(?P<run>[a-z0-9-]{1,64})"
_DIGEST = "(?P<digest>[a-z0-9-]{1,64})"

PAGES: tuple[tuple[str, Show], ...] = (
    ("/|/inbox", inbox.show),
    ("/tasks", tasks.show_list),
    (f"/tasks/{_ID}", tasks.show_one),
    ("/agents", agents.show_list),
    (f"/agents/{_ID}", agents.show_one),
    (f"/agents/{_ID}/reports", report_pages.show),
    (f"/agents/{_ID}/memory/{_DIGEST}", agents.show_digest),
    ("/wakes", wakes.show_list),
    (f"/wakes/{_RUN}", wakes.show_one),
    (f"/wakes/{_RUN}/at", looking.show_at),
    (f"/wakes/{_RUN}/diff", looking.show_diff),
    ("/templates", templating.show_list),
    (f"/templates/{_ID}", templating.show_one),
    (f"/templates/{_ID}/diff", template_looks.show_diff),
    (f"/templates/{_ID}/preview", template_looks.show_preview),
    ("/catalog", catalog.show),
    ("/lessons", lessons.show),
    ("/policy", policy.show),
    ("/health", health.show),
)

ACTIONS: tuple[tuple[str, Act], ...] = (
    ("/inbox/decide", deciding.decide),
    ("/inbox/decide-all", deciding.decide_all),
    ("/undo", undoing.undo),
    ("/tasks", task_edits.create),
    (f"/tasks/{_ID}/edit", task_edits.edit),
    (f"/tasks/{_ID}/settle", task_edits.settle),
    (f"/tasks/{_ID}/describe", task_edits.describe),
    (f"/tasks/{_ID}/item", task_edits.item),
    (f"/tasks/{_ID}/add-item", task_edits.add_item),
    (f"/tasks/{_ID}/note", task_edits.note),
    (f"/tasks/{_ID}/label", task_edits.label),
    (f"/tasks/{_ID}/link", task_edits.link),
    (f"/tasks/{_ID}/timer", task_edits.timer),
    (f"/tasks/{_ID}/time", time_edits.log),
    (f"/tasks/{_ID}/retime", time_edits.retime),
    (f"/tasks/{_ID}/rate", time_edits.rate),
    (f"/tasks/{_ID}/conclude", time_edits.conclude),
    (f"/tasks/{_ID}/delete", task_edits.delete),
    (f"/tasks/{_ID}/assign", agent_controls.assign),
    ("/wake", agent_controls.wake_all),
    (f"/agents/{_ID}/wake", agent_controls.wake),
    (f"/agents/{_ID}/ask", agent_controls.ask),
    (f"/agents/{_ID}/life", agent_controls.live),
    (f"/agents/{_ID}/sleep", agent_controls.sleep),
    (f"/agents/{_ID}/cancel", agent_controls.cancel),
    (f"/agents/{_ID}/set", agent_settings.configure),
    (f"/agents/{_ID}/timer", agent_steering.timer),
    (f"/agents/{_ID}/watch", agent_steering.watch),
    (f"/agents/{_ID}/template", template_edits.assign_to),
    ("/templates", template_edits.create),
    ("/templates/use", template_edits.use),
    (f"/templates/{_ID}/set", template_edits.change),
    (f"/templates/{_ID}/version", template_edits.add_version),
    (f"/templates/{_ID}/rollback", template_edits.roll_back),
    (f"/templates/{_ID}/assign", template_edits.assign),
    (f"/templates/{_ID}/delete", template_edits.delete),
    (f"/wakes/{_RUN}/rate", lessons.rate),
    ("/catalog/categories", catalog.add_category),
    (f"/catalog/categories/{_ID}", catalog.rename_category),
    (f"/catalog/categories/{_ID}/correct", catalog.correct_category),
    ("/catalog/labels", catalog.add_label),
    (f"/catalog/labels/{_ID}/delete", catalog.delete_label),
    ("/lessons/learn", lessons.learn),
    ("/policy/allow", policy.allow),
    ("/policy/withdraw", policy.withdraw),
    ("/policy/models", policy.rule),
    ("/prove", health.prove),
)
