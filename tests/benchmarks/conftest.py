"""Programs, not modules: they import each other as they lie beside each other."""

collect_ignore_glob = ["bench_*.py"]
