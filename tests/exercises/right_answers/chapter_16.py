"""Right answers in chapter 16 by other routes than the book's."""

RIGHT = {
    "llama_block": {
        "has a class that is called RMSNorm": """
class RMSNorm:
    def __init__(self, weight, eps):
        self.weight, self.eps = weight, eps

    def __call__(self, x):
        size = x.square().mean(-1, keepdim=True)
        return x / torch.sqrt(size + self.eps) * self.weight

def llama_block(x, w, heads, kv_heads, eps):
    def cut(x, name, many):
        x = x @ w[f"self_attn.{name}_proj.weight"].T
        return x.unflatten(-1, (many, -1)).transpose(1, 2)

    def turned(x):
        return rotary(x.unflatten(-1, (2, -1)).mT.flatten(-2))

    normed = RMSNorm(w["input_layernorm.weight"], eps)(x)
    q, k, v = cut(normed, "q", heads), *(
        cut(normed, n, kv_heads).repeat_interleave(heads // kv_heads, 1)
        for n in "kv"
    )
    mask = causal_mask(x.shape[1], x.device)
    found = attention(turned(q), turned(k), v, mask)
    x = x + found.transpose(1, 2).flatten(-2) @ w["self_attn.o_proj.weight"].T
    normed = RMSNorm(w["post_attention_layernorm.weight"], eps)(x)
    gate = F.silu(normed @ w["mlp.gate_proj.weight"].T)
    hidden = gate * (normed @ w["mlp.up_proj.weight"].T)
    return x + hidden @ w["mlp.down_proj.weight"].T
""",
    },
}
