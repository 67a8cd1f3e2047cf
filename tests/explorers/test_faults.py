"""Scripts broken on purpose: what compares an explorer notices each fault.

A module with `FAULTS` has `check(shown)`, which raises what is caught here;
where numbers of its sample are rounded, `exact()` is shown instead.
"""

import pytest
from playwright.sync_api import Error

from tests.explorers.samples import MODULES, SAMPLES
from tests.site.pages import quickly

SHOWN = {
    name: getattr(module, "exact", module.sample)
    for name, module in MODULES.items()
    if name in SAMPLES and hasattr(module, "FAULTS")
}
LONG = ("beams", "dates")
# The first fault of each is quick, but not where it takes long.
TRIALS = [
    pytest.param(
        name,
        fault,
        id=f"{name}: {said}",
        marks=[pytest.mark.slow] * (n > 0 or name in LONG),
    )
    for name in SHOWN
    for n, (said, fault) in enumerate(MODULES[name].FAULTS.items())
]


@pytest.mark.parametrize("name, fault", TRIALS)
def test_a_fault_is_noticed(show, name, fault):
    shown = show(SHOWN[name](), fault=fault)
    with pytest.raises((AssertionError, Error, TypeError, ValueError)):
        MODULES[name].check(shown)


@pytest.mark.parametrize("name", quickly(SHOWN, lambda n: n not in LONG))
def test_without_a_fault_nothing_is_noticed(show, name):
    MODULES[name].check(show(SHOWN[name]()))
