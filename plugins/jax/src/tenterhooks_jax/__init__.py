"""The state adapter for JAX, and for what is built on it."""

from tenterhooks_jax.adapter import JaxAdapter

__all__ = ["JaxAdapter"]
