"""Tests of tenterhooks-estimator."""
