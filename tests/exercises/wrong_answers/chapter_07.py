"""Wrong answers to the exercises of chapter 7, by their misconception."""

BLOCK = """
def whole_layer(x, attention, feed_forward, norms, norm_first):
    first, second = norms
    if norm_first:
        {pre}
    {post}
"""


def layer(
    pre="x = x + attention(first(x)); return x + feed_forward(second(x))",
    post="x = first(x + attention(x)); return second(x + feed_forward(x))",
) -> str:
    """The right answer to exercise 7.2, with one half changed."""
    return BLOCK.format(pre=pre, post=post)


def each_branch(change: str) -> str:
    """An answer to exercise 7.4 that does something to every pair."""
    return f"""
def silence(stack):
    with torch.no_grad():
        for join, network in stack:
            {change}
"""


def loop(body: str, result: str = "added") -> str:
    """An answer to exercise 7.5: the loop, with another payment."""
    return f"""
def contributions(stack, x):
    start, added = x, []
    for join, network in stack:
        {body}
    return {result}
"""


def backwards(result: str, correction: int = 0) -> str:
    """An answer to exercise 7.6 from deviation, y and the gradient."""
    return f"""
def norm_gradient(x, grad):
    deviation = x.std(-1, correction={correction}, keepdim=True)
    y = (x - x.mean(-1, keepdim=True)) / deviation
    mean_g = grad.mean(-1, keepdim=True)
    mean_gy = (grad * y).mean(-1, keepdim=True)
    return {result}
"""


def store(bias: str, W_1: str = "keys.T", W_2: str = "values") -> str:
    """An answer to exercise 7.3 with another bias or other matrices."""
    return f"""
def remember(keys, values):
    count, d = keys.shape
    return {W_1}, torch.full((count,), float({bias})), {W_2}
"""


def size(by: str) -> str:
    """An answer to exercise 7.1 that divides by something else."""
    return f"def rms_norm(x, eps=1e-6):\n    return x / {by}\n"


