"""Every exercise is right to the solution and helps with typical mistakes.

A wrong answer stands for a misconception that has a name, beside the hint
that it must get.
"""

import ast
import importlib
from functools import cache

import pytest

from tools.exercises import mutants
from tools.exercises import tasks as exercises
from tools.exercises.tasks import (
    POINTS,
    ROOT,
    Outcome,
    Task,
    outcome,
    outcomes,
    tasks,
)
from tools.exercises.teaching import wrong_answers, wrong_module

FEWEST, MOST = 5, 8  # wrong answers to an exercise
OTHERS = 3  # at least, right answers by other routes
EXERCISES = (4, 9)  # in a chapter and below it, the fewest and the most
CHECK = 'from kit.exercises import check\n\ncheck("{0.name}", {0.name})'


CHAPTERS = sorted({task.chapter for task in tasks()})
every_exercise = pytest.mark.parametrize(
    "task", tasks(), ids=lambda task: f"{task.number} {task.name}"
)
every_chapter = pytest.mark.parametrize("chapter", CHAPTERS)


@pytest.fixture(scope="module")
def draws(pytestconfig):
    """How much of something is tried, in the quick tier or else in full."""

    def draws(few, many):
        return range(few if pytestconfig.getoption("quick") else many)

    return draws


@cache
def told(name: str, answer: str, draws: range) -> list[str]:
    """The hints that an answer gets; none where it is right."""
    task = next(task for task in tasks() if task.name == name)
    return [found.hint for found in outcomes(task, answer, draws)]


def right_answers(chapter: int) -> dict[str, dict[str, str]]:
    """Those by other routes than the book's, of each exercise."""
    name = f"tests.exercises.right_answers.chapter_{chapter:02}"
    return importlib.import_module(name).RIGHT


@pytest.fixture
def asked_once(monkeypatch):
    """What a seed draws, and what is right for it, is found out once.

    The answers that a test judges get copies of the same, as they would.
    """
    with exercises.in_book():
        from kit.exercises.contract import Spec
    cases, wanted = Spec.cases, Spec.wanted
    drawn, right = {}, {}

    def cases_once(spec, draw):
        if draw.seed not in drawn:
            drawn[draw.seed] = cases(spec, draw), draw.drawn
        found, draw.drawn = drawn[draw.seed]
        return found

    def wanted_once(spec, inputs, case):  # `drawn` holds them: ids stay theirs
        if id(inputs) not in right:
            right[id(inputs)] = wanted(spec, inputs, case)
        return right[id(inputs)]

    monkeypatch.setattr(Spec, "cases", cases_once)
    monkeypatch.setattr(Spec, "wanted", wanted_once)


@every_exercise
def test_a_right_answer_is_right(task, draws, asked_once):
    """That of the book, and those by other routes."""
    others = right_answers(task.chapter).get(task.name, {})
    answers = {"stands in the book": task.solution} | others
    kind = getattr(description(task).examine, "__qualname__", "")
    is_hunt = kind.startswith("hunts.")
    for _, (how, answer) in zip(draws(2, 100), answers.items(), strict=False):
        # An edge is rarely met; a hunt tries dozens in each draw.
        seeds = draws(1, 20 if is_hunt else 200)
        for found in outcomes(task, answer, seeds):
            assert found.kind == "right", f"what {how}: {found.hint}"


@pytest.mark.slow
@every_exercise
def test_the_solution_is_right_in_other_variants(task):
    if not description(task).given:
        return
    for variant in range(1, 5):
        numbers = description(task).numbers(variant)
        source = exercises.with_given(task.solution, numbers)
        found = outcome(task, source, variant=variant)
        assert found.kind == "right", found.hint


@every_exercise
def test_a_stub_is_not_started(task):
    assert exercises.SOLUTION.search(task.answer), "it has no markers"
    assert outcome(task, task.stub) == Outcome("not started", "not started.")


@every_exercise
def test_a_mistake_gets_its_hint(task, draws):
    missed = []
    known = wrong_answers(task).items()
    for _, (name, (wanted, answer)) in zip(draws(1, 100), known, strict=False):
        missed += [
            f"{name}, with seed {seed}, is told: {hint or 'right'}"
            for seed, hint in enumerate(told(task.name, answer, draws(1, 3)))
            if wanted not in hint
        ]
    assert not missed, "\n".join(missed)


