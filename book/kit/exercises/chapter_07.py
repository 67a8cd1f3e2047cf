"""Checks of the exercises of chapter 7, the rest of a layer. Not taught."""

import torch
import torch.nn.functional as F
from torch import nn

from kit.exercises import expect
from kit.exercises.chapter_01 import AUTOGRAD
from kit.exercises.contract import (
    asks,
    between,
    by_oneself,
    floats,
    lengths,
    made,
    one_of,
)
from lib.layers import FeedForward, Residual
from lib.runtime import device


def of_vectors(answer, x, eps):
    """Vectors in batches, one alone, and short ones with a small eps."""
    return (
        answer(x, eps),
        answer(x[0], eps),
        answer(x[0, 0], eps),
        answer(x / x.abs().max() / 1e3),
        answer(x / x.abs().max() / 1e4, eps / 1e8),
    )


def divided(size, centred=False):
    """A vector divided by a size, which is made of its squares and eps."""

    def norm(x, eps=1e-6):
        return (x - x.mean(-1, keepdim=True) * centred) / size(x, eps)

    return norm


def mean(x):
    return x.mean(-1, keepdim=True)


@asks(
    {"x": floats("n i d"), "eps": between(0.2, 0.8, given="eps")},
    "the size that you divide by is not the root of mean square plus eps.",
    {
        "you divide by the spread around the mean. RMSNorm knows no mean: "
        "the squares are those of x itself.": divided(
            lambda x, eps: (x.var(-1, correction=0, keepdim=True) + eps).sqrt()
        ),
        "this is LayerNorm: the mean must stay in.": divided(
            lambda x, eps: (
                x.var(-1, correction=0, keepdim=True) + eps
            ).sqrt(),
            centred=True,
        ),
        "eps stands outside the root, and the formula has it inside.": divided(
            lambda x, eps: mean(x.square()).sqrt() + eps
        ),
        "you divide by the length, the root of a sum. Here it is the root of "
        "a mean.": divided(
            lambda x, eps: (x.square().sum(-1, keepdim=True) + eps).sqrt()
        ),
        "all positions share one size: the mean is to run along the last "
        "axis only.": divided(lambda x, eps: (x.square().mean() + eps).sqrt()),
        "the root is missing.": divided(lambda x, eps: mean(x.square()) + eps),
        "the mean of the absolute values is another size: square first, and "
        "take the root at the end.": divided(
            lambda x, eps: mean(x.abs()) + eps
        ),
        "eps makes no difference here: it is to be added to the mean square, "
        "under the root.": divided(lambda x, eps: mean(x.square()).sqrt()),
        "if nobody gives eps, it is 1e-6.": lambda x, eps=1e-5: F.rms_norm(
            x, x.shape[-1:], eps=eps
        ),
    },
    calls=of_vectors,
    ways=(by_oneself("rms_norm", "RMSNorm"),),
    eps=(0.5, 0.25, 0.75, 0.3),
)
def rms_norm(x, eps=1e-6):
    return F.rms_norm(x, x.shape[-1:], eps=eps)


def drawn_layer(draw, case):
    """PyTorch's layer, with numbers that are not those of the start."""
    heads, width = case.sizes["h"], case.sizes["w"]
    layer = nn.TransformerEncoderLayer(
        heads * width, heads, 16, 0.0, batch_first=True
    ).to(device(), case.dtype)
    return draw.fill(layer, lambda x: x / 2)


class Parts:
    """What a layer is put together from."""

    def __init__(self, layer):
        self.layer, self.norms = layer, [layer.norm1, layer.norm2]

    def attention(self, x):
        return self.layer.self_attn(x, x, x, need_weights=False)[0]

    def feed_forward(self, x):
        return self.layer.linear2(F.relu(self.layer.linear1(x)))


def put_together(answer, layer, x, norm_first):
    parts = Parts(layer)
    both = parts.attention, parts.feed_forward
    return answer(x, *both, parts.norms, norm_first)


def around(x, part, norm, first):
    return x + part(norm(x)) if first else norm(x + part(x))


def wired(join=(around, around), norms=(0, 1), turned=False, other=False):
    """A layer whose sub-layers are joined in these ways."""

    def whole_layer(x, attention, feed_forward, both, first):
        parts = [attention, feed_forward][:: -1 if turned else 1]
        chosen = [both[n] for n in norms]
        for one, part, norm in zip(join, parts, chosen, strict=True):
            x = one(x, part, norm, first ^ other)
        return x

    return whole_layer


