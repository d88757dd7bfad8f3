"""Tests of the whole: what survives kills, damage, and readers and writers at once."""
