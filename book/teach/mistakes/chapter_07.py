"""Wrong answers to the exercises of chapter 7, by their misconception."""

BLOCK = """# hint: {hint}
def whole_layer(x, attention, feed_forward, norms, norm_first):
    first, second = norms
    if norm_first:
        {pre}
    {post}
"""


def layer(
    hint: str,
    pre="x = x + attention(first(x)); return x + feed_forward(second(x))",
    post="x = first(x + attention(x)); return second(x + feed_forward(x))",
) -> str:
    """The right answer to exercise 7.2, with one half changed."""
    return BLOCK.format(hint=hint, pre=pre, post=post)


def each_branch(hint: str, change: str) -> str:
    """An answer to exercise 7.4 that does something to every pair."""
    return f"""# hint: {hint}
def silence(stack):
    with torch.no_grad():
        for join, network in stack:
            {change}
"""


def loop(hint: str, body: str, result: str = "added") -> str:
    """An answer to exercise 7.5: the loop, with another payment."""
    return f"""# hint: {hint}
def contributions(stack, x):
    start, added = x, []
    for join, network in stack:
        {body}
    return {result}
"""


def backwards(hint: str, result: str, correction: int = 0) -> str:
    """An answer to exercise 7.6 from deviation, y and the gradient."""
    return f"""# hint: {hint}
def norm_gradient(x, grad):
    deviation = x.std(-1, correction={correction}, keepdim=True)
    y = (x - x.mean(-1, keepdim=True)) / deviation
    mean_g = grad.mean(-1, keepdim=True)
    mean_gy = (grad * y).mean(-1, keepdim=True)
    return {result}
"""


def store(
    hint: str, bias: str, W_1: str = "keys.T", W_2: str = "values"
) -> str:
    """An answer to exercise 7.3 with another bias or other matrices."""
    return f"""# hint: {hint}
def remember(keys, values):
    count, d = keys.shape
    return {W_1}, torch.full((count,), float({bias})), {W_2}
"""


def size(hint: str, by: str) -> str:
    """An answer to exercise 7.1 that divides by something else."""
    return f"""# hint: {hint}
def rms_norm(x, eps=1e-6):
    return x / {by}
"""


