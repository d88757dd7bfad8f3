"""Tests of the core, which need no plugin."""
