"""What published configurations of LLaMA's family say.

`HONEST` has the fields of such files, and how many weights these models
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


def llama(vocab, width, d_ff, layers, heads, kv_heads, **more):
    """What nearly all of them say."""
    return {
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
        "num_key_value_heads": kv_heads,
        "rms_norm_eps": 1e-5,
        "tie_word_embeddings": False,
        "torch_dtype": "bfloat16",
        "transformers_version": "4.43.0",
        "use_cache": True,
        "vocab_size": vocab,
        **more,
    }


OF_2024 = {
    "attention_bias": False,
    "attention_dropout": 0.0,
    "mlp_bias": False,
    "pretraining_tp": 1,
}
HONEST = {
    "LLaMA 2 7B": (
        6_738_415_616,
        llama(
            32_000, 4_096, 11_008, 32, 32, 32, pretraining_tp=1,
            rope_scaling=None, _name_or_path="meta-llama/Llama-2-7b-hf",
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
    "LLaMA 3.2 1B": (
        1_235_814_400,
        llama(
            128_256, 2_048, 8_192, 16, 32, 8, **OF_2024, head_dim=64,
            eos_token_id=[128_001, 128_008, 128_009],
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
            sliding_window=4_096, architectures=["MistralForCausalLM"],
            model_type="mistral",
        ),
    ),
}  # fmt: skip
