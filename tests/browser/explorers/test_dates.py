"""The date explorer: what it shows is what the library computes.

The page computes in float64, as `date_model` does, so both must agree to the
last digits, with the weights as the page loads them (float16).
"""

import copy
import functools
from base64 import b64encode
from pathlib import Path

import pytest
import torch
from playwright.sync_api import expect
from safetensors.torch import load_file, save

from kit import dates
from kit.dates import generate, splits
from kit.explorers import FOLDER as FILES
from kit.explorers.dates import date_explorer, examples
from kit.trained import FOLDER, date_model
from lib.beams import beam_search
from lib.checkpoints import save_checkpoint
from lib.decoding import greedy
from lib.heads import record_weights
from lib.training import Recipe, Trainer
from lib.transformer import Transformer, TransformerConfig
from tests.browser.explorers.shown import close, number
from tests.browser.visit import until
from tools.editions import weights

LIMIT = 16
CROSS = "decoder.blocks.0.cross_attention"
SELF = "decoder.blocks.0.self_attention"
ENCODER = "encoder.blocks.0.attention"
PLACES = {"cross": CROSS, "self": SELF, "encoder": ENCODER}
HEADS = ["mean", "head 0", "head 1", "head 2", "head 3"]
TEXT = "dimanche 3 mars 2019"
BOOK = "the book’s weights"
LIVE = "document.querySelector('date-explorer').live"
ON = """(async () => {
  const explorer = document.querySelector("date-explorer");
  await explorer.ask();
  explorer.value = explorer.start;
})()"""
INK = "(cell) => Number(cell.style.getPropertyValue('--w'))"
# What can be taken away; and it is taken away.
INTACT = {"silent": [], "pads": 0}
INTACT |= dict.fromkeys(["positions", "scale", "causal", "padding"], True)
LESS = [
    {"silent": [f"{CROSS}.1", f"{SELF}.3", f"{ENCODER}.0"]},
    {"positions": False},
    {"scale": False},
    {"causal": False},
    {"pads": 12},
    {"pads": 12, "padding": False},
]
LESS.append(functools.reduce(dict.__or__, LESS))
KEYS = [
    ("Tab Tab", "A date in words"),
    ("Tab Tab Tab Enter", {"text": "March 3rd, 2019", "step": 9}),
    ("Tab Tab Tab Tab Tab Tab Tab Tab Tab ArrowRight", {"head": "head 0"}),
    ("Tab", "3"),
    ("ArrowLeft ArrowLeft", {"step": 7}),
    ("Tab", "Attention weights"),
    ("ArrowDown", {"step": 8}),
    ("ArrowUp ArrowUp", {"step": 6}),
    ("", "Attention weights"),
]


def sample():
    return date_explorer()


@functools.cache
def halves():
    """The date model with the weights that the page has: float16."""
    found = copy.deepcopy(date_model())
    for weight in found.model.parameters():
        weight.data = weight.data.half().double()
    return found


@pytest.fixture
def live(show):
    """Open it with the model loaded, at its start."""

    def open_live(**options):
        shown = show(sample(), **{"still": True} | options)
        shown.page.evaluate(ON)
        return shown

    return open_live


def type_in(shown, text):
    """What a reader types, and Enter."""
    shown.get("textbox").fill(text)
    shown.press("Enter")


def part(shown, name):
    return shown.element.locator(f".{name}")


def tiles(shown):
    return part(shown, "tiles").first.get_by_role("button")


def signs_of(ids):
    """How the page writes these tokens."""
    signs = {"<pad>": "∅", "<bos>": "⊢", "<eos>": "end"}
    names = (halves().target.tokens[i] for i in ids)
    return [signs.get(name, name) for name in names]


