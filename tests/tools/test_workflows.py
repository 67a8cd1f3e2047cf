"""The workflows: what they may do, what they run, and for whom."""

import re

import pytest
import yaml

from tools.source.taught import ROOT

FOLDER = ROOT / ".github" / "workflows"
TEXTS = {path.stem: path.read_text("utf-8") for path in FOLDER.glob("*.yml")}
FLOWS = {name: yaml.safe_load(text) for name, text in TEXTS.items()}
JOBS = [(name, job) for name in FLOWS for job in FLOWS[name]["jobs"].values()]
ON = {name: flow[True] for name, flow in FLOWS.items()}  # `on` is true in YAML
MAKEFILE = (ROOT / "Makefile").read_text("utf-8")
PINNED = re.compile(r"uses: (\./|actions/[\w-]+@[0-9a-f]{40} # v\d+(\.\d+)+$)")


def steps(job):
    return job.get("steps", [])


def rows(job):
    """What the names of a job's matrix stand for, one run after the other."""
    return job.get("strategy", {}).get("matrix", {}).get("include", [{}])


def test_what_a_workflow_runs_can_be_run_here():
    places = [each for _, job in JOBS for each in (*steps(job), *rows(job))]
    runs = {each["run"] for each in places if "run" in each}
    runs -= {"${{ matrix.run }}"}
    assert len(runs) >= 10
    targets = re.findall(r"^([a-z-]+):", MAKEFILE, re.M)
    for line in runs:
        program, *arguments = line.split()
        if program == "make":
            assert arguments and set(arguments) <= set(targets), line
        else:
            place = {"bash": 0, ".venv/bin/python": -1}[program]
            assert (ROOT / arguments[place]).exists(), line


@pytest.mark.parametrize("name", FLOWS)
def test_foreign_actions_are_the_services_own_and_of_one_version(name):
    uses = [line for line in TEXTS[name].splitlines() if "uses:" in line]
    assert uses and all(map(PINNED.search, uses))
    versions = re.findall(r"(actions/[\w-]+)@(\S+)", "".join(TEXTS.values()))
    assert len(dict(versions)) == len({*versions})


@pytest.mark.parametrize("name, job", JOBS)
def test_nobody_may_do_more_than_the_job_needs(name, job):
    top = FLOWS[name]["permissions"]
    assert top in ({}, {"contents": "read"})
    may = job.get("permissions", top)
    writes = {what for what, how in may.items() if how == "write"}
    runs = [step["run"] for step in steps(job) if "run" in step]
    if "make publish" in runs:
        assert writes == {"contents"}
    elif "environment" in job:
        assert writes == {"pages", "id-token"} and not runs
        assert may["contents"] == "read"
    else:
        assert not writes
    for step in steps(job) if "contents" not in writes else ():
        if "checkout" in step.get("uses", ""):
            assert step["with"]["persist-credentials"] is False


def test_pull_requests_publish_nothing_and_what_is_published_was_tested():
    main, tags = {"branches": ["main"]}, {"tags": ["v*"]}
    assert ON["publish"]["push"] == main | tags
    assert {*ON["publish"]} == {"push", "workflow_dispatch"}
    assert {*ON["pages"]} == {"workflow_run", "workflow_dispatch"}
    assert ON["test"]["push"] == {"branches-ignore": main["branches"]}
    for name, text in TEXTS.items():
        assert "pull_request_target" not in text and "secrets" not in text
        assert "pull_request" not in ON[name] or ": write" not in text
    test, publish = FLOWS["publish"]["jobs"].values()
    assert test["uses"] == "./.github/workflows/test.yml"
    assert publish["needs"] == "test"
    only = "github.ref == 'refs/heads/main' || "
    assert publish["if"] == only + "startsWith(github.ref, 'refs/tags/v')"
    assert publish["steps"][0]["with"] == {"fetch-depth": 0}  # for histories
    ask, deploy = FLOWS["pages"]["jobs"].values()
    assert ON["pages"]["workflow_run"]["workflows"] == ["publish"]
    for needed in ("event != 'pull_request'", "conclusion == 'success'"):
        assert f"workflow_run.{needed}" in ask["if"]
    assert deploy["steps"][0]["with"]["ref"] == "site"


@pytest.mark.parametrize("name, job", JOBS)
def test_what_an_expression_names_is_there(name, job):
    """Outputs of steps and jobs, and what a matrix has."""
    there = {
        "steps": [{step["id"] for step in steps(job) if "id" in step}],
        "needs": [FLOWS[name]["jobs"]],
        "matrix": rows(job),
        "inputs": [(ON[name].get("workflow_dispatch") or {}).get("inputs")],
        "github": [],
    }
    for expression in re.findall(r"\$\{\{ (.*?) \}\}", str(job)):
        owner, member = expression.split(".")[:2]
        assert all(member in known for known in there[owner]), expression
