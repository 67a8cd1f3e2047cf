"""What all tests have in common."""

import os
from collections import Counter
from types import SimpleNamespace

import pytest


def pytest_addoption(parser):
    parser.addoption(
        "--quick",
        action="store_true",
        help="what `make test` asks: no test marked slow, and fewer draws",
    )


def pytest_configure(config):
    config.addinivalue_line("markers", "slow: only `make test-all` asks it")
    if config.pluginmanager.hasplugin("hypothesispytest"):
        draw_examples(config)


def draw_examples(config):
    """Few and always the same with --quick; else Hypothesis explores."""
    from hypothesis import settings

    quick = config.getoption("quick")
    settings.register_profile(
        "book",
        deadline=None,
        database=None,
        derandomize=quick,
        max_examples=10 if quick else 100,
        print_blob=True,
    )
    if not config.getoption("hypothesis_profile"):
        settings.load_profile("book")


def pytest_collection_modifyitems(config, items):
    """With --quick, leave out what is slow."""
    if config.getoption("quick"):
        slow = [item for item in items if item.get_closest_marker("slow")]
        items[:] = [i for i in items if not i.get_closest_marker("slow")]
        config.hook.pytest_deselected(items=slow)


def pytest_terminal_summary(terminalreporter):
    """Say why tests were skipped: a line for each reason."""
    reports = terminalreporter.stats.get("skipped", [])
    reasons = Counter(report.longrepr[2] for report in reports)
    for reason, number in reasons.items():
        terminalreporter.write_line(f"{number} x {reason}")


@pytest.fixture(scope="session", autouse=True)
def no_workflow():
    """Tests are the same on a desk and in a workflow, which has an address."""
    with pytest.MonkeyPatch.context() as patch:
        for name in os.environ.keys() & {"GITHUB_REPOSITORY", "PAGES_URL"}:
            patch.delenv(name)
        yield


@pytest.fixture(scope="session", autouse=True)
def no_stacks():
    """With each seed torch writes down who set it, for devices not there.

    That takes two milliseconds, and some exercises set thousands of seeds.
    """
    import torch

    absent = (torch.cuda, torch.mtia, torch.xpu)
    with pytest.MonkeyPatch.context() as patch:
        for kind in () if torch.cuda.is_available() else absent:
            nothing = SimpleNamespace(format_stack=list)
            patch.setattr(kind, "traceback", nothing)
        yield


def missing(what: str) -> None:
    """In CI an error, elsewhere the reason of a skip."""
    (pytest.fail if os.environ.get("CI") else pytest.skip)(what)


@pytest.fixture(scope="session")
def chromium():
    """The path of Chromium."""
    # It needs Playwright, as not every test does.
    from tools.editions.pdf import printing

    return printing.program() or missing(
        "browser tests need Chromium (apt install chromium-headless-shell)"
    )


@pytest.fixture(scope="session")
def browser(chromium):
    """Headless Chromium, one for the site and for explorers."""
    from playwright.sync_api import sync_playwright

    from tools.editions.pdf import printing

    try:
        playwright = sync_playwright().start()
    except Exception as error:
        if "Connection closed" not in str(error):
            raise
        missing("Playwright's Node does not start: apt install libatomic1")
    try:
        browser = playwright.chromium.launch(
            executable_path=chromium, args=printing.FLAGS
        )
        yield browser
        browser.close()
    finally:
        playwright.stop()


@pytest.fixture(scope="session")
def site():
    """The folder of the built site; built first where it is missing."""
    from tests.built import ROOT, SITE, build, my_turn

    with my_turn(SITE.parent):
        if not (SITE / "index.html").exists():
            build(ROOT)
    return SITE


@pytest.fixture(scope="session")
def address(site):
    """The site's address."""
    from tests.built import served

    with served(site) as there:
        yield there


@pytest.fixture(scope="session")
def firefox(tmp_path_factory):
    """Headless Firefox, where there is one."""
    from tests.browser import bidi

    if not bidi.program():
        pytest.skip("no Firefox here (apt install firefox-esr)")
    firefox = bidi.Firefox(tmp_path_factory.mktemp("firefox"))
    yield firefox
    firefox.close()