def no_path(x, part, norm, first):
    return part(norm(x)) if first else norm(part(x))


def no_norm(x, part, norm, first):
    return x + part(x)


def normed_path(x, part, norm, first):
    return norm(x) + part(norm(x) if first else x)


def norm_behind(x, part, norm, first):
    return x + norm(part(x)) if first else norm(x + part(x))


def from_below(x, attention, feed_forward, norms, first):
    """The second path begins below the layer."""
    y = around(x, attention, norms[0], first)
    if first:
        return y + feed_forward(norms[1](x))
    return norms[1](x + feed_forward(y))


@asks(
    {
        "norms": made(drawn_layer, "h w", is_floating=True),
        "x": floats("n i h*w"),
        "norm_first": one_of(False, True),
    },
    "follow the thick line of figure 7.6 upwards: what stands on it, and "
    "what beside it?",
    {
        "norm_first gives the other layer.": wired(other=True),
        "the same norm stands twice: each sub-layer has its own.": wired(
            norms=(0, 0)
        ),
        "the norms come in the order in which they are needed.": wired(
            norms=(1, 0)
        ),
        "attention comes first, and the feed-forward network after it.": wired(
            turned=True
        ),
        "no path leads past attention.": wired((no_path, around)),
        "no path leads past the feed-forward network.": wired(
            (around, no_path)
        ),
        "the second norm is missing.": wired((around, no_norm)),
        "what is added to is not normed: post-norm norms the sum, and in "
        "pre-norm the path carries x itself.": wired((normed_path,) * 2),
        "in pre-norm your norms stand after the sub-layers: what goes into a "
        "sub-layer is normalised.": wired((norm_behind,) * 2),
        "the second sub-layer goes back to the x from below the layer.": (
            from_below
        ),
    },
    sizes={"h": (1, 3), "w": (2, 4)},
    calls=put_together,
    ways=(by_oneself("Residual"),),
)
def whole_layer(x, attention, feed_forward, norms, norm_first):
    layer = attention.__self__.layer
    layer.norm_first = norm_first
    return layer(x)


def every_sign(keys):
    """All vectors of entries 1 and -1."""
    return torch.cartesian_prod(
        *[keys.new_tensor([1.0, -1.0])] * keys.shape[1]
    )


def drawn_keys(draw, case):
    count, d = case.sizes["c"], case.sizes["d"]
    every = every_sign(torch.empty(0, d, dtype=case.dtype, device=device()))
    return every[draw.different(count, 0, len(every) - 1)]


def told(answer, keys, values):
    """What the network says of every vector."""
    got = answer(keys, values)
    expect.that(
        isinstance(got, tuple | list) and len(got) == 3,
        "three tensors are to come back: W_1, b_1, W_2.",
    )
    W_1, b_1, W_2 = got
    for name, tensor in (("W_1", W_1), ("b_1", b_1), ("W_2", W_2)):
        expect.tensor(tensor, what=name)
    first, last = tuple(W_1.shape), tuple(W_2.shape)
    expect.that(
        first[:1] == keys.shape[1:] and last == (*first[1:], values.shape[1]),
        f"your W_1 is {first} and W_2 {last}. A pattern is a column of W_1, "
        "and what its unit writes a row of W_2.",
    )
    expect.that(
        b_1.shape == first[1:],
        f"b_1 has the shape {tuple(b_1.shape)}: each unit needs a number of "
        "its own.",
    )
    return torch.relu(every_sign(keys) @ W_1 + b_1) @ W_2


def units(bias, write=lambda values: values):
    """A unit for each key, that fires above a bias."""

    def remember(keys, values):
        count, d = keys.shape
        return keys.T, keys.new_full((count,), float(bias(d))), write(values)

    return remember


@asks(
    {
        "keys": made(drawn_keys, "c d", is_floating=True),
        "values": floats("c e"),
    },
    "each key should bring its value, and every other vector nothing: what "
    "is the largest product of a key with another vector?",
    {
        "no unit fires, not even for its own key: how much does your bias "
        "take off?": units(lambda d: -d),
        "there is no bias: every unit fires that agrees a little.": units(
            lambda d: 0
        ),
        "the right units fire, but they write twice the value: how high does "
        "a unit rise for its key?": units(lambda d: 2 - d),
        "the values stand in another order than their keys.": units(
            lambda d: 1 - d, lambda values: values.flip(0)
        ),
        "values are divided by the number of facts, and only one unit fires "
        "at a time.": units(
            lambda d: 1 - d, lambda values: values / len(values)
        ),
    },
    sizes={
        "c": (1, 7, lambda given: given.count),
        "d": (4, 6, lambda given: given.d),
    },
    calls=told,
    count=(3, 2, 8),
    d=(5, 6, 7),
)
def remember(keys, values):
    return units(lambda d: 1 - d)(keys, values)