@functools.cache
def answer(text, model=None, pads=0, causal=True):
    """What the library writes: every token, and the end.

    Returns:
        The tokens, the share of each in each step, the weights of each view.
    """
    model = model or halves().model
    ids = halves().source.encode(" ".join(text.split())) + [0] * pads
    ids = torch.tensor([ids])
    written = greedy(model, ids, LIMIT)
    given = torch.cat([torch.ones_like(ids[:, :1]), written[:, :-1]], dim=1)
    every = torch.ones(1, 1, *2 * [given.shape[1]], dtype=torch.bool)
    with record_weights(model) as found:
        logits = model(ids, given, None, None if causal else every)[0]
    views = {view: found[name][0] for view, name in PLACES.items()}
    return signs_of(written[0].tolist()), logits.softmax(-1), views


def iso_of(text, model=None):
    return "".join(answer(text, model)[0]).removesuffix("end")


def written(shown):
    """What the page writes."""
    return "".join(tiles(shown).all_inner_texts()).removesuffix("end")


def assert_shows(shown, model=None, within=1e-9, **state):
    """What it writes and draws in a state is what the library computes."""
    shown.set(**state)
    state = shown.value
    text, view, step = state["text"], state["view"], state["step"]
    pads, causal = state["pads"], state["causal"]
    tokens, p, _ = answer(text, model, pads)  # each token sees those before it
    *_, views = answer(text, model, pads, causal)
    assert tiles(shown).all_inner_texts() == tokens
    said = f"{tokens[-1]}, character {len(tokens)} of {len(tokens)}"
    expect(tiles(shown).last).to_have_accessible_name(said)
    heads = torch.cat([views[view].mean(0, keepdim=True), views[view]])
    looks = heads[HEADS.index(state["head"])]
    # What is drawn, and what a screen reader reads.
    for read, room in ((INK, 0), ("(c) => Number(c.textContent)", 5.01e-3)):
        rows = f"(row) => [...row.cells].slice(1).map({read})"
        close(shown.all(".look tbody tr", rows), looks, within + room)
    row = looks[state["row"] if view == "encoder" else step]
    close(shown.all(".look .bars td", INK), row, within)
    future = len(looks) * (len(looks) - 1) / 2 * causal
    padding = len(looks) * pads * state["padding"]
    hidden = future if view == "self" else padding
    assert part(shown, "unseen").count() == hidden
    share, ids = p[step].topk(5)
    assert shown.all(".tops dt") == signs_of(ids.tolist())
    close(shown.numbers(".tops .number"), share, 6e-3)
    close(shown.all(".tops i", INK), share, within)
    if view == "cross" and pads == 0:
        after = "".join(tokens[:step]) or "nothing"
        sign = {" ": "␣"}.get(text[row.argmax()], text[row.argmax()])
        is_sure = row.max() >= 0.05
        where = f"most at {sign} " if is_sure else "everywhere a little."
        start = f"Writing {tokens[step]} after {after}, it looks {where}"
        note = shown.text(".note")
        assert note.startswith(start)
        if is_sure:
            share = float(note[len(start) :][:4])
            close(share, row.max(), within + 5.01e-3)


def test_the_files_of_the_page_are_not_stale():
    for name, text in weights.texts().items():
        stored = (FILES / name).read_text(encoding="utf-8")
        assert stored == text, "run `make weights`"


def test_the_examples_are_shown_without_the_model(show, few):
    shown = show(sample(), still=True)
    languages = {example["language"] for example in examples()}
    assert len(languages) == len(dates.LANGUAGES)
    for example in examples()[: few(10, 2)]:
        shown.get("button", example["language"], exact=True).click()
        assert shown.value["text"] == example["text"]
        for head in ("mean", "head 2"):
            assert_shows(shown, within=2e-3, head=head)
    assert shown.element.evaluate("(e) => e.live === null")
    assert shown.all("details", "(e) => e.inert") == [True] * 3
    shown.set(text="3 mars 2020")
    expect(part(shown, "problem")).to_contain_text("Load the model")
    expect(tiles(shown).first).not_to_be_visible()


# --- With the model