WRONG = {
    "rms_norm": {
        "takes off the mean, as LayerNorm does": size(
            "torch.sqrt(x.var(-1, correction=0, keepdim=True) + eps)"
        ),
        "eps outside the root": size(
            "(x.square().mean(-1, keepdim=True).sqrt() + eps)"
        ),
        "the length, not the root of the mean square": size(
            "torch.sqrt(x.square().sum(-1, keepdim=True) + eps)"
        ),
        "one size for all positions": size(
            "torch.sqrt(x.square().mean() + eps)"
        ),
        "forgets the root": size("(x.square().mean(-1, keepdim=True) + eps)"),
        "mean of the absolute values": size(
            "(x.abs().mean(-1, keepdim=True) + eps)"
        ),
        "forgets eps": size("x.square().mean(-1, keepdim=True).sqrt()"),
        "a LayerNorm": "def rms_norm(x, eps=1e-6):\n"
        "    return F.layer_norm(x, x.shape[-1:], eps=eps)\n",
    },
    "whole_layer": {
        "pre-norm adds to the normalised x": layer(
            pre="x = first(x); x = x + attention(x); x = second(x); "
            "return x + feed_forward(x)"
        ),
        "one norm twice": layer(
            post="x = first(x + attention(x)); "
            "return first(x + feed_forward(x))"
        ),
        "the norms in the other order": layer(
            pre="x = x + attention(second(x)); "
            "return x + feed_forward(first(x))",
        ),
        "f(x) + LayerNorm(x)": layer(
            post="x = attention(x) + first(x); "
            "return feed_forward(x) + second(x)"
        ),
        "no path past the feed-forward network": layer(
            post="x = first(x + attention(x)); return second(feed_forward(x))"
        ),
        "both branches start from the first x": layer(
            pre="return x + attention(first(x)) + feed_forward(second(x))"
        ),
        "the second path starts from the first x": layer(
            post="y = first(x + attention(x)); "
            "return second(x + feed_forward(y))"
        ),
        "the feed-forward network first": layer(
            post="x = first(x + feed_forward(x)); "
            "return second(x + attention(x))"
        ),
        "post-norm whatever is asked": layer(
            pre="x = first(x + attention(x)); "
            "return second(x + feed_forward(x))"
        ),
        "a norm after the branch instead of before it": layer(
            pre="x = x + first(attention(x)); "
            "return x + second(feed_forward(x))"
        ),
    },
    "remember": {
        "no bias: every unit that agrees a little fires": store("0"),
        "the bias takes all points off: no unit ever fires": store("-d"),
        "a bias that fires by the number of entries that agree": store(
            "-d / 2"
        ),
        "twice the value, as the bias lies at the neighbours": store("2 - d"),
        "the bias of the page, which had two properties a fact": store("-1"),
        "the keys as rows of W_1": store("1 - d", W_1="keys"),
        "an average over the facts": store("1 - d", W_2="values / count"),
        "keys scaled to length one, bias not": store(
            "1 - d", W_1="(keys / d**0.5).T"
        ),
        "adds where it should take off": store("d - 1"),
    },
    "silence": {
        "only the matrix, and the bias still speaks": each_branch(
            "network.narrow.weight.zero_()"
        ),
        "only the bias": each_branch("network.narrow.bias.zero_()"),
        "everything, so that nothing can be learnt": each_branch(
            "[p.zero_() for p in network.parameters()]"
        ),
        "the first matrix, which leaves the last bias": each_branch(
            "network.widen.weight.zero_(); network.widen.bias.zero_()"
        ),
        "the norm's gain and bias": each_branch(
            "join.norm.weight.zero_(); join.norm.bias.zero_()"
        ),
        "units that never fire, so that nothing can be learnt": each_branch(
            "network.widen.bias.fill_(-1e6); network.narrow.bias.zero_()"
        ),
        "takes the layers away": "def silence(stack):\n    stack.clear()\n",
        "only the last layer": """
def silence(stack):
    with torch.no_grad():
        stack[-1][1].narrow.weight.zero_()
        stack[-1][1].narrow.bias.zero_()
""",
        "a silenced copy": """
def silence(stack):
    import copy
    stack = copy.deepcopy(stack)
    with torch.no_grad():
        for _, network in stack:
            network.narrow.weight.zero_()
            network.narrow.bias.zero_()
    return stack
""",
    },
    "contributions": {
        "the order reversed": loop(
            "y = join(x, network); added.append(y - x); x = y", "added[::-1]"
        ),
        "the balance instead of the payment": loop(
            "x = join(x, network); added.append(x)"
        ),
        "the payments since the start": loop(
            "x = join(x, network); added.append(x - start)"
        ),
        "every layer sees the first x": loop(
            "added.append(join(x, network) - x)"
        ),
        "the norm in the branch is forgotten": loop(
            "added.append(network(x)); x = join(x, network)"
        ),
        "before minus after": loop(
            "y = join(x, network); added.append(x - y); x = y"
        ),
        "the sum of all payments": loop(
            "y = join(x, network); added.append(y - x); x = y",
            "[sum(added)] * len(added)",
        ),
        "the start as the first payment": loop(
            "y = join(x, network); added.append(y - x); x = y",
            "[start, *added[:-1]]",
        ),
        "equal shares": loop(
            "x = join(x, network); added.append(x)",
            "[(x - start) / len(added)] * len(added)",
        ),
    },
    "norm_gradient": {
        "mean and deviation taken for constants": backwards(
            "grad / deviation"
        ),
        "the deviation taken for a constant": backwards(
            "(grad - mean_g) / deviation"
        ),
        "the mean taken for a constant": backwards(
            "(grad - y * mean_gy) / deviation"
        ),
        "not divided by the deviation": backwards(
            "grad - mean_g - y * mean_gy"
        ),
        "the unbiased deviation": backwards(
            "(grad - mean_g - y * mean_gy) / deviation", correction=1
        ),
        "adds the part along y": backwards(
            "(grad - mean_g + y * mean_gy) / deviation"
        ),
        "a sum instead of a mean along y": backwards(
            "(grad - mean_g - y * mean_gy * x.shape[-1]) / deviation"
        ),
        "along x instead of y": backwards(
            "(grad - mean_g - x * (grad * x).mean(-1, True)) / deviation"
        ),
        "the norm of the gradient": backwards(
            "(grad - mean_g) / grad.std(-1, correction=0, keepdim=True)"
        ),
        "autograd after all": """
def norm_gradient(x, grad):
    with torch.enable_grad():
        x = x.clone().requires_grad_()
        y = F.layer_norm(x, x.shape[-1:], eps=0)
        return torch.autograd.grad(y, x, grad)[0]
""",
    },
}
