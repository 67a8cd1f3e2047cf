"""The lab: what trains in the page, and what a reader does to it."""

from base64 import b64encode
from time import sleep

import pytest
import torch
from playwright.sync_api import expect
from safetensors.torch import load_file, save_file

from kit.explorers.lab import lab_explorer, small_lab
from kit.lab import ANY, TASKS, NumberModel
from tests.browser.visit import until
from tests.built import first_quick

PAGE = "book/lab.html"
SHORT = {"task": "lookup", "length": 7, "steps": 200, "batch": 16, "seed": 2}
ELEMENT = "document.querySelector('lab-explorer')"
FEW = SHORT | {"batch": 8}  # it learns less, in less time
READY = f"{ELEMENT}?.runs?.[0].last"
DONE = f"{READY}?.finished && !{ELEMENT}.running && !{ELEMENT}.painting"
# What a run with these settings tells: its losses and rows that are right.
RUN = """(given) => {
  const run = new Trainer.Run(given), losses = [];
  while (run.step < run.settings.steps) losses.push(run.learn());
  return { losses, ...run.measure(500) };
}"""
# What a model with the weights of a file says of some rows.
LOADED = """([given, base64]) => {
  const run = new Trainer.Run(given), rows = run.unseen(20);
  run.load(Uint8Array.from(atob(base64), (c) => c.charCodeAt(0)).buffer);
  return { rows, said: run.say(rows).said };
}"""
TOLD = f"""(() => {{
  const {{ losses, last: {{ right, of }} }} = {ELEMENT}.runs[0];
  return {{ losses: losses.map(([, loss]) => loss), right, of }};
}})()"""
FULLEST = [
    {
        "first": {
            "task": "brackets",
            "length": 12,
            "answers": "in turn",
            "layers": 3,
            "heads": 8,
            "norm": "before",
            "rate": 0.03,
            "warm_up": 50,
            "batch": 8,
            "steps": 200,
            "seed": 12,
            "never": ["positions", "2.7"],
            "taken": ["norm"],
            "table": "",
        },
        "second": {"never": ["causal"], "taken": [], "layers": 2},
        "two": True,
    }
]
KEYS = [
    ("Tab Tab", "task"),
    ("Tab Tab Tab", "seed"),
    ("ArrowUp Tab Space", {"two": True}),
    ("Tab", "Train"),
    ("Tab Enter Tab", "Another row"),
    ("Tab Tab Space", {"slow": True}),
    ("Tab", "attention, first run"),
    ("Tab", "attention, second run"),
]
SAYS = [
    (
        {"two": True, "second": {"never": ["choice"], "taken": ["0.1"]}},
        "h2",
        [
            "First run: with all its parts",
            "Second run: never there: choice of where to look; "
            "taken out: block 0, head 1",
        ],
    ),
]

GROWS = "the lab is a page: it is as high as what was chosen"


def sample():
    return lab_explorer()


def trained(shown, **state):
    """Press Train, and wait."""
    shown.set(**state)
    until(shown.page, READY)
    shown.get("button", "Train").click()
    until(shown.page, DONE)


@pytest.fixture
def lab(opened, address):
    """The page of the site, at settings that its address says."""

    def open_lab(hash, root=address):
        visit = opened(root + PAGE + hash)
        until(visit.tab, READY)
        return visit.tab

    return open_lab


def hash_of(settings):
    """The end of an address that has them."""
    return "#lab?" + "&".join(f"{name}={settings[name]}" for name in settings)


@pytest.mark.parametrize("name", TASKS)
def test_a_task_is_the_notebooks(page, name):
    """Of each row the answer, and whether it is held back."""
    task = TASKS[name]
    length = {"lookup": 7, "brackets": 12}.get(name, 8)
    drawn = torch.Generator().manual_seed(4)
    rows = torch.cat(
        [task.rows(40, length, unseen, drawn) for unseen in (True, False)]
    )
    found = page.evaluate(
        """([name, rows]) => {
      const { signs, unseen, answer } = Trainer.TASKS[name];
      return { vocab: signs.length, unseen: rows.map(unseen),
        answers: rows.map(answer) };
    }""",
        [name, rows.tolist()],
    )
    answers = task.answer(rows)
    wanted = torch.where(answers == ANY, -1, answers)
    assert found["answers"] == wanted.tolist()
    assert found["unseen"] == [True] * 40 + [False] * 40
    assert found["vocab"] == task.vocab_size


def test_a_run_is_that_of_its_seed_and_the_result_is_said(shown):
    """On the page's own thread, as in a file; nothing is prepared."""
    first = FEW | {"never": ["norm"]}
    trained(shown, first=first)
    told = shown.page.evaluate(TOLD)
    assert told == shown.page.evaluate(RUN, first)
    share = f"{100 * told['right'] / told['of']:.1f}%"
    assert shown.text("[aria-live]") == (
        "This run: never there: norm, look up, seed 2: after 200 steps "
        f"{share} of 500 unseen rows are right."
    )
    assert shown.text(".result b") == share


