"""Noise in whole numbers, for ``count``, ``margin``, ``histogram`` and ``top`` (docs/theory.md §11)."""

from tinct.questions.noise._count_noise import Noise, TableNoise, count_noise
from tinct.questions.noise.geometric import GeometricNoise
from tinct.questions.noise.noise_certificate import NoiseCertificate

__all__ = ["GeometricNoise", "Noise", "NoiseCertificate", "TableNoise", "count_noise"]
