"""Checks of the exercises of chapter 7, the rest of a layer. Not taught."""

from contextlib import contextmanager

import torch
import torch.nn.functional as F
from torch import nn

from kit.exercises import Wrong, exercise, expect
from lib.layers import FeedForward, Residual
from lib.runtime import device


@exercise(eps=(0.5, 0.25, 0.75, 0.3))
@expect.own_work("rms_norm", "RMSNorm")
def rms_norm(answer, draw):
    eps = draw.given.eps
    for shape in ((2, 5, 7), (11,)):
        x = 1 + draw.normal(*shape)
        with expect.untouched(x):
            got = answer(x, eps)
        expect.tensor(got, shape)
        expect.close(
            got,
            F.rms_norm(x, shape[-1:], eps=eps),
            f"for a tensor of shape {shape} and eps={eps} the size that you "
            "divide by is not the root of mean square plus eps.",
            size_mistakes(x, eps),
        )
    small = draw.normal(3, 8) / 1_000
    expect.close(
        answer(small),
        F.rms_norm(small, (8,), eps=1e-6),
        f"right with eps={eps}, but not when eps is left at 1e-6.",
    )


def size_mistakes(x, eps):
    """What else a vector is divided by."""
    square = x.square().mean(-1, keepdim=True)
    centred = x - x.mean(-1, keepdim=True)
    spread = centred.square().mean(-1, keepdim=True)
    return [
        (
            x / (spread + eps).sqrt(),
            "you divide by the spread around the mean. RMSNorm knows no "
            "mean: the squares are those of x itself.",
        ),
        (
            centred / (spread + eps).sqrt(),
            "this is LayerNorm: the mean must stay in.",
        ),
        (
            x / (square.sqrt() + eps),
            "eps stands outside the root, and the formula has it inside.",
        ),
        (
            x / (x.square().sum(-1, keepdim=True) + eps).sqrt(),
            "you divide by the length, the root of a sum. Here it is the "
            "root of a mean.",
        ),
        (
            x / (x.square().mean() + eps).sqrt(),
            "all positions share one size: the mean is to run along the "
            "last axis only.",
        ),
        (x / (square + eps), "the root is missing."),
        (
            x / (x.abs().mean(-1, keepdim=True) + eps),
            "the mean of the absolute values is another size: square "
            "first, and take the root at the end.",
        ),
        (
            x / square.sqrt(),
            "eps makes no difference here: it is to be added to the mean "
            "square, under the root.",
        ),
    ]


@exercise()
@expect.own_work("Residual")
def whole_layer(answer, draw):
    x = draw.normal(3, 5, 8)
    norms = [norm_of(draw, 8), norm_of(draw, 8)]
    for norm_first in (False, True):
        theirs = layer_of_torch(draw, norms, norm_first)

        def attention(x, theirs=theirs):
            return theirs.self_attn(x, x, x, need_weights=False)[0]

        def feed_forward(x, theirs=theirs):
            return theirs.linear2(F.relu(theirs.linear1(x)))

        parts = x, attention, feed_forward, *norms
        with torch.no_grad():
            with expect.untouched(x):
                got = answer(x, attention, feed_forward, norms, norm_first)
            expect.tensor(got, (3, 5, 8), what="the layer's output")
            expect.close(
                got,
                theirs(x),
                f"wrong with norm_first={norm_first}. Follow the thick line "
                "of figure 7.6 upwards: what stands on it, what beside it?",
                [
                    (
                        written(*parts, not norm_first),
                        f"norm_first={norm_first} gives the other layer.",
                    ),
                    *layer_mistakes(*parts, norm_first),
                ],
            )


def norm_of(draw, width):
    """A LayerNorm whose gain and bias are not those of the start."""
    norm = nn.LayerNorm(width).to(device())
    with torch.no_grad():
        norm.weight.copy_(draw.normal(width))
        norm.bias.copy_(draw.normal(width))
    return norm


def layer_of_torch(draw, norms, norm_first):
    """PyTorch's layer, with these norms and other numbers."""
    layer = nn.TransformerEncoderLayer(
        8, 2, 16, 0.0, batch_first=True, norm_first=norm_first
    )
    layer = layer.to(device())
    with torch.no_grad():
        for parameter in layer.parameters():
            parameter.copy_(draw.normal(*parameter.shape) / 2)
    layer.norm1, layer.norm2 = norms
    return layer