def test_in_turn_it_reads_what_it_wrote(page):
    """With the mask from the start it writes; looking ahead, it cannot."""
    first = SHORT | {"task": "reverse", "length": 4, "batch": 32}
    first["answers"] = "in turn"
    with_mask, without = (
        page.evaluate(RUN, first | {"never": never})
        for never in ([], ["causal"])
    )
    assert without["losses"][-1] < with_mask["losses"][-1]
    assert without["right"] < 0.2 * without["of"] < with_mask["right"]


def test_what_is_taken_out_is_out_at_once(shown):
    """And what was never there is another run."""
    trained(shown, first=SHORT)
    before = shown.page.evaluate(TOLD)
    assert before["right"] > 0.9 * before["of"]
    choice = shown.get("combobox", "choice of where to look, first run")
    for state, wanted in (
        ("taken", ".right < 250"),
        ("there", f".right === {before['right']}"),
        ("never", "?.step === 0"),
    ):
        choice.select_option(state)
        until(shown.page, READY + wanted)


@pytest.mark.slow
def test_two_runs_of_one_seed_differ_by_the_part(shown):
    trained(shown, first=SHORT, two=True)
    same = "((e) => e.runs.map((run) => run.last.right))"
    first, second = shown.element.evaluate(same)
    assert first == second
    trained(shown, second={"never": ["choice"], "taken": []})
    first, second = shown.element.evaluate(same)
    assert second < 100 < 400 < first


def test_the_page_trains_in_a_worker_as_on_its_own(lab, root):
    """On a server and, where a page may start no Worker, in a file."""
    tab = lab(hash_of(FEW), root)
    tab.get_by_role("button", name="Train").click()
    until(tab, DONE)
    assert tab.evaluate(TOLD) == tab.evaluate(RUN, FEW)
    assert bool(tab.workers) == root.startswith("http")


@pytest.mark.slow
@pytest.mark.parametrize("place", ["http", "file"])
def test_firefox_trains_it_too(firefox, site, address, place):
    root = address if place == "http" else f"{site.as_uri()}/"
    firefox.open(root + PAGE + hash_of(SHORT))

    def wait_for(expression):
        for _ in range(1200):
            if firefox.evaluate(f"Boolean({expression})"):
                return
            sleep(0.05)
        raise TimeoutError(expression)

    wait_for(READY)
    firefox.evaluate(f"void {ELEMENT}.press()")
    wait_for(DONE)
    told = firefox.evaluate(TOLD)
    assert told["right"] > 0.9 * told["of"]
    # It would load the next page beforehand, which no policy lets it.
    assert [said for said in firefox.messages if ".html" not in said] == []


def test_a_link_has_all_that_was_chosen(lab, opened):
    tab = lab("")
    tab.get_by_label("task").select_option("lookup")
    tab.get_by_label("a second run beside it").check()
    tab.get_by_label("positions, second run").select_option("never")
    tab.get_by_text("Heads one by one").click()
    tab.get_by_label("block 0, head 1, first run").select_option("taken")
    value = tab.evaluate(f"{ELEMENT}.value")
    link = tab.evaluate("location.href")
    other = opened(link).tab
    until(other, READY)
    assert other.evaluate(f"{ELEMENT}.value") == value
    assert value["second"]["never"] == ["positions"]
    tab.get_by_role("button", name="Start again").click()
    assert "#" not in tab.evaluate("location.href")


def test_each_question_is_set_up_by_its_link(lab):
    tab = lab("")
    links = tab.locator("a[href^='#lab?']")
    assert links.count() == 6
    for link in links.all():
        link.click()
        task = f"'task=' + {ELEMENT}.value.first.task"
        until(tab, f"{link.get_attribute('href')!r}.includes({task})")
        until(tab, READY)
        expect(tab.get_by_role("alert")).to_be_hidden()


def test_an_address_of_a_section_leads_there(lab):
    """The lab writes its settings into the address; it leaves others."""
    tab = lab("#the-runs-behind-the-answers")
    assert tab.evaluate("location.hash") == "#the-runs-behind-the-answers"
    expect(tab.get_by_role("heading", name="The runs")).to_be_in_viewport()


@pytest.mark.parametrize(
    ("setting", "said"),
    first_quick(
        [
            ("length=99", "length=99: expected 4 to 10."),
            ("never=sound", "never=sound: expected some of attention, choice"),
            ("colour=red", "colour: no such setting."),
            ("two=maybe", "two: no such setting."),
            ("second.seed=2", "second.seed: both runs have the same."),
            ("table=ab", "table=ab: expected none for this task."),
            ("rate=0.5", "rate=0.5: expected 0.001, 0.003"),
        ]
    ),
)
def test_a_setting_that_cannot_be_is_named(lab, setting, said):
    tab = lab(f"#lab?{setting}")
    expect(tab.get_by_role("alert")).to_contain_text(said)


