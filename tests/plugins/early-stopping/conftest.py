"""Which tests can be made where the plugin is installed alone."""

from importlib.util import find_spec

# They save, or evaluate, too.
WITH_OTHERS = {"tenterhooks_checkpoint": "test_hook.py", "tenterhooks_evaluator": "test_interrupted.py"}
collect_ignore = sorted(test for plugin, test in WITH_OTHERS.items() if find_spec(plugin) is None)