def test_what_is_written_and_drawn_is_what_torch_computes(live, few):
    shown = live()
    for n, example in enumerate(generate(splits()["test"], few(100, 9), 3)):
        state = {"text": example.text, "view": [*PLACES][n % 3]}
        assert_shows(shown, **state, head=HEADS[n % 5], step=n % 10)


def without(silent=(), scale=True, positions=True, padding=True, **_):
    """The library's model without these parts.

    Heads are silenced in chapter 12's way: zero columns in the output matrix.
    """
    model = copy.deepcopy(halves().model)
    for head in silent:
        name, number = head.rsplit(".", 1)
        columns = slice(16 * int(number), 16 * int(number) + 16)
        model.get_submodule(name).out_proj.weight[:, columns] = 0
    if not positions:
        model.positions.table.zero_()
    if not padding:
        model.source_mask = lambda ids: torch.ones_like(ids)[:, None, None] > 0
    if not scale:  # by so much it would shorten
        for name in PLACES.values():
            projection = model.get_submodule(name).in_proj
            projection.weight[:64] *= 4
            projection.bias[:64] *= 4
    return model


def test_without_its_parts_it_is_the_library_without_them(live, few):
    shown = live()
    for example in generate(splits()["test"], few(9, 1), seed=15):
        for less in LESS[:: few(1, 2)]:
            shown.set(text=example.text, **INTACT | less)
            model = without(**less)
            for n, view in enumerate(PLACES):
                assert_shows(shown, model, view=view, head=HEADS[n])


def test_boxes_silence_heads(live):
    shown = live()
    part(shown, "frame summary").first.click()
    for legend in ("decoder, cross", "decoder, self", "encoder"):
        group = shown.get("group", f"heads: {legend}")
        group.get_by_role("checkbox", name="2").uncheck()
    silent = [f"{name}.2" for name in PLACES.values()]
    assert shown.value["silent"] == silent
    assert written(shown) == iso_of(TEXT, without(silent))


def test_without_the_causal_mask_all_rows_are_read_at_once(live):
    shown = live()
    shown.set(causal=False)
    tokens, p, _ = answer(TEXT, causal=False)
    best = signs_of(p.argmax(-1).tolist())
    _, row = part(shown, "tiles").all()
    assert row.get_by_role("button").all_inner_texts() == best
    wrong = sum(one != other for one, other in zip(best, tokens, strict=True))
    assert row.locator(".wrong").count() == wrong > 0


def test_beams_are_listed_with_their_scores(live):
    shown = live()
    part(shown, "frame summary").nth(1).click()
    for text, width in ((TEXT, 4), ("3 ma 20", 2), ("1 fevri 1999", 8)):
        shown.set(text=text, width=width)
        ids = torch.tensor([halves().source.encode(text)])
        found = beam_search(halves().model, ids, width, limit=LIMIT)
        rows = shown.all(".beams tr")[1:]
        for row, ids, *scores in zip(
            rows, found.ids[0], found.log_p[0], found.scores[0], strict=True
        ):
            text, *said = row.split()
            assert text == halves().target.decode(ids)
            close([number(x) for x in said], torch.stack(scores), 5.01e-4)
        part(shown, "beams button").nth(1).click()
        assert written(shown) == halves().target.decode(found.ids[0, 1])
        shown.set(picked=0)


# --- While a reader types


def test_what_cannot_be_read_is_said_instead_of_an_answer(live):
    shown = live()
    said = part(shown, "problem")
    for text, words in (("", "Type a date."), ("3 mars " * 10, "At most 64")):
        box = tiles(shown).first.bounding_box()
        height = shown.element.bounding_box()["height"]
        type_in(shown, text)
        expect(said).to_contain_text(words)
        place = said.bounding_box()
        assert box["y"] <= place["y"] <= box["y"] + box["height"]
        for old in ("tile", "look", "tops"):
            expect(part(shown, old).first).not_to_be_visible()
        expect(part(shown, "verdict")).to_be_empty()
        assert shown.element.bounding_box()["height"] == height
        assert shown.violations() == []
        type_in(shown, "3 mars 2019")
        expect(said).to_be_empty()
        expect(tiles(shown).first).to_be_visible()
        assert "Writing" in shown.text(".note")


