"""What published configurations of LLaMA's family say.

`HONEST` has the fields of such files, and how many weights these models
have. `SIZES` and `SLOWER` are those of the model in `book/data`.
"""

import json
from pathlib import Path

SIZES = {
    "vocab_size": 50,
    "hidden_size": 32,
    "intermediate_size": 44,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
}
LLAMA_3_1 = {
    "factor": 8.0,
    "low_freq_factor": 1.0,
    "high_freq_factor": 4.0,
    "original_max_position_embeddings": 8_192,
    "rope_type": "llama3",
}
SLOWER = LLAMA_3_1 | {
    "rope_theta": 1_000.0,
    "original_max_position_embeddings": 64,
}

FILES = json.loads(Path(__file__).with_suffix(".json").read_text())
HONEST = {
    name: (file["parameters"], file["config.json"])
    for name, file in FILES.items()
}