def written(x, attention, feed_forward, first, second, norm_first):
    """A layer in two lines."""
    if norm_first:
        x = x + attention(first(x))
        return x + feed_forward(second(x))
    x = first(x + attention(x))
    return second(x + feed_forward(x))


def layer_mistakes(x, attention, feed_forward, first, second, norm_first):
    """What a layer is taken for, post-norm or pre-norm."""
    parts = attention, feed_forward, first, second
    twice = "the same norm stands twice: each sub-layer has its own."
    swapped = "the norms have changed places."
    order = "the feed-forward network comes first, attention after it."
    common = [
        (written(x, *parts[:2], first, first, norm_first), twice),
        (written(x, *parts[:2], second, first, norm_first), swapped),
        (written(x, feed_forward, attention, *parts[2:], norm_first), order),
    ]
    own = of_pre_norm if norm_first else of_post_norm
    return common + own(x, *parts)


def of_post_norm(x, attend, feed, first, second):
    """Mistakes of a layer whose norms stand on the path."""
    y, alone = first(x + attend(x)), first(attend(x))
    mixed = attend(x) + first(x)
    return [
        (
            feed(mixed) + second(mixed),
            "this is f(x) + LayerNorm(x). The norm takes the sum, so it "
            "comes last.",
        ),
        (second(feed(y)), "no path leads past the feed-forward network."),
        (second(alone + feed(alone)), "no path leads past attention."),
        (y + feed(y), "the second norm is missing."),
        (
            second(x + feed(y)),
            "the second plus sign adds the x from below the layer. On the "
            "path stands what the first norm has made.",
        ),
    ]


def of_pre_norm(x, attend, feed, first, second):
    """Mistakes of a layer whose norms stand in the branches."""
    alone = attend(first(x))
    y, behind = x + alone, x + first(attend(x))
    normed = second(first(x) + attend(first(x)))
    return [
        (
            normed + feed(normed),
            "you add to the normalised x. Only the branch reads the norm; "
            "the path carries x itself.",
        ),
        (
            y + feed(second(x)),
            "the feed-forward network reads the x from below the layer, so "
            "it never hears what attention has found.",
        ),
        (
            behind + second(feed(behind)),
            "your norms stand after the sub-layers. Pre-norm means: what "
            "goes into a sub-layer is normalised.",
        ),
        (y + feed(y), "the second norm is missing."),
        (feed(second(y)), "no path leads past the feed-forward network."),
        (alone + feed(second(alone)), "no path leads past attention."),
    ]


@exercise(count=(3, 2, 8), d=(5, 6, 7))
def remember(answer, draw):
    facts = (draw.given.count, draw.given.d), (1, 3), (draw.whole(2, 7), 6)
    for count, d in facts:
        every = torch.cartesian_prod(*[torch.tensor([1.0, -1.0])] * d)
        chosen = draw.different(count, 0, 2**d - 1)
        keys, values = every[chosen], 1 + draw.uniform(count, 4).cpu()
        with expect.untouched(keys, values):
            got = answer(keys, values)
        expect.that(
            isinstance(got, tuple | list) and len(got) == 3,
            "three tensors are to come back: W_1, b_1, W_2.",
        )
        sizes_fit(d, count, *got)
        W_1, b_1, W_2 = got
        units = torch.relu(every @ W_1 + b_1)
        recall(every, chosen, units, units @ W_2, values)


def sizes_fit(d, count, W_1, b_1, W_2):
    """A pattern is a column, and what its unit writes a row."""
    for name, tensor in (("W_1", W_1), ("b_1", b_1), ("W_2", W_2)):
        expect.tensor(tensor, what=name)
    first, last = tuple(W_1.shape), tuple(W_2.shape)
    expect.that(
        first[:1] == (d,) and last == (*first[1:], 4),
        f"with {count} keys of width {d} and values of width 4 your W_1 is "
        f"{first} and W_2 {last}. A pattern is a column of W_1, and what its "
        "unit writes a row of W_2.",
    )
    expect.that(
        b_1.shape == first[1:],
        f"b_1 has the shape {tuple(b_1.shape)}: each unit needs a number of "
        "its own.",
    )


