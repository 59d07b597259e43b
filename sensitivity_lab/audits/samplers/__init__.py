"""Audits of code that draws its noise from a sampler."""
