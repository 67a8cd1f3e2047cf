"""The workflows: what they may do, what they run, and for whom."""

import re

import pytest
import yaml

from tools.source.taught import ROOT

FOLDER = ROOT / ".github" / "workflows"
TEXTS = {path.stem: path.read_text("utf-8") for path in FOLDER.glob("*.yml")}
FLOWS = {name: yaml.safe_load(text) for name, text in TEXTS.items()}
TARGETS = re.findall(
    r"^([a-z-]+):", (ROOT / "Makefile").read_text("utf-8"), re.M
)
PINNED = re.compile(r"uses: actions/[\w-]+@[0-9a-f]{40} # v\d+(\.\d+)+$")


def triggers(name):
    return FLOWS[name][True]  # YAML reads `on` as true


def jobs(*names):
    for name in names or FLOWS:
        for job in FLOWS[name]["jobs"].values():
            yield name, job


def steps(*names):
    return [s for _, job in jobs(*names) for s in job.get("steps", [])]


def rows(job):
    """What the names of a job's matrix stand for, one run after the other."""
    return job.get("strategy", {}).get("matrix", {}).get("include", [{}])


def test_what_a_workflow_runs_can_be_run_here():
    runs = set()
    for _, job in jobs():
        for row in rows(job):
            for step in job.get("steps", []):
                line = step.get("run", "")
                for name, value in row.items():
                    line = line.replace(
                        f"${{{{ matrix.{name} }}}}", str(value)
                    )
                runs.add(line)
    assert len(runs) >= 10
    for line in runs - {""}:
        program, *arguments = line.split()
        if program == "make":
            assert arguments and set(arguments) <= set(TARGETS), line
        else:
            place = {"bash": 0, ".venv/bin/python": -1}[program]
            assert (ROOT / arguments[place]).exists(), line


@pytest.mark.parametrize("name", FLOWS)
def test_foreign_actions_are_the_services_own_and_pinned(name):
    uses = [line for line in TEXTS[name].splitlines() if "uses:" in line]
    assert uses
    for line in uses:
        assert "uses: ./" in line or PINNED.search(line), line
    pins = re.findall(r"(actions/[\w-]+)@(\S+)", "".join(TEXTS.values()))
    assert len(dict(pins)) == len({*pins})  # one version of each


@pytest.mark.parametrize("name, job", [*jobs()])
def test_nobody_may_do_more_than_the_job_needs(name, job):
    top = FLOWS[name]["permissions"]
    assert top in ({}, {"contents": "read"})
    may = job.get("permissions", top)
    writes = {what for what, how in may.items() if how == "write"}
    run = " ".join(step.get("run", "") for step in job.get("steps", []))
    if "make publish" in run:
        assert writes == {"contents"}
    elif "environment" in job:
        assert writes == {"pages", "id-token"}
        assert may["contents"] == "read" and not run.strip()
    else:
        assert not writes
    if "contents" not in writes:
        for step in job.get("steps", []):
            if "checkout" in step.get("uses", ""):
                assert step["with"]["persist-credentials"] is False


def test_pull_requests_publish_nothing():
    assert {*triggers("publish")} == {"push", "workflow_dispatch"}
    assert triggers("publish")["push"] == {
        "branches": ["main"],
        "tags": ["v*"],
    }
    assert {*triggers("pages")} == {"workflow_run", "workflow_dispatch"}
    ask = FLOWS["pages"]["jobs"]["ask"]["if"]
    assert "workflow_run.event != 'pull_request'" in ask
    assert "workflow_run.conclusion == 'success'" in ask
    for name in FLOWS:
        assert "pull_request_target" not in TEXTS[name]
        if "pull_request" in triggers(name):
            assert not any("write" in str(j) for _, j in jobs(name))
    assert "secrets" not in "".join(TEXTS.values())


def test_what_is_published_was_tested():
    test, publish = FLOWS["publish"]["jobs"].values()
    assert test["uses"] == "./.github/workflows/test.yml"
    assert "workflow_call" in triggers("test")
    assert publish["needs"] == "test"
    only = "github.ref == 'refs/heads/main' || "
    assert publish["if"] == only + "startsWith(github.ref, 'refs/tags/v')"
    pushed = triggers("test")["push"]
    assert pushed == {
        "branches-ignore": triggers("publish")["push"]["branches"]
    }


def test_the_website_is_laid_out_once_at_a_time_and_only_if_it_may_be():
    flow, (ask, deploy) = FLOWS["pages"], FLOWS["pages"]["jobs"].values()
    assert flow["concurrency"]["cancel-in-progress"] is False
    assert triggers("pages")["workflow_run"]["workflows"] == ["publish"]
    assert ask["steps"][0]["continue-on-error"] is True
    assert deploy["needs"] == "ask"
    assert deploy["if"] == "needs.ask.outputs.is-on == 'true'"
    assert deploy["environment"]["name"] == "github-pages"
    names = [step["uses"].split("@")[0] for step in deploy["steps"]]
    assert names == [
        "actions/checkout",
        "actions/upload-pages-artifact",
        "actions/deploy-pages",
    ]
    assert deploy["steps"][0]["with"]["ref"] == "site"


def test_the_pages_get_their_history_and_their_address():
    checkout, pages, *_, publish = steps("publish")
    assert checkout["with"] == {"fetch-depth": 0}
    assert pages["continue-on-error"] is True
    assert publish["run"] == "make publish"
    said = publish["env"]["PAGES_URL"]
    assert said == "${{ steps.pages.outputs.base_url }}"
    inputs = triggers("publish")["workflow_dispatch"]["inputs"]
    assert publish["env"]["GONE"] == "${{ inputs.gone }}"
    assert inputs["gone"]["default"] is False


def test_what_an_expression_names_is_there():
    """Outputs of steps and jobs, inputs, and what a matrix has."""
    known = "github|inputs|steps|needs|matrix"
    for name, job in jobs():
        ids = {s["id"] for s in job.get("steps", []) if "id" in s}
        for step in re.findall(r"steps\.([\w-]+)\.", str(job)):
            assert step in ids, (name, step)
        for needed in re.findall(r"needs\.([\w-]+)\.", str(job)):
            assert needed in FLOWS[name]["jobs"]
        for column in re.findall(r"matrix\.([\w-]+)", str(job)):
            assert all(column in row for row in rows(job)), (name, column)
        for expression in re.findall(r"\$\{\{(.*?)\}\}", str(job)):
            assert re.match(rf" (?:{known})\.", expression), expression
