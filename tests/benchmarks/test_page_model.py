"""How long a slow phone waits: what is written down of it."""

import json

from benchmarks import page_model


def test_a_summary_has_medians_and_the_worst():
    visits = [
        {
            "ready": 10 * n,
            "answer": n,
            "first": [n, n],
            "further": [1, 2, 3],
            "drawing": [5],
        }
        for n in (1, 2, 3)
    ]
    found = page_model.summary(visits)
    assert found["explorer ready, ms"] == {"median": 20, "95%": 30}
    assert found["text read and first token, ms"]["median"] == 2
    assert found["each further token, ms"] == {"median": 2, "95%": 3}
    assert found["drawing it, ms"] == {"median": 5, "95%": 5}


def test_the_record_says_how_it_was_measured():
    record = json.loads(page_model.RESULT.read_text())
    assert record["slower"] == page_model.SLOWER == 6
    assert record["network"] == page_model.NETWORK
    assert page_model.NETWORK["downloadThroughput"] * 8 == 1.6e6


def test_the_page_that_is_measured_is_whole(tmp_path):
    page_model.lay_out(tmp_path)
    page = (tmp_path / "index.html").read_text()
    names = {path.stem for path in tmp_path.glob("*.js")}
    assert page_model.MODEL in names
    assert all(f'src="{n}.js"' in page for n in names - {page_model.MODEL})
