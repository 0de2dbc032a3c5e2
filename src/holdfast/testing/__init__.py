"""For whoever tests with Holdfast: contracts to inherit, a scripted provider, factories.

`contracts` needs pytest and `strategies` needs Hypothesis; the rest needs neither.
"""