def test_while_it_writes_the_field_is_the_readers_own(show):
    """A reader types the next date, asks for it, or for nothing at all."""
    shown = show(sample())
    field, clock = shown.get("textbox"), shown.page.clock
    verdict, seen = part(shown, "verdict"), part(shown, "tile:visible")
    clock.install(time=0)  # a tile comes when it is moved
    clock.pause_at(1000)
    type_in(shown, "3 augusti 1999")
    expect(seen).to_have_count(1)  # the model has come
    assert shown.probe("active") == "A date in words"
    field.fill("8 mai 1945")
    clock.run_for(3 * 150)
    expect(seen).to_have_count(4)
    expect(verdict).to_be_empty()
    clock.run_for(10 * 150)
    expect(verdict).to_contain_text("1999-08-03")
    expect(verdict).not_to_be_visible()  # it is of another text
    assert field.input_value() == "8 mai 1945"
    field.fill("3 augusti 1999")
    expect(verdict).to_be_visible()
    for text, count in (("9 mai 1945", 4), ("", 0), ("4 mai 1945", 4)):
        type_in(shown, text)
        expect(seen).to_have_count(min(count, 1))
        clock.run_for(3 * 150)
        expect(seen).to_have_count(count)
    field.fill("half a d")
    clock.run_for(10 * 150)
    expect(verdict).to_contain_text("1945-05-04. ✓")
    assert field.input_value() == "half a d"
    assert shown.value["text"] == "4 mai 1945"
    assert shown.probe("active") == "A date in words"
    shown.get("button", "Start again").click()
    assert field.input_value() == shown.value["text"] == TEXT
    field.fill("half a d")
    shown.get("button", "German").click()
    assert field.input_value() == shown.value["text"] != "half a d"


# --- A reader's own weights


def trainer(**options):
    torch.manual_seed(5)
    sizes = date_model().card["config"] | options
    return Trainer(Transformer(TransformerConfig(**sizes)), Recipe(float))


def file_field(shown):
    part(shown, "frame summary").nth(2).click()
    return shown.element.locator("input[type=file]")


DROP = """([base64, name]) => {
  const bytes = Uint8Array.from(atob(base64), (c) => c.charCodeAt(0));
  const dataTransfer = new DataTransfer();
  dataTransfer.items.add(new File([bytes], name));
  const frame = document.querySelector(".explorer").shadowRoot
    .querySelector(".frame");
  for (const type of ["dragover", "drop"])
    frame.dispatchEvent(new DragEvent(type, { dataTransfer }));
}"""


def test_a_checkpoint_and_a_state_dict_are_taken(live, tmp_path):
    """One by its field, one is dropped; and the book's own come back."""
    mine, path = trainer(), tmp_path / "mine.safetensors"
    for weight in mine.average.parameters():
        weight.data *= 1.5
    save_checkpoint(mine, path)
    plain = b64encode(save(mine.model.state_dict())).decode()
    shown = live()
    back, field = shown.get("button", "Back to"), file_field(shown)
    assert not back.is_visible()
    for model, name, take, leave in (
        (mine.average, path.name, lambda: field.set_input_files(path), back),
        (
            mine.model,
            "plain",
            lambda: shown.page.evaluate(DROP, [plain, "plain"]),
            shown.get("button", "Start again"),
        ),
    ):
        take()
        expect(part(shown, "frame")).to_contain_text(f"writes with {name}.")
        assert shown.value["weights"] == name
        wanted = iso_of(TEXT, model.double().eval())
        assert written(shown) == wanted != iso_of(TEXT)
        leave.click()
        assert shown.value["weights"] == BOOK
        assert written(shown) == iso_of(TEXT)


