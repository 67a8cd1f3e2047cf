"""Three layouts of multi-head attention: data for a figure of chapter 5."""

import json
from pathlib import Path

import torch

from benchmarks.timing import circumstances, ratio, side_by_side
from benchmarks.variants import VARIANTS
from lib.heads import MultiHeadAttention

RESULT = Path(__file__).parent / "results" / "attention_layouts.json"
TOKENS, LENGTHS = 4096, [32, 128, 512, 2048]
SHOWN = ("loop over heads", "einsum, n l h d", "matmul, n h l d")


def main() -> None:
    torch.set_num_threads(1)
    torch.manual_seed(0)
    module = MultiHeadAttention(512, 8).requires_grad_(False)
    columns = []
    for length in LENGTHS:
        x = torch.randn(TOKENS // length, length, 512)
        candidates = {
            name: lambda f=VARIANTS[name], x=x: f(module, x) for name in SHOWN
        }
        candidates["ours"] = lambda x=x: module(x)
        times = side_by_side(candidates, rounds=9)
        columns.append({name: ratio(times, name, "ours") for name in SHOWN})
    record = circumstances() | {
        "tokens": TOKENS,
        "length": LENGTHS,
        "ratio": {name: [row[name] for row in columns] for name in SHOWN},
    }
    RESULT.write_text(json.dumps(record, indent=1) + "\n")
    print(json.dumps(record["ratio"], indent=1))


if __name__ == "__main__":
    main()
