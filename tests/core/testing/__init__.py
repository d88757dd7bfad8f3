"""Tests of the author kit."""