def recall(every, chosen, units, written, values):
    """Keys bring their values, and every other vector nothing."""
    d = every.shape[1]
    key = every[chosen[0]].int().tolist()
    expect.that(
        units[chosen].any(),
        f"no unit fires, not even for its own key {key}, whose product with "
        f"itself is {d}. How much does your bias take off?",
    )
    others = torch.ones(len(every), dtype=torch.bool)
    others[chosen] = False
    loud = (others & (written.abs().sum(1) > 1e-5)).nonzero().flatten()
    if len(loud):
        vector = every[loud[0]].int().tolist()
        same = (every[loud[0]] == every[chosen]).sum(1).max().item()
        raise Wrong(
            f"{vector} is no key, and a unit fires. With one of the keys it "
            f"has {same} of {d} entries in common, a product of "
            f"{2 * same - d}."
        )
    factor = (written[chosen[0]] / values[0]).mean().item()
    expect.close(
        written[chosen],
        values,
        "each key should bring its value, and nothing of other keys.",
        [
            (
                written[chosen[0]].div(values[0]).mean() * values,
                f"the right units fire, but they write {factor:.3g} times "
                "the value: how high does a unit rise for its key?",
            )
        ],
    )


def stack_of(draw, count):
    """Layers as in the task, with drawn numbers."""
    stack = []
    for _ in range(count):
        join = Residual(8, norm_first=True).to(device())
        network = FeedForward(8, 32).to(device())
        with torch.no_grad():
            for parameter in network.parameters():
                parameter.copy_(draw.normal(*parameter.shape) / 3)
        stack.append((join, network))
    return stack


@exercise(count=(6, 4, 5, 7))
def silence(answer, draw):
    count = draw.given.count
    stack, x = stack_of(draw, count), draw.normal(3, 8)
    before = [p.clone() for _, f in stack for p in f.parameters()]
    kept = list(stack)
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
        if not torch.equal(above, top):
            raise Wrong(why_it_speaks(n, join, network))
        top = above
    top.square().sum().backward()
    for n, (_, network) in enumerate(stack):
        grads = network.widen.weight.grad, network.narrow.weight.grad
        expect.that(
            any(grad is not None and grad.norm() > 0 for grad in grads),
            f"layer {n} is silent for ever: no matrix of it gets a gradient, "
            "because no hidden unit fires.",
        )


def why_it_speaks(n, join, network):
    """What keeps a layer from adding zeros."""
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
    if (network.narrow.bias == 0).all():
        return f"layer {n} has no bias left, but its matrices still speak."
    return f"layer {n} still adds something to the path."


@exercise(count=(5, 3, 4, 6))
def contributions(answer, draw):
    stack, x = stack_of(draw, draw.given.count), draw.normal(3, 8)
    with torch.no_grad(), expect.untouched(x):
        got = answer(stack, x)
    expect.that(
        isinstance(got, list),
        f"a list is asked for, not a {type(got).__name__}.",
    )
    expect.that(
        len(got) == len(stack),
        f"there are {len(stack)} layers, and your list has "
        f"{expect.plural(len(got), 'payment')}.",
    )
    balances, payments = account(stack, x)
    for layer, payment in enumerate(got):
        expect.tensor(payment, (3, 8), what=f"payment {layer}")
    expect.close(
        torch.stack(got),
        payments,
        "payment 0 fits the layer, but others do not."
        if expect.same(got[0], payments[0])
        else "payment 0 is not what layer 0 adds to x.",
        payment_mistakes(stack, x, balances, payments),
        tolerance=1e-4,
    )


def account(stack, x):
    """All balances and payments, with PyTorch's norm and matrices."""
    balances, payments = [x], []
    for _, network in stack:
        payments.append(branch(network, F.layer_norm(balances[-1], (8,))))
        balances.append(balances[-1] + payments[-1])
    return torch.stack(balances), torch.stack(payments).detach()


def branch(network, x):
    """What a feed-forward network makes of x."""
    hidden = F.relu(F.linear(x, network.widen.weight, network.widen.bias))
    return F.linear(hidden, network.narrow.weight, network.narrow.bias)