def drawn_stack(draw, case):
    """Layers as in the task, with drawn numbers."""
    stack = []
    for _ in range(case.sizes["l"]):
        join = Residual(case.sizes["d"], norm_first=True)
        network = FeedForward(case.sizes["d"], 32)
        draw.fill(network, lambda x: x / 3)
        stack.append(
            [part.to(device(), case.dtype) for part in (join, network)]
        )
    return stack


def drawn_norms(draw, case):
    """The same, and norms with a gain and a bias."""
    stack = drawn_stack(draw, case)
    with torch.no_grad():
        for join, _ in stack:
            for p in join.norm.parameters():
                p.copy_(p + draw.normal(*p.shape) / 3)
    return stack


def with_zeros(draw, case):
    x = draw.normal(*lengths("n d", case), dtype=case.dtype) * case.times
    x[:, : x.shape[-1] // 2] = 0
    return x


def why_it_speaks(n, join, network):
    """What keeps a layer from adding zeros, if it is known."""
    if (network.narrow.weight == 0).all():
        return f"layer {n} still adds the bias of narrow."
    if (join.norm.weight == 0).all():
        return (
            f"layer {n} still speaks: its norm gives zeros, and of zeros "
            "the network with its biases makes something."
        )
    if (network.narrow.weight.abs() < 1e-4).all():
        return f"layer {n} only whispers: small weights are not zero."
    if (network.widen.weight == 0).all():
        if (network.widen.bias > 0).any():
            return f"layer {n} still speaks: units fire by the bias of widen."
        return (
            f"in layer {n} all hidden units are 0, and yet it adds "
            "something: which number comes after them?"
        )
    return ""


def silenced(answer, stack, x):
    """What comes out of the stack; it is the input, and can be trained."""
    before = [p.clone() for _, f in stack for p in f.parameters()]
    kept, count = list(stack), len(stack)
    answer(stack)
    expect.that(
        len(stack) == count,
        f"of {count} layers {len(stack)} are left. Keep them: they are to "
        "learn later.",
    )
    after = [p for _, f in kept for p in f.parameters()]
    pairs = zip(after, before, strict=True)
    changed = any(not torch.equal(*pair) for pair in pairs)
    quiet_norms = all((join.norm.weight == 0).all() for join, _ in kept)
    expect.that(
        changed or quiet_norms,
        "no weight of the stack has changed: change it in place, not a copy.",
    )
    top = x
    for n, (join, network) in enumerate(stack):
        above = join(top, network)
        why = why_it_speaks(n, join, network)
        expect.that(torch.equal(above, top) or not why, why)
        top = above
    top.square().sum().backward()
    for n, (_, network) in enumerate(stack):
        grads = network.widen.weight.grad, network.narrow.weight.grad
        expect.that(
            any(grad is not None and grad.norm() > 0 for grad in grads),
            f"layer {n} is silent for ever: no matrix of it gets a gradient, "
            "because no hidden unit fires.",
        )
    return top.detach()


@asks(
    {
        "stack": made(drawn_stack, "l d", is_floating=True),
        "x": made(with_zeros, "n d", is_floating=True),
    },
    "the stack must give back its input, to the last bit.",
    sizes={"d": (4, 8), "l": (1, 6, lambda given: given.count), "n": (3, 6)},
    calls=silenced,
    changes=("stack",),
    count=(6, 4, 5, 7),
)
def silence(stack):
    for _, network in stack:
        for parameter in network.narrow.parameters():
            nn.init.zeros_(parameter)


def branch(network, x):
    """What a feed-forward network makes of x."""
    hidden = F.relu(F.linear(x, network.widen.weight, network.widen.bias))
    return F.linear(hidden, network.narrow.weight, network.narrow.bias)


def payments(stack, x, read=lambda norm, start, now: norm(now)):
    """What each layer adds, and the balances after it."""
    added, balances = [], [x]
    for join, network in stack:
        added.append(branch(network, read(join.norm, x, balances[-1])))
        balances.append(balances[-1] + added[-1])
    return added, balances[1:]


def reads(read):
    return lambda stack, x: payments(stack, x, read)[0]


@asks(
    {"stack": made(drawn_norms, "l d", is_floating=True), "x": floats("n d")},
    "payment 0 is what layer 0 adds to x, and each further one what the next "
    "layer adds to the balance.",
    {
        "the payments are in the reverse order.": (
            lambda stack, x: payments(stack, x)[0][::-1]
        ),
        "these are the balances after each layer, not the payments.": (
            lambda stack, x: payments(stack, x)[1]
        ),
        "each of these is all that has been paid since the start: take the "
        "balance before the layer off.": lambda stack, x: [
            balance - x for balance in payments(stack, x)[1]
        ],
        "every layer of yours reads the first x. It must read the balance "
        "that the layers before have left.": reads(
            lambda norm, start, now: norm(start)
        ),
        "the norm in the branch is left out: a layer pays network(norm(x)).": (
            lambda stack, x: [
                branch(network, balance)
                for (_, network), balance in zip(
                    stack, [x, *payments(stack, x)[1]], strict=False
                )
            ]
        ),
        "the signs are turned: what is added is after - before.": (
            lambda stack, x: [-paid for paid in payments(stack, x)[0]]
        ),
        "each of these is the sum of all payments.": lambda stack, x: (
            [sum(payments(stack, x)[0])] * len(stack)
        ),
        "the opening balance is no payment: your list begins with x.": (
            lambda stack, x: [x, *payments(stack, x)[0][:-1]]
        ),
    },
    sizes={"d": (4, 8), "l": (2, 6, lambda given: given.count), "n": (3, 6)},
    count=(5, 3, 4, 6),
)
def contributions(stack, x):
    return payments(stack, x)[0]


def one_and_many(answer, x, grad):
    """Vectors in a batch, and one alone."""
    return answer(x, grad), answer(x[0, 0], grad[0, 0])


def back(combine, correction=0):
    """A gradient made of parts: grad, along ones, along y, y, the spread."""

    def norm_gradient(x, grad):
        spread = x.std(-1, correction=correction, keepdim=True)
        y = (x - mean(x)) / spread
        return combine(grad, mean(grad), y * mean(grad * y), x, spread)

    return norm_gradient


@asks(
    {"x": floats("n i d"), "grad": floats("n i d")},
    "this is not the gradient. Try grad = ones and grad = y: both must give "
    "0.",
    {
        "mean and spread are taken for constants. But each entry of x moves "
        "both of them.": back(
            lambda grad, ones, along, x, spread: grad / spread
        ),
        "the part along y is still in: the spread depends on x, too.": back(
            lambda grad, ones, along, x, spread: (grad - ones) / spread
        ),
        "the part along the ones is still in: the mean depends on x, too.": (
            back(lambda grad, ones, along, x, spread: (grad - along) / spread)
        ),
        "the right direction, but not its size: by what does the norm divide "
        "a small change of x?": back(
            lambda grad, ones, along, x, spread: grad - ones - along
        ),
        "you multiply by the spread. The norm divides by it on the way up, "
        "and so does the chain rule on the way back.": back(
            lambda grad, ones, along, x, spread: (grad - ones - along) * spread
        ),
        "your spread divides by d - 1, and LayerNorm's divides by d.": back(
            lambda grad, ones, along, x, spread: (
                (grad - ones - along) / spread
            ),
            correction=1,
        ),
        "the part along y is added, and should be taken off.": back(
            lambda grad, ones, along, x, spread: (grad - ones + along) / spread
        ),
        "the part along y is taken off d times: y has the mean square 1, so "
        "a mean is enough.": back(
            lambda grad, ones, along, x, spread: (
                (grad - ones - along * x.shape[-1]) / spread
            )
        ),
        "the part to take off lies along y, the normalised x, and not along "
        "x.": back(
            lambda grad, ones, along, x, spread: (
                (grad - ones - x * mean(grad * x)) / spread
            )
        ),
        "you have normalised the gradient. Its way back depends on x.": (
            lambda x, grad: F.layer_norm(grad, grad.shape[-1:], eps=0)
        ),
    },
    sizes={"d": (3, 8)},
    calls=one_and_many,
    ways=(by_oneself(*AUTOGRAD),),
)
def norm_gradient(x, grad):
    """Row by row, with the whole matrix of derivatives."""
    d = x.shape[-1]
    y = F.layer_norm(x, (d,), eps=0)
    apart = torch.eye(d).to(x) - 1 / d - y[..., :, None] * y[..., None, :] / d
    spread = x.std(-1, correction=0, keepdim=True)
    return (apart @ grad[..., None])[..., 0] / spread
