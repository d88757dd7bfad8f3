"""Tests of all distributions together."""