WEIGHT = "tables.output.weight"


def test_other_files_are_refused(live):
    book = load_file(FOLDER / "dates.safetensors")
    others = {
        "attention.norm.bias: expected 64, got 32": trainer(d_model=32),
        "encoder.blocks.1": trainer(encoder_layers=2),
    }
    tensors = {why: one.model.state_dict() for why, one in others.items()} | {
        f"{WEIGHT}: not every number": book | {WEIGHT: book[WEIGHT] / 0},
        f"{WEIGHT} is missing": {k: book[k] for k in book.keys() - {WEIGHT}},
        "It holds no Transformer": {"a": torch.ones(2)},
    }
    files = {why: save(weights) for why, weights in tensors.items()}
    files["This is no safetensors file"] = b"no tensors here, only words"
    shown = live()
    field = file_field(shown)
    for why, content in files.items():
        file = {"name": "a.safetensors", "mimeType": "", "buffer": content}
        field.set_input_files(file)
        expect(part(shown, "note.warn")).to_contain_text(why)
        assert shown.value["weights"] == BOOK
        shown.set(text="3 mars 2019")
        assert written(shown) == "2019-03-03"
        assert "Writing" in shown.text(".note")


# --- On the site

PAGE = "book/12_what_it_learnt.html"


def test_the_model_is_fetched_when_it_is_asked_for(window, address):
    """It may fail, or be late; what is asked for meanwhile is answered."""
    tab, asked, held = window(reduced_motion="reduce").tab, [], []
    tab.on("request", lambda request: asked.append(Path(request.url).stem))
    model = "**/date_model.js"
    tab.route(model, lambda route: route.abort())
    tab.goto(address + PAGE)
    explorer = tab.locator("date-explorer")
    field = explorer.get_by_label("A date in words")
    button, said = (explorer.locator(c) for c in ("form button", ".problem"))
    tile = explorer.locator(".tile").first
    german = explorer.get_by_role("button", name="German")
    german.click()
    assert not {*sample().later} & {*asked}
    size = round((FILES / "date_model.js").stat().st_size / 1e3)
    expect(button).to_have_text(f"Ask it (loads {size} kB)")
    button.click()
    expect(said).to_have_text("The model's file could not be loaded.")
    expect(tile).not_to_be_visible()
    assert button.get_attribute("aria-disabled") == "false"
    tab.unroute(model)
    tab.route(model, lambda route: held.append(route))
    for text in ("3 augusti 1999", "8 mai 1945"):
        field.fill(text)
        field.press("Enter")
        expect(said).to_have_text("Loading the model …")
        expect(tile).not_to_be_visible()
        expect(button).to_have_text("Loading …")
        assert button.get_attribute("aria-disabled") == "true"
        expect(field).to_be_focused()
    german.click()
    expect(tile).to_be_visible()
    field.fill("9 mai 1945")
    field.press("Enter")
    (route,) = held
    route.continue_()
    verdict = "1945-05-09. ✓ The text says this date."
    expect(explorer.locator(".verdict")).to_have_text(verdict)
    expect(button).to_have_text("Write")
    expect(field).to_be_focused()
    assert {*sample().later} < {*asked}


@pytest.mark.slow
def test_a_page_that_is_a_file_fetches_it_too(opened, site):
    tab = opened((site / PAGE).as_uri()).tab
    tab.get_by_label("A date in words").press("Enter")
    until(tab, LIVE)


@pytest.mark.slow
@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("width", [320, 1100])
def test_everything_open_is_readable_and_fits(live, width, dark):
    shown = live(width=width, dark=dark)
    for panel in part(shown, "frame summary").all():
        panel.click()
    shown.set(width=4, causal=False, view="self", pads=3)
    assert shown.violations() == []
    shown.assert_fits()
    shown.set(view="encoder", text="Donnerstag, 24. Dezember 1931")
    shown.assert_fits()