@every_exercise
def test_what_a_known_mistake_gives_is_recognised(task, draws, asked_once):
    """By its hint, whoever makes it, and whatever is drawn."""
    from kit.exercises import Draw, Wrong, judge

    asked, missed = description(task), []
    known = known_mistakes(task).items()
    for _, (hint, mistake) in zip(draws(2, 100), known, strict=False):
        for seed in draws(1, 20):
            with pytest.raises(Wrong) as found:
                judge(asked, mistake, Draw(seed, **asked.numbers(0)))
            if hint not in found.value.hint:
                missed.append(f"{hint} seed {seed}: {found.value.hint}")
    assert not missed, "\n".join(missed)


def known_mistakes(task: Task) -> dict:
    """Those of a contract, by their hints."""
    return getattr(description(task).examine, "mistakes", {})


# What is written about them.


@every_exercise
def test_enough_answers_are_known_and_not_too_many(task):
    assert FEWEST <= len(wrong_answers(task)) <= MOST
    assert len(right_answers(task.chapter).get(task.name, {})) >= OTHERS


@every_exercise
def test_the_cells_have_the_form_that_all_have(task):
    assert task.check.source == CHECK.format(task)
    assert task.points == POINTS[task.difficulty]
    tree = ast.parse(task.answer)
    kinds = ast.FunctionDef | ast.ClassDef
    assert task.name in [n.name for n in tree.body if isinstance(n, kinds)]


@every_exercise
def test_the_task_says_what_the_book_is_given(task):
    numbers = description(task).numbers(0)
    cells = task.text + task.answer
    assert exercises.with_given(cells, numbers) == cells
    in_text = exercises.GIVEN_SPAN.finditer(cells)
    in_code = exercises.GIVEN_LINE.finditer(cells)
    named = {found["name"] for found in in_text}
    for found in in_code:
        named |= {name.strip() for name in found["names"].split(",")}
    assert named == numbers.keys()


@every_exercise
def test_mutants_of_the_solution_are_noticed(task):
    """Those that are right too stand in EQUIVALENT, with the reason."""
    tried = mutants.read().get(task.name, {})
    assert tried.get("digest") == mutants.digest(task), "run make kill-rates"
    known = wrong_module(task.chapter).EQUIVALENT.get(task.name, {})
    assert tried["survivors"] == sorted(known)
    assert all(len(why.split()) > 2 for why in known.values())


def description(task: Task):
    with exercises.in_book():
        from kit.exercises import find

        return find(task.name)


@every_chapter
def test_a_chapter_has_its_exercises(chapter):
    mine = [task for task in tasks() if task.chapter == chapter]
    few, many = EXERCISES
    assert few <= len(mine) <= many
    wanted = [(f"{chapter}.{n}", t.name) for n, t in enumerate(mine, 1)]
    assert [(t.number, t.name) for t in mine] == wanted
    with exercises.in_book():
        from kit.exercises import described

        known = described(chapter).keys()
    assert known == {t.name for t in mine}
    assert wrong_module(chapter).WRONG.keys() == known
    assert right_answers(chapter).keys() <= known


@pytest.mark.slow
@every_chapter
def test_every_hint_is_for_somebody(chapter, draws):
    """A hint that no known mistake gets is one that nobody has tried."""
    module = ROOT / "book" / "kit" / "exercises" / f"chapter_{chapter:02}.py"
    mine = [task for task in tasks() if task.chapter == chapter]
    heard = {
        hint
        for task in mine
        for _, answer in wrong_answers(task).values()
        for hint in told(task.name, answer, draws(1, 3))
    }.union(*map(known_mistakes, mine))
    silent = [
        " … ".join(parts)
        for parts in hints(module.read_text(encoding="utf-8"))
        if not any(all(part in hint for part in parts) for hint in heard)
    ]
    assert not silent, "\n".join(["nobody gets these hints:", *silent])


def hints(source: str) -> list[list[str]]:
    """The fixed parts of each text that ends like a sentence."""
    found, inside = [], set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.JoinedStr):
            inside |= {id(value) for value in node.values}
            parts = [v.value for v in node.values if is_text(v)]
        elif is_text(node) and id(node) not in inside:
            parts = [node.value]
        else:
            continue
        text = "".join(parts)
        is_docstring = text[:1].isupper()
        if " " in text and text.endswith(".") and not is_docstring:
            found.append([p for p in parts if p.strip(" .,:")])
    return found


def is_text(node: ast.AST) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, str)


# The tests themselves.


def test_hints_are_found_in_a_description():
    source = '''
@exercise(1)
def double(answer, draw):
    """Twice as much."""
    expect.that(answer(2) == 4, f"{n} is not doubled, it is made {got}.")
    raise Wrong("nothing is right.")
'''
    assert hints(source) == [
        [" is not doubled, it is made "],
        ["nothing is right."],
    ]
