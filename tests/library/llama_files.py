"""What configurations of LLaMA's family say, and what they must not say.

`HONEST` has the fields of published files, and how many weights these models
have. `SIZES` and `SLOWER` are those of the model in `book/data`.
"""

SIZES = {
    "vocab_size": 50,
    "hidden_size": 32,
    "intermediate_size": 44,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
}
TINY = {"model_type": "llama"} | SIZES
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


def llama(vocab, width, d_ff, layers, heads, kv_heads=None, **more):
    """What nearly all of them say."""
    shared = {} if kv_heads is None else {"num_key_value_heads": kv_heads}
    return shared | {
        "architectures": ["LlamaForCausalLM"],
        "bos_token_id": 1,
        "eos_token_id": 2,
        "hidden_act": "silu",
        "hidden_size": width,
        "initializer_range": 0.02,
        "intermediate_size": d_ff,
        "max_position_embeddings": 4_096,
        "model_type": "llama",
        "num_attention_heads": heads,
        "num_hidden_layers": layers,
        "rms_norm_eps": 1e-5,
        "tie_word_embeddings": False,
        "torch_dtype": "bfloat16",
        "transformers_version": "4.43.0",
        "use_cache": True,
        "vocab_size": vocab,
        **more,
    }


OF_2023 = {"pretraining_tp": 1, "rope_scaling": None}
OF_2024 = {
    "attention_bias": False,
    "attention_dropout": 0.0,
    "mlp_bias": False,
    "pretraining_tp": 1,
}
MISTRAL = {
    "architectures": ["MistralForCausalLM"],
    "model_type": "mistral",
}
HONEST = {
    "LLaMA 7B": (
        6_738_415_616,
        llama(
            32_000, 4_096, 11_008, 32, 32,
            max_sequence_length=2_048, pad_token_id=-1, rms_norm_eps=1e-6,
        ),
    ),
    "LLaMA 2 7B": (
        6_738_415_616,
        llama(
            32_000, 4_096, 11_008, 32, 32, 32, **OF_2023,
            _name_or_path="meta-llama/Llama-2-7b-hf",
        ),
    ),
    "Vicuna 7B v1.5 16k": (
        6_738_415_616,
        llama(
            32_000, 4_096, 11_008, 32, 32, 32, pad_token_id=0,
            pretraining_tp=1, rope_scaling={"factor": 4.0, "type": "linear"},
            max_sequence_length=16_384, _name_or_path="vicuna-7b-v1.5-16k",
        ),
    ),
    "LLaMA 3.1 8B": (
        8_030_261_248,
        llama(
            128_256, 4_096, 14_336, 32, 32, 8, **OF_2024,
            eos_token_id=[128_001, 128_008, 128_009],
            rope_scaling=LLAMA_3_1, rope_theta=500_000.0,
        ),
    ),
    "LLaMA 3.2 1B": (
        1_235_814_400,
        llama(
            128_256, 2_048, 8_192, 16, 32, 8, **OF_2024, head_dim=64,
            rope_scaling=LLAMA_3_1 | {"factor": 32.0}, rope_theta=500_000.0,
            tie_word_embeddings=True, unsloth_fixed=True, unsloth_version="1",
        ),
    ),
    "LLaMA 3.1 8B, saved again": (
        8_030_261_248,
        llama(
            128_256, 4_096, 14_336, 32, 32, 8, **OF_2024, head_dim=128,
            dtype="bfloat16", pad_token_id=None, quantization_config=None,
            rope_parameters=LLAMA_3_1 | {"rope_theta": 500_000.0},
            transformers_version="5.23.0", _attn_implementation_autoset=True,
        ),
    ),
    "SmolLM2 135M": (
        134_515_008,
        llama(
            49_152, 576, 1_536, 30, 9, 3, **OF_2024, is_llama_config=True,
            rope_interleaved=False, rope_scaling=None, rope_theta=100_000,
            tie_word_embeddings=True, **{"transformers.js_config": {}},
        ),
    ),
    "Mistral 7B v0.1": (
        7_241_732_096,
        llama(
            32_000, 4_096, 14_336, 32, 32, 8, rope_theta=10_000.0,
            sliding_window=4_096, **MISTRAL,
        ),
    ),
    "Mistral 7B v0.3": (
        7_248_023_552,
        llama(
            32_768, 4_096, 14_336, 32, 32, 8, attention_dropout=0.0,
            rope_theta=1e6, sliding_window=None, **MISTRAL,
        ),
    ),
}  # fmt: skip
# One field of a good file each, what it is changed to, and what is expected.
CHANGES = (
    ("model_type", "qwen2", "'llama' or 'mistral'"),
    ("model_type", ["llama"], "'llama'"),
    ("hidden_act", "gelu", "'silu'"),
    ("attention_bias", True, "False"),
    ("attention_bias", 0, "False"),
    ("mlp_bias", True, "False"),
    ("attention_dropout", 0.1, "0.0"),
    ("partial_rotary_factor", 0.5, "1.0"),
    ("head_dim", 16, "8"),
    ("sliding_window", 3, "None"),
    ("use_sliding_window", True, "False"),
    ("layer_types", ["full_attention", "sliding"], "2 times 'full_attention'"),
    ("quantization_config", {"bits": 4}, "None"),
    ("architectures", ["LlamaModel"], "LlamaForCausalLM"),
    ("attn_logit_softcapping", 50.0, "no such field"),
    ("num_local_experts", 8, "no such field"),
    ("num_key_value_heads", 3, "a divisor of 4"),
    ("hidden_size", 34, "a multiple of 4"),
    ("rms_norm_eps", -1.0, "at least 0"),
    ("rope_theta", 1.0, "above 1"),
)
KINDS = (
    ("hidden_size", 32.0, "an integer"),
    ("num_hidden_layers", True, "an integer"),
    ("tie_word_embeddings", 0, "True or False"),
    ("rms_norm_eps", "1e-5", "a float"),
    ("rope_theta", None, "a number"),
    ("rope_scaling", "linear", "Mapping"),
)
# What is said of the angles, or of the width of heads, and the answer to it.
TOGETHER = (
    ({"hidden_size": 36}, "num_attention_heads", "even width", "9"),
    ({"rope_scaling": {"rope_type": "yarn", "factor": 4.0}},
     "rope_type of rope_scaling", "'llama3'", "'yarn'"),
    ({"rope_scaling": {"type": "dynamic", "factor": 4.0}},
     "rope_type of rope_scaling", "'llama3'", "'dynamic'"),
    ({"rope_scaling": {"type": "linear", "rope_type": "default"}},
     "type of rope_scaling", "'default'", "'linear'"),
    ({"rope_scaling": {"rope_type": "linear"}},
     "factor of rope_scaling", "a number for 'linear'", "nothing"),
    ({"rope_scaling": LLAMA_3_1 | {"attention_factor": 1.0}},
     "attention_factor of rope_scaling", "no such", "1.0"),
    ({"rope_scaling": LLAMA_3_1 | {"high_freq_factor": 1.0}},
     "high_freq_factor", "above 1.0", "1.0"),
    ({"rope_scaling": LLAMA_3_1 | {"factor": 0.5}},
     "factor", "at least 1", "0.5"),
    ({"rope_scaling": LLAMA_3_1 | {"partial_rotary_factor": 0.5}},
     "partial_rotary_factor of rope_scaling", "1.0", "0.5"),
    ({"rope_scaling": LLAMA_3_1 | {"original_max_position_embeddings": 0}},
     "original_max_position_embeddings", "at least 1", "0"),
    ({"rope_parameters": {"full_attention": {"rope_theta": 1e4}}},
     "full_attention of rope_parameters", "no such", "rope_theta"),
    ({"rope_parameters": {"rope_theta": 1e4}, "rope_theta": 1e6},
     "rope_theta", "1000000.0 here as well", "10000.0"),
    ({"rope_parameters": {"rope_theta": 1e4}, "rope_scaling": LLAMA_3_1},
     "rope_scaling", "the same as rope_parameters", "llama3"),
)  # fmt: skip