WRONG = {
    "rms_norm": {
        "takes off the mean, as LayerNorm does": size(
            "RMSNorm knows no mean",
            "torch.sqrt(x.var(-1, correction=0, keepdim=True) + eps)",
        ),
        "eps outside the root": size(
            "eps stands outside the root",
            "(x.square().mean(-1, keepdim=True).sqrt() + eps)",
        ),
        "eps is the least size that is allowed": size(
            "eps makes no difference",
            "x.square().mean(-1, keepdim=True).clamp(min=eps).sqrt()",
        ),
        "the length, not the root of the mean square": size(
            "you divide by the length",
            "torch.sqrt(x.square().sum(-1, keepdim=True) + eps)",
        ),
        "one size for all positions": size(
            "all positions share one size",
            "torch.sqrt(x.square().mean() + eps)",
        ),
        "forgets the root": size(
            "the root is missing", "(x.square().mean(-1, keepdim=True) + eps)"
        ),
        "mean of the absolute values": size(
            "the mean of the absolute values is another size",
            "(x.abs().mean(-1, keepdim=True) + eps)",
        ),
        "forgets eps": size(
            "eps makes no difference",
            "x.square().mean(-1, keepdim=True).sqrt()",
        ),
        "eps has another default": "# hint: but not when eps is left\n"
        "def rms_norm(x, eps=1e-5):\n"
        "    return x / (x.square().mean(-1, keepdim=True) + eps).sqrt()\n",
        "the largest entry": size(
            "is not the root of mean square plus eps",
            "(x.abs().amax(-1, keepdim=True) + eps)",
        ),
        "a LayerNorm": "# hint: this is LayerNorm\n"
        "def rms_norm(x, eps=1e-6):\n"
        "    return F.layer_norm(x, x.shape[-1:], eps=eps)\n",
        "eps is a lower bound": """
# hint: it is to be added to the mean
def rms_norm(x, eps=1e-6):
    square = x.square().mean(-1, keepdim=True)
    return x / square.clamp(min=eps).sqrt()
""",
        "PyTorch is asked": """
# hint: write it without rms_norm
def rms_norm(x, eps=1e-6):
    return F.rms_norm(x, x.shape[-1:], eps=eps)
""",
    },
    "whole_layer": {
        "no path past attention": layer(
            "no path leads past attention",
            post="x = first(attention(x)); return second(x + feed_forward(x))",
        ),
        "no second norm": layer(
            "the second norm is missing",
            pre="x = x + attention(first(x)); return x + feed_forward(x)",
        ),
        "a last norm at the end of pre-norm": layer(
            "Follow the thick line",
            pre="x = x + attention(first(x)); "
            "return second(x + feed_forward(second(x)))",
        ),
        "pre-norm adds to the normalised x": layer(
            "you add to the normalised x",
            pre="x = first(x); x = x + attention(x); x = second(x); "
            "return x + feed_forward(x)",
        ),
        "one norm twice": layer(
            "the same norm stands twice",
            post="x = first(x + attention(x)); "
            "return first(x + feed_forward(x))",
        ),
        "the norms in the other order": layer(
            "the norms have changed places",
            pre="x = x + attention(second(x)); "
            "return x + feed_forward(first(x))",
        ),
        "f(x) + LayerNorm(x)": layer(
            "this is f(x) + LayerNorm(x)",
            post="x = attention(x) + first(x); "
            "return feed_forward(x) + second(x)",
        ),
        "no path past the feed-forward network": layer(
            "no path leads past the feed-forward network",
            post="x = first(x + attention(x)); return second(feed_forward(x))",
        ),
        "both branches start from the first x": layer(
            "it never hears what attention has found",
            pre="return x + attention(first(x)) + feed_forward(second(x))",
        ),
        "the second path starts from the first x": layer(
            "On the path stands what the first norm has made",
            post="y = first(x + attention(x)); "
            "return second(x + feed_forward(y))",
        ),
        "the feed-forward network first": layer(
            "the feed-forward network comes first",
            post="x = first(x + feed_forward(x)); "
            "return second(x + attention(x))",
        ),
        "post-norm whatever is asked": layer(
            "norm_first=True gives the other layer",
            pre="x = first(x + attention(x)); "
            "return second(x + feed_forward(x))",
        ),
        "a norm after the branch instead of before it": layer(
            "your norms stand after the sub-layers",
            pre="x = x + first(attention(x)); "
            "return x + second(feed_forward(x))",
        ),
        "post-norm ends without its norm": """
# hint: the second norm is missing
def whole_layer(x, attention, feed_forward, norms, norm_first):
    first, second = norms
    if norm_first:
        x = x + attention(first(x))
        return x + feed_forward(second(x))
    x = first(x + attention(x))
    return x + feed_forward(x)
""",
        "what comes in is overwritten": """
# hint: changes its input in place
def whole_layer(x, attention, feed_forward, norms, norm_first):
    first, second = norms
    if norm_first:
        x += attention(first(x))
        x += feed_forward(second(x))
        return x
    x = first(x + attention(x))
    return second(x + feed_forward(x))
""",
        "the library is asked": """
# hint: write it without Residual
def whole_layer(x, attention, feed_forward, norms, norm_first):
    for norm, sublayer in zip(norms, (attention, feed_forward), strict=True):
        join = Residual(x.shape[-1], norm_first=norm_first, norm=norm)
        x = join(x, sublayer)
    return x
""",
        "pre-norm without the path past attention": """
# hint: no path leads past attention
def whole_layer(x, attention, feed_forward, norms, norm_first):
    first, second = norms
    if norm_first:
        x = attention(first(x))
        return x + feed_forward(second(x))
    x = first(x + attention(x))
    return second(x + feed_forward(x))
""",
    },
    "remember": {
        "returns the network's two matrices only": """
# hint: three tensors are to come back
def remember(keys, values):
    return keys.T, values
""",
        "one bias for all units": """
# hint: each unit needs a number of its own
def remember(keys, values):
    return keys.T, torch.tensor(1.0 - keys.shape[1]), values
""",
        "the values in another order": store(
            "and nothing of other keys", "1 - d", W_2="values.flip(0)"
        ),
        "no bias: every unit that agrees a little fires": store(
            "is no key, and a unit fires", "0"
        ),
        "the bias takes all points off: no unit ever fires": store(
            "no unit fires, not even for its own key", "-d"
        ),
        "a bias that fires by the number of entries that agree": store(
            "is no key, and a unit fires", "-d / 2"
        ),
        "twice the value, as the bias lies at the neighbours": store(
            "they write 2 times the value", "2 - d"
        ),
        "the bias of the page, which had two properties a fact": store(
            "is no key, and a unit fires", "-1"
        ),
        "the keys as rows of W_1": store(
            "A pattern is a column of W_1", "1 - d", W_1="keys"
        ),
        "an average over the facts": store(
            "they write 0.333 times the value", "1 - d", W_2="values / count"
        ),
        "keys scaled to length one, bias not": store(
            "How much does your bias take off",
            "1 - d",
            W_1="(keys / d**0.5).T",
        ),
        "adds where it should take off": store(
            "is no key, and a unit fires", "d - 1"
        ),
    },
    "silence": {
        "only the matrix, and the bias still speaks": each_branch(
            "still adds the bias of narrow", "network.narrow.weight.zero_()"
        ),
        "only the bias": each_branch(
            "its matrices still speak", "network.narrow.bias.zero_()"
        ),
        "everything, so that nothing can be learnt": each_branch(
            "is silent for ever", "[p.zero_() for p in network.parameters()]"
        ),
        "the first matrix, which leaves the last bias": each_branch(
            "which number comes after them",
            "network.widen.weight.zero_(); network.widen.bias.zero_()",
        ),
        "the norm's gain and bias": each_branch(
            "its norm gives zeros",
            "join.norm.weight.zero_(); join.norm.bias.zero_()",
        ),
        "units that never fire, so that nothing can be learnt": each_branch(
            "because no hidden unit fires",
            "network.widen.bias.fill_(-1e6); network.narrow.bias.zero_()",
        ),
        "takes the layers away": "# hint: Keep them\ndef silence(stack):\n    stack.clear()\n",
        "only the last layer": """
# hint: layer 0 still adds something
def silence(stack):
    with torch.no_grad():
        stack[-1][1].narrow.weight.zero_()
        stack[-1][1].narrow.bias.zero_()
""",
        "a silenced copy": """
# hint: no weight of the stack has changed
def silence(stack):
    import copy
    stack = copy.deepcopy(stack)
    with torch.no_grad():
        for _, network in stack:
            network.narrow.weight.zero_()
            network.narrow.bias.zero_()
    return stack
""",
        "the weights are made very small": """
# hint: small weights are not zero
def silence(stack):
    with torch.no_grad():
        for _, network in stack:
            network.narrow.weight.mul_(1e-8)
            network.narrow.bias.zero_()
""",
        "the first matrix is emptied, and its bias kept": """
# hint: units fire by the bias of widen
def silence(stack):
    with torch.no_grad():
        for _, network in stack:
            network.widen.weight.zero_()
            network.narrow.bias.zero_()
""",
    },
    "contributions": {
        "one tensor": loop(
            "a list is asked for",
            "y = join(x, network); added.append(y - x); x = y",
            "torch.stack(added)",
        ),
        "the start and all balances": loop(
            "and your list has 6 payments",
            "x = join(x, network); added.append(x)",
            "[start, *added]",
        ),
        "pays what it owns": loop(
            "payment 0 fits the layer, but others do not",
            "y = join(x, network); added.append(y - x); x = x + y",
        ),
        "only the size of a payment": loop(
            "payment 0 is not what layer 0 adds",
            "y = join(x, network); added.append((y - x).abs()); x = y",
        ),
        "the order reversed": loop(
            "in the reverse order",
            "y = join(x, network); added.append(y - x); x = y",
            "added[::-1]",
        ),
        "the balance instead of the payment": loop(
            "not the payments", "x = join(x, network); added.append(x)"
        ),
        "the payments since the start": loop(
            "all that has been paid since the start",
            "x = join(x, network); added.append(x - start)",
        ),
        "every layer sees the first x": loop(
            "every layer of yours reads the first x",
            "added.append(join(x, network) - x)",
        ),
        "the norm in the branch is forgotten": loop(
            "the norm in the branch is left out",
            "added.append(network(x)); x = join(x, network)",
        ),
        "before minus after": loop(
            "the signs are turned",
            "y = join(x, network); added.append(x - y); x = y",
        ),
        "the sum of all payments": loop(
            "the sum of all payments",
            "y = join(x, network); added.append(y - x); x = y",
            "[sum(added)] * len(added)",
        ),
        "the start as the first payment": loop(
            "the opening balance is no payment",
            "y = join(x, network); added.append(y - x); x = y",
            "[start, *added[:-1]]",
        ),
        "equal shares": loop(
            "all payments are equal",
            "x = join(x, network); added.append(x)",
            "[(x - start) / len(added)] * len(added)",
        ),
    },
    "norm_gradient": {
        "mean and deviation taken for constants": backwards(
            "are taken for constants", "grad / deviation"
        ),
        "the deviation taken for a constant": backwards(
            "the part along y is still in", "(grad - mean_g) / deviation"
        ),
        "the mean taken for a constant": backwards(
            "the part along the ones is still in",
            "(grad - y * mean_gy) / deviation",
        ),
        "not divided by the deviation": backwards(
            "the right direction, but not its size",
            "grad - mean_g - y * mean_gy",
        ),
        "the unbiased deviation": backwards(
            "your spread divides by d - 1",
            "(grad - mean_g - y * mean_gy) / deviation",
            correction=1,
        ),
        "adds the part along y": backwards(
            "the part along y is added",
            "(grad - mean_g + y * mean_gy) / deviation",
        ),
        "a sum instead of a mean along y": backwards(
            "is taken off d times",
            "(grad - mean_g - y * mean_gy * x.shape[-1]) / deviation",
        ),
        "along x instead of y": backwards(
            "not along x",
            "(grad - mean_g - x * (grad * x).mean(-1, True)) / deviation",
        ),
        "the norm of the gradient": backwards(
            "you have normalised the gradient",
            "(grad - mean_g) / grad.std(-1, correction=0, keepdim=True)",
        ),
        "multiplied by the deviation": backwards(
            "you multiply by the spread",
            "(grad - mean_g - y * mean_gy) * deviation",
        ),
        "the part along y is measured with x": backwards(
            "Try grad = ones and grad = y",
            "(grad - mean_g - y * (grad * x).mean(-1, True)) / deviation",
        ),
        "autograd after all": """
# hint: autograd is switched off here
def norm_gradient(x, grad):
    with torch.enable_grad():
        x = x.clone().requires_grad_()
        y = F.layer_norm(x, x.shape[-1:], eps=0)
        return torch.autograd.grad(y, x, grad)[0]
""",
        "small steps, one entry after the other": """
# hint: right to a few digits only
def norm_gradient(x, grad):
    def norm(x):
        spread = x.std(-1, correction=0, keepdim=True)
        return (x - x.mean(-1, keepdim=True)) / spread

    slopes = []
    for i in range(x.shape[-1]):
        step = torch.zeros_like(x)
        step[..., i] = 1e-6
        change = (norm(x + step) - norm(x - step)) / 2e-6
        slopes.append((change * grad).sum(-1))
    return torch.stack(slopes, dim=-1)
""",
        "autograd is switched on again": """
# hint: write it without inference_mode
def norm_gradient(x, grad):
    with torch.inference_mode(False), torch.enable_grad():
        leaf = x.clone().requires_grad_()
        y = leaf - leaf.mean(-1, keepdim=True)
        y = y / leaf.std(-1, correction=0, keepdim=True)
        return torch.autograd.grad(y, leaf, grad.clone())[0]
""",
    },
}

# Mutants of the solutions that are right too, and why.
SUM = "a sum in another order is the same sum"
EQUIVALENT = {
    "rms_norm": {
        "return x / torch.sqrt((eps + x.square().mean(-1, keepdim=True)))": SUM,
    },
    "whole_layer": {
        "return (feed_forward(second(x)) + x)": SUM,
        "return second((feed_forward(x) + x))": SUM,
        "x = (attention(first(x)) + x)": SUM,
        "x = first((attention(x) + x))": SUM,
    },
    "norm_gradient": {
        "y = ((x.mean(-1, keepdim=True) - x)) / deviation": (
            "y occurs twice in its product, so its sign drops out"
        ),
    },
}
