"""FeedFnHook keeps the contract of all hooks."""

from tenterhooks.testing import HookContract
from tenterhooks_feed_fn import FeedFnHook


def feed() -> dict[str, float]:
    return {"rate": 0.5}


class TestContract(HookContract):
    hook_class = FeedFnHook
    options = {"feed_fn": feed}
    feeds = {"rate": 0.1}
