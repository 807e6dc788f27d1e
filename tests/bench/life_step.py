"""A step of the slider of a life: processor time beside that of the page of the life as it is now.

    .venv/bin/python tests/bench/life_step.py [WAKES_OF_THE_AGENT] [WAKES_OF_THE_HOME]

One agent has woken so often; the home's views are filled up with copies of its wakes, so that they
meet as many documents as a home of that size has. What a step reads of the logs it finds by
halving, and by the streams of one agent.
"""

import os
import platform
import random
import sys
import tempfile
import time
from pathlib import Path

from starlette.testclient import TestClient

from adapters.web.app import make_app
from adapters.web.auth import Guard
from adapters.web.site import Site
from projections import agents
from tests.bench.at_bisect import live
from tests.bench.web_pages import ADDRESS, copied

STEPS, MOST_MS = 60, 200


def main() -> None:
    own, all_of_it = ([int(one) for one in sys.argv[1:]] + [2_000, 100_000][len(sys.argv) - 1 :])[
        :2
    ]
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder) / "home"
        live(home, own, 1)
        with_views = Site(home, os.environ)
        with_views.catch_up()
        agent = with_views.home.views.page(agents.VIEW)[0].id
        with_views.close()
        copied(home, "wakes", all_of_it)
        site = Site(home, os.environ)
        url = f"/agents/{agent}/life"
        with TestClient(make_app(site, Guard("127.0.0.1", 8765)), base_url=ADDRESS) as client:
            first = spent(client, url)
            now = min(spent(client, url) for _ in range(5))
            moments = client.get(f"{url}.json").json()["moments"]
            drawn = random.Random(1)
            jumps = [spent(client, f"{url}?nth={drawn.randint(1, moments)}") for _ in range(STEPS)]
            at = moments // 2
            steps = [spent(client, f"{url}?nth={at + nth}") for nth in range(STEPS)]
        site.close()
    print(f"{platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}")
    print(f"{own:,} wakes of the agent, {moments:,} moments, {all_of_it:,} wakes in the views")
    print(f"the page of now: {first:.0f} ms at first, then {now:.0f} ms")
    for name, times in (("step", steps), ("jump", jumps)):
        times.sort()
        middle, worst = times[len(times) // 2], times[-1]
        told = f"{middle:.0f} ms, {middle / now:.1f} times now; the worst {worst:.0f} ms"
        print(f"a {name} of the slider: {told} (at most {MOST_MS})")


def spent(client: TestClient, path: str) -> float:
    """Milliseconds of processor time of all of this process's threads."""
    begun = time.process_time()
    assert client.get(path).status_code == 200
    return (time.process_time() - begun) * 1000


if __name__ == "__main__":
    main()