def test_a_table_of_the_readers_own(shown):
    """It is used; what cannot be is named with its line."""
    lines = [f"{a}{b} → {b}{a}" for a in "abcde" for b in "abcde"]
    first = SHORT | {"task": "table", "length": 8}
    first["table"] = "\n".join(lines)
    trained(shown, first=first)
    told = shown.page.evaluate(TOLD)
    assert told["of"] == 5  # a fifth, and not a column of the table
    held = shown.all(".looks")[0].removeprefix("Never trained on: ")
    assert len({line[1] for line in held.rstrip(".").split(", ")}) > 2
    assert told["losses"][-1] < 0.1
    for table, said in {
        "\n".join(lines[:9]): "At least 10 lines, please.",
        "\n".join([*lines, "ab = ba"]): "Line 26: write it as 3+4 → 07.",
        "\n".join([*lines, "ab → bb"]): "Line 26: ab had another answer.",
        "\n".join([*lines, "a → ba"]): "Line 26: the answer has more "
        "characters than the row.",
    }.items():
        shown.set(first=first | {"table": table})
        expect(shown.get("alert")).to_have_text(said)


def test_weights_that_the_page_trained_say_the_same_in_torch(shown, tmp_path):
    trained(shown, first=SHORT)
    shown.element.get_by_text("Weights", exact=True).click()
    with shown.page.expect_download() as download:
        shown.get("button", "Save the weights").click()
    path = tmp_path / "weights"
    download.value.save_as(path)
    assert download.value.suggested_filename == "lookup-2.safetensors"
    model = NumberModel(TASKS["lookup"].vocab_size)
    weights = load_file(path)
    model.load_state_dict(weights, strict=True)
    base64 = b64encode(path.read_bytes()).decode()
    found = shown.page.evaluate(LOADED, [SHORT, base64])
    rows = torch.tensor(found["rows"])
    said = model(rows).argmax(-1)[:, -3:].tolist()
    assert said == [line[-3:] for line in found["said"]]
    # They come back, into a model that has learnt nothing.
    shown.set(first=SHORT | {"seed": 5})
    until(shown.page, f"{READY}?.step === 0 && {READY}.right < 100")
    shown.get("button", "Weights for the first run").set_input_files(path)
    until(shown.page, f"{READY}.right > 400")
    result = shown.element.locator(".frame .result")  # drawn a moment later
    expect(result).to_contain_text("loaded weights, step 0")
    # What does not fit changes nothing.
    del weights["output.bias"]
    save_file(weights, path)
    shown.get("button", "Weights for the first run").set_input_files(path)
    expect(shown.get("alert")).to_have_text(
        "output.bias is missing in this file."
    )
    assert shown.page.evaluate(f"{READY}.right") > 400


@pytest.mark.parametrize("width", first_quick([360, 1100]))
def test_nothing_moves_while_it_trains(show, width):
    shown = show(sample(), width=width)
    shown.set(first=FEW, second={"never": ["norm"], "taken": []}, two=True)
    until(shown.page, READY)
    shown.page.evaluate(f"""() => {{
      globalThis.heights = new Set();
      new ResizeObserver(() => heights.add(
        {ELEMENT}.getBoundingClientRect().height)).observe({ELEMENT});
    }}""")
    shown.get("button", "Train").click()
    until(shown.page, DONE)
    assert shown.page.evaluate("heights.size") == 1


def test_it_rests_where_nobody_looks(shown):
    shown.set(first=SHORT | {"steps": 2000})
    until(shown.page, READY)
    shown.get("button", "Train").click()
    until(shown.page, f"{READY}.step > 0")
    shown.page.evaluate("""() => {
      document.querySelector("main").style.paddingTop = "5000px";
    }""")
    until(shown.page, f"{ELEMENT}.away")
    shown.page.wait_for_timeout(300)
    step = shown.page.evaluate(f"{READY}.step")
    shown.page.wait_for_timeout(500)
    assert shown.page.evaluate(f"{READY}.step") == step
    shown.page.evaluate("""() => {
      document.querySelector("main").style.paddingTop = "";
    }""")
    until(shown.page, f"{READY}.step > {step}")
    shown.get("button", "Pause").click()


def test_a_small_one_asks_one_question(show):
    shown = show(
        small_lab("Does it need a choice?", FEW, {"never": ["choice"]})
    )
    assert shown.text(".title") == "Does it need a choice?"
    assert shown.all("button") == ["Start again", "Train"]
    shown.get("button", "Train").click()
    until(shown.page, DONE)
    assert "Second run: never there: choice" in shown.text(".note")
