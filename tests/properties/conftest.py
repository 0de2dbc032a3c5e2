"""How hard properties are tried: HYPOTHESIS_PROFILE=long tries each of them far more often."""

import os

from hypothesis import settings

settings.register_profile("long", deadline=None, max_examples=5000)
if chosen := os.environ.get("HYPOTHESIS_PROFILE"):
    settings.load_profile(chosen)
