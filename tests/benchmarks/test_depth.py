"""The recorded stacks are what the library's blocks do, made anew."""

import json

import pytest
import torch

from benchmarks import depth

RECORD = json.loads(depth.RESULT.read_text())


@pytest.mark.parametrize("blocks", [6, 12])
@pytest.mark.parametrize("name", depth.ARRANGEMENTS)
def test_the_record_can_be_made_again(name, blocks):
    again, stored = depth.summary(name, blocks), RECORD["runs"][name]
    for kind, found in again.items():
        for part, values in found.items():
            kept = torch.tensor(stored[str(blocks)][kind][part])
            torch.testing.assert_close(
                torch.tensor(values), kept, atol=0.0011, rtol=0
            )


def test_the_record_is_complete():
    assert RECORD["depths"] == depth.DEPTHS and max(depth.DEPTHS) == 48
    assert RECORD["seeds"] == depth.SEEDS == 5
    for by_depth in RECORD["runs"].values():
        for blocks, found in by_depth.items():
            for measure in found.values():
                for values in measure.values():
                    assert len(values) == int(blocks) + 1


@pytest.mark.parametrize("name", ["post-norm", "pre-norm"])
def test_both_norms_are_the_blocks_own(name, monkeypatch):
    seen = []
    original = depth.stack

    def stack(*sizes):
        blocks = original(*sizes)
        seen.extend(blocks)
        return blocks

    monkeypatch.setattr(depth, "stack", stack)
    found = depth.measure(name, 6, seed=0)["size"]
    torch.manual_seed(0)
    original(name, 6)  # draws as many numbers
    shape = 2, depth.TEXTS, depth.LENGTH, depth.WIDTH
    x, _ = torch.randn(shape, dtype=torch.float64)
    after = [x]
    for block in seen:
        after.append(block(after[-1]))
    torch.testing.assert_close(found, depth.logarithms(after))


def test_without_norms_f_stands_alone_or_is_added():
    x = torch.randn(3, dtype=torch.float64)
    join = depth.ARRANGEMENTS
    assert torch.equal(join["no residual"](None, x, torch.sin), x.sin())
    assert torch.equal(join["no norm"](None, x, torch.sin), x + x.sin())


def test_random_numbers_of_size_1_are_put_on_the_output():
    found = depth.measure("no norm", 6, seed=3)
    assert abs(found["gradient"][-1]) < 0.03 > abs(found["size"][0])