def payment_mistakes(stack, x, balances, payments):
    """What a payment is taken for."""
    total = payments.sum(0)
    first = [branch(f, F.layer_norm(x, (8,))) for _, f in stack]
    raw = [branch(f, b) for (_, f), b in zip(stack, balances, strict=False)]
    return [
        (payments.flip(0), "the payments are in the reverse order."),
        (
            balances[1:],
            "these are the balances after each layer, not the payments.",
        ),
        (
            balances[1:] - x,
            "each of these is all that has been paid since the start: take "
            "the balance before the layer off.",
        ),
        (
            torch.stack(first),
            "every layer of yours reads the first x. It must read the "
            "balance that the layers before have left.",
        ),
        (
            torch.stack(raw),
            "the norm in the branch is left out: a layer pays "
            "network(norm(x)).",
        ),
        (-payments, "the signs are turned: what is added is after - before."),
        (
            total.expand_as(payments),
            "each of these is the sum of all payments.",
        ),
        (
            (total / len(stack)).expand_as(payments),
            "all payments are equal: you have divided the sum of them.",
        ),
        (
            torch.cat([x[None], payments[:-1]]),
            "the opening balance is no payment: your list begins with x.",
        ),
    ]


@exercise()
@expect.own_work("inference_mode")
def norm_gradient(answer, draw):
    for shape in ((2, 5, 7), (11,)):
        x = 3 + 2 * draw.normal(*shape, dtype=torch.float64)
        grad = draw.normal(*shape, dtype=torch.float64)
        leaf = x.clone().requires_grad_()
        y = F.layer_norm(leaf, shape[-1:], eps=0)
        (expected,) = torch.autograd.grad(y, leaf, grad)
        with expect.untouched(x, grad), no_autograd():
            got = answer(x.clone(), grad.clone())
        expect.tensor(got, shape)
        expect.that(
            expect.same(got, expected, 1e-10)
            or not expect.same(got, expected),
            "right to a few digits only. A formula gives all of them; small "
            "steps of x do not.",
        )
        expect.close(
            got,
            expected,
            "this is not the gradient. Try grad = ones and grad = y: both "
            "must give 0.",
            gradient_mistakes(x, grad),
        )


@contextmanager
def no_autograd():
    """Here nothing is recorded, and whoever asks for a gradient is told."""
    try:
        with torch.inference_mode():
            yield
    except RuntimeError as error:
        if "grad" not in str(error) and "inference" not in str(error):
            raise
        raise Wrong(
            "autograd is switched off here: the way back is to be a formula."
        ) from None


def gradient_mistakes(x, grad):
    """What the way back through a norm is taken for."""
    spread = x.var(-1, correction=0, keepdim=True).sqrt()
    y = (x - x.mean(-1, keepdim=True)) / spread
    ones = grad.mean(-1, keepdim=True)
    along = (grad * y).mean(-1, keepdim=True)
    width = x.shape[-1]
    return [
        (
            grad / spread,
            "mean and spread are taken for constants. But each entry of x "
            "moves both of them.",
        ),
        (
            (grad - ones) / spread,
            "the part along y is still in: the spread depends on x, too.",
        ),
        (
            (grad - y * along) / spread,
            "the part along the ones is still in: the mean depends on x, too.",
        ),
        (
            grad - ones - y * along,
            "the right direction, but not its size: by what does the norm "
            "divide a small change of x?",
        ),
        (
            (grad - ones - y * along) * spread,
            "you multiply by the spread. The norm divides by it on the way "
            "up, and so does the chain rule on the way back.",
        ),
        (
            (grad - ones - y * along * (width - 1) / width)
            / x.std(-1, keepdim=True),
            "your spread divides by d - 1, and LayerNorm's divides by d.",
        ),
        (
            (grad - ones + y * along) / spread,
            "the part along y is added, and should be taken off.",
        ),
        (
            (grad - ones - y * along * width) / spread,
            "the part along y is taken off d times: y has the mean square 1, "
            "so a mean is enough.",
        ),
        (
            (grad - ones - x * (grad * x).mean(-1, keepdim=True)) / spread,
            "the part to take off lies along y, the normalised x, and not "
            "along x.",
        ),
        (
            (grad - ones) / grad.std(-1, correction=0, keepdim=True),
            "you have normalised the gradient. Its way back depends on x.",
        ),
    ]
