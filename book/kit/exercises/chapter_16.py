"""Checks of the exercises of chapter 16, after 2017. Not taught."""

import copy
import math
from functools import partial

import torch
import torch.nn.functional as F
from torch import nn

from kit.exercises import expect
from kit.exercises.contract import (
    asks,
    between,
    by_oneself,
    floats,
    made,
    one_of,
    several,
    size,
    whole,
)
from lib.layers import FeedForward, LayerNorm, Residual
from lib.runtime import device

LLAMA_2 = {
    "model_type": "llama",
    "vocab_size": 32_000,
    "hidden_size": 4_096,
    "num_hidden_layers": 32,
    "num_attention_heads": 32,
    "max_position_embeddings": 4_096,
    "tie_word_embeddings": False,
    "rms_norm_eps": 1e-5,
    "attention_bias": False,
    "hidden_act": "silu",
    "intermediate_size": 11_008,
    "rope_theta": 10_000.0,
    "num_key_value_heads": 32,
}


def drawn_configs(draw, case):
    """Of the page at first; then tied or not."""
    if case.is_given:
        shared = {"num_key_value_heads": draw.given.kv_heads}
        return [LLAMA_2 | shared, LLAMA_2]
    configs = []
    for tied in (True, False):
        d_head, kv_heads, group = draw.different(3, 2, 7)
        changes = {
            "hidden_size": d_head * kv_heads * group,
            "num_attention_heads": kv_heads * group,
            "num_key_value_heads": kv_heads,
            "intermediate_size": draw.whole(100, 200),
            "num_hidden_layers": draw.whole(2, 5),
            "vocab_size": draw.whole(300, 500),
            "tie_word_embeddings": tied,
        }
        configs.append(LLAMA_2 | changes)
    return configs


def shared(fields):
    """The width of all key heads together."""
    d_head = fields["hidden_size"] // fields["num_attention_heads"]
    return d_head * fields["num_key_value_heads"]


def not_shared(fields):
    return fields["hidden_size"]


def of_layers(
    keys=shared,
    values=shared,
    network=("gate", "up", "down"),
    norms=(nn.RMSNorm, nn.RMSNorm),
    last=(nn.RMSNorm,),
    is_tied=lambda fields: fields["tie_word_embeddings"],
):
    """How many weights torch's layers have, some of them other ones."""

    def count(*layers):
        return sum(w.numel() for m in layers for w in m.parameters())

    def weights_of(fields):
        d, linear = fields["hidden_size"], partial(nn.Linear, bias=False)
        words = [linear(d, fields["vocab_size"])]
        block = [linear(d, d) for _ in ("queries", "output")]
        block += [linear(d, keys(fields)), linear(d, values(fields))]
        block += [linear(d, fields["intermediate_size"]) for _ in network]
        block += [norm(d) for norm in norms]
        around = [*(words if is_tied(fields) else words * 2)]
        around += [norm(d) for norm in last]
        return fields["num_hidden_layers"] * count(*block) + count(*around)

    def without_numbers(fields):
        with torch.device("meta"):
            return weights_of(fields)

    return without_numbers


@asks(
    {"configs": made(drawn_configs)},
    "count one block, part by part: attention, network, norms. Then what "
    "stands around the blocks.",
    {
        "W_k and W_v have rows for the key heads only, and here these are "
        "fewer than the query heads.": of_layers(not_shared, not_shared),
        "keys and values are shared alike: W_v is as narrow as W_k.": (
            of_layers(values=not_shared)
        ),
        "the gated network has three matrices: gate, up and down.": (
            of_layers(network=("up", "down"))
        ),
        "there is one more norm, after the last block.": of_layers(last=()),
        "an RMSNorm has a gain and no bias.": of_layers(
            norms=(nn.LayerNorm, nn.LayerNorm)
        ),
        "a block has two norms, one for each sub-layer.": of_layers(
            norms=(nn.RMSNorm,)
        ),
        "where they are tied, the output matrix is the table: it counts "
        "once.": of_layers(is_tied=lambda fields: False),
        "where they are not tied, the output matrix is one of its own, "
        "beside the table.": of_layers(is_tied=lambda fields: True),
    },
    calls=lambda answer, configs: [answer(fields) for fields in configs],
    kv_heads=(8, 4, 2, 16),
)
def weights_of(fields):
    return of_layers()(fields)


def slopes(heads):
    """Of a power of two; then every other one of the next power."""
    power = 2 ** int(math.log2(heads))
    first = [2 ** (-8 * n / power) for n in range(1, power + 1)]
    others = [2 ** (-4 * n / power) for n in range(1, 2 * power, 2)]
    return torch.tensor((first + others)[:heads])


def penalty(
    slope=slopes, place=lambda n: n, shape=lambda steps: steps[:, None]
):
    """A number for each head and key, or another one."""

    def key_bias(heads, length):
        places = place(torch.arange(length))
        return shape(slope(heads)[:, None] * places)[None].to(device())

    return key_bias


def from_the_first_key(answer, heads, length):
    got = answer(heads, length)
    expect.tensor(got, what="the bias")
    steps = got.cpu().double()  # the task names no dtype
    return steps - steps[..., :1]


@asks(
    {"heads": one_of(8, 6, 12, 3, 5, 16, 1), "length": whole(3, 9)},
    "the differences from key to key are not those of the slopes: one number "
    "for each head and key is to serve all queries.",
    {
        "there is a row for each query: one number for each head and key is "
        "to serve them all.": penalty(
            shape=lambda steps: steps[:, None] - steps[:, :, None]
        ),
        "the numbers stand along the axis of the queries: of the scores' "
        "four axes, keys are the last.": penalty(
            shape=lambda steps: steps[:, :, None]
        ),
        "with your sign the last keys, the nearest ones, get the largest "
        "penalty.": penalty(place=lambda n: -n),
        "all heads have the slope of the first: each has its own.": penalty(
            lambda heads: slopes(heads)[:1].expand(heads)
        ),
        "if their number is no power of two, alibi_slopes takes the slopes "
        "from two lists.": penalty(
            lambda heads: 2 ** (-8 * torch.arange(1, heads + 1) / heads)
        ),
        "the slopes stand in the wrong order: head 0 has the steepest.": (
            penalty(lambda heads: slopes(heads).flip(0))
        ),
        "your number is the same for all keys, and a softmax does not see "
        "what all scores have in common.": penalty(place=lambda n: 0 * n),
    },
    within=1e-5,
    calls=from_the_first_key,
)
def key_bias(heads, length):
    return penalty()(heads, length)


# Between these no bucket ends, whatever is rounded.
FAR = 41, 45, 50, 57, 71, 83, 92, 101, 119


def drawn_distances(draw, case):
    """Of both signs."""
    apart = [0, 1, 2, 5, 7, 8, 12, 90, 91, 127, 128, 999]
    apart += draw.lots.sample(FAR, 4)
    some = torch.tensor(apart + [-d for d in apart if d])
    return some[torch.randperm(len(some), generator=draw.generator)].to(
        device()
    )


def some_buckets(draw, case):
    """How many, and how far they reach."""
    return draw.lots.choice([(8, 5), (16, draw.whole(52, 59))])


def as_usual_and_others(answer, distance, sizes):
    """By the arguments' own values; and near distances in other buckets."""
    buckets, furthest = sizes
    table = distance[:6, None] - distance[None, :5]
    near = torch.arange(-70, 71).to(distance)
    return (
        answer(distance),
        answer(near.view(3, 47), buckets=buckets, furthest=furthest),
        answer(table.clamp(-7, 7).T),
        answer(distance[0]),
    )


def near(distance, buckets, furthest):
    """Half of the buckets one by one, the others by the logarithm."""
    few = buckets // 2
    if distance < few:
        return distance
    share = math.log(distance / few) / math.log(furthest / few)
    return min(few + int((buckets - few) * share), buckets - 1)


def halves(
    own=lambda d, half, furthest: near(abs(d), half, furthest),
    later=lambda d: d < 0,
    start=lambda half: half,
):
    """A bucket in the first half or the second, by one rule or another."""

    def both_ways(distance, buckets=32, furthest=128):
        half = buckets // 2
        found = [
            own(d, half, furthest) + start(half) * later(d)
            for d in distance.flatten().tolist()
        ]
        return torch.tensor(found).to(distance).view(distance.shape)

    return both_ways


@asks(
    {"distance": made(drawn_distances), "sizes": made(some_buckets)},
    "look at distances 0, 1 and -1, then at far ones: which bucket has each, "
    "and in which half?",
    {
        "you exchange the halves: a key after the query has a negative "
        "distance, and belongs in the second half.": halves(
            later=lambda d: d > 0
        ),
        "a query is at distance 0 from itself, which is not later: that is "
        "bucket 0.": halves(later=lambda d: d <= 0),
        "earlier and later keys share their buckets: the sign is lost.": (
            halves(
                lambda d, half, far: near(abs(d), 2 * half, far),
                start=lambda half: 0,
            )
        ),
        "each half is to be filled as a whole of half as many buckets.": (
            halves(lambda d, half, far: near(abs(d), 2 * half, far))
        ),
        "all later keys lie in one bucket: distance_buckets takes what is "
        "below 0 for 0.": halves(
            lambda d, half, far: near(max(d, 0), half, far)
        ),
        "the second half runs backwards: its nearest key comes first, too.": (
            halves(
                lambda d, half, far: (
                    near(d, half, far)
                    if d >= 0
                    else half - 1 - near(-d, half, far)
                )
            )
        ),
        "furthest is not handed on: it is 128 only where nobody says "
        "otherwise.": halves(lambda d, half, far: near(abs(d), half, 128)),
        "each half reaches as far as before: only its buckets are halved.": (
            halves(
                lambda d, half, far: near(abs(d), half, max(half, far // 2))
            )
        ),
        "the second half begins at half of the buckets, which need not be "
        "16.": halves(start=lambda half: 16),
    },
    calls=as_usual_and_others,
)
def both_ways(distance, buckets=32, furthest=128):
    return halves()(distance, buckets, furthest)


NAMES = (
    "self_attn.q_proj",
    "self_attn.k_proj",
    "self_attn.v_proj",
    "self_attn.o_proj",
    "mlp.gate_proj",
    "mlp.up_proj",
    "mlp.down_proj",
    "input_layernorm",
    "post_attention_layernorm",
)


def by_names(answer, x, weights, heads, kv_heads, eps):
    """What a block makes of x, by the names in the file."""
    names = [f"{name}.weight" for name in NAMES]
    w = dict(zip(names, weights, strict=True))
    out = answer(x, w, heads, kv_heads, eps)
    expect.that([*w] == names, "your code changes the dictionary w.")
    return out


def by_torch(x, w, heads, kv_heads, eps, slip=""):
    """A block of LLaMA from torch's functions, or one with a known slip."""

    def norm(x, name):
        gain = w[f"{name}.weight"]
        if slip == "no gain":
            gain = torch.ones_like(gain)
        if slip == "mean":
            x = x - x.mean(-1, keepdim=True)
        if slip == "outside":
            return x / (x.square().mean(-1, keepdim=True).sqrt() + eps) * gain
        size = 1e-5 if slip == "own eps" else eps
        return F.rms_norm(x, gain.shape, gain, size)

    def heads_of(name, many):
        made = F.linear(normed, w[f"self_attn.{name}_proj.weight"])
        return made.unflatten(-1, (many, -1)).transpose(1, 2)

    normed = x if slip == "no first norm" else norm(x, "input_layernorm")
    sizes = ("q", heads), ("k", kv_heads), ("v", kv_heads)
    q, k, v = (heads_of(*p) for p in sizes)
    q = q if slip in ("queries stay", "unturned") else turned(q, slip)
    k = k if slip in ("keys stay", "unturned") else turned(k, slip)
    v = turned(v, slip) if slip == "values turn" else v
    group = heads // kv_heads
    place = [
        h % kv_heads if slip == "dealt" else h // group for h in range(heads)
    ]
    context = F.scaled_dot_product_attention(
        q, k[:, place], v[:, place], is_causal=slip != "no mask"
    )
    context = context.transpose(1, 2).flatten(2)
    added = F.linear(context, w["self_attn.o_proj.weight"])
    old, x = x, added if slip == "no first path" else x + added
    start = old if slip == "same input" else x
    normed = norm(start, "post_attention_layernorm")
    gate, up = (
        F.linear(normed, w[f"mlp.{n}_proj.weight"]) for n in ("gate", "up")
    )
    if slip == "swapped":
        gate, up = up, gate
    act = F.relu if slip == "relu" else F.silu
    added = F.linear(act(gate) * up, w["mlp.down_proj.weight"])
    path = {"no path": 0, "norm on the path": normed}.get(slip, x)
    return path + added


def turned(x, slip=""):
    """Each pair of entries turned by its angle: a complex number each."""
    half = x.shape[-1] // 2
    angle = 10_000.0 ** (-torch.arange(half, dtype=torch.float64) / half)
    angle = torch.arange(x.shape[-2])[:, None] * angle
    cos, sin = (t.to(x) for t in (angle.cos(), angle.sin()))
    a, b = x.chunk(2, dim=-1)
    if slip == "neighbours":
        a, b = x[..., ::2], x[..., 1::2]
    turned = a * cos - b * sin, a * sin + b * cos
    if slip in ("neighbours", "queries stay", "keys stay", "values turn"):
        return torch.stack(turned, dim=-1).flatten(-2)  # as rotary leaves it
    return torch.cat(turned, dim=-1)


def slipped(slip):
    return partial(by_torch, slip=slip)


@asks(
    {
        "x": floats("n i g*t*p*q"),
        "weights": several(
            floats("g*t*p*q g*t*p*q"),
            floats("g*p*q g*t*p*q"),
            floats("g*p*q g*t*p*q"),
            floats("g*t*p*q g*t*p*q"),
            floats("f g*t*p*q"),
            floats("f g*t*p*q"),
            floats("g*t*p*q f"),
            floats("g*t*p*q"),
            floats("g*t*p*q"),
        ),
        "heads": size("g*t"),
        "kv_heads": size("g"),
        "eps": between(0.01, 0.5),
    },
    "not the block that torch's own functions make: compare norm, queries "
    "and keys, context, path and network, one after the other.",
    {
        "these weights pair halves: entry i of a head turns with entry "
        "i + d_head / 2, and you turn neighbours.": slipped("neighbours"),
        "the keys are not turned: only then do scores depend on "
        "distances.": slipped("keys stay"),
        "the queries are not turned: only then do scores depend on "
        "distances.": slipped("queries stay"),
        "neither queries nor keys are turned: nothing says where a token "
        "stands.": slipped("unturned"),
        "the values are turned as well; only queries and keys are "
        "compared.": slipped("values turn"),
        "every position sees the later ones: the block is causal.": (
            slipped("no mask")
        ),
        "query heads that stand side by side share a key head; you deal the "
        "key heads out in turn.": slipped("dealt"),
        "gate_proj goes through silu, up_proj does not; you have exchanged "
        "them.": slipped("swapped"),
        "the network reads x before the attention was added to it.": (
            slipped("same input")
        ),
        "the attention replaces x on the path: it is to be added to x.": (
            slipped("no first path")
        ),
        "the path ends: x is to be added to what the network says.": (
            slipped("no path")
        ),
        "the second norm replaces x on the path: only the network reads the "
        "normed rows.": slipped("norm on the path"),
        "the attention reads x before it has been normed.": (
            slipped("no first norm")
        ),
        "an RMSNorm takes no mean off.": slipped("mean"),
        "a norm has a gain: multiply with its weight.": slipped("no gain"),
        "take the eps that is given, not a usual one.": slipped("own eps"),
        "eps is added under the root, to the mean square.": slipped("outside"),
        "the gate of this family is silu, not ReLU.": slipped("relu"),
    },
    sizes={
        "i": (1, 7, lambda given: 5),
        "g": (1, 3, lambda given: 2),
        "t": (1, 3, lambda given: 2),
        "p": (2, 5),
        "q": (2, 2),
        "f": (5, 9),
    },
    leaves_out=("one",),
    calls=by_names,
    ways=(
        by_oneself(
            "DecoderOnly",
            "DecoderOnlyBlock",
            "GatedFeedForward",
            "RMSNorm",
            "RotaryAttention",
            "pairs_from_halves",
        ),
    ),
)
def llama_block(x, w, heads, kv_heads, eps):
    return by_torch(x, w, heads, kv_heads, eps)


def drawn_pairs(draw, case):
    """Pre-norm residuals and networks, without biases."""
    d, pairs = case.sizes["d"], []
    for _ in range(draw.whole(1, 3)):
        norm = LayerNorm(d, eps=draw.lots.uniform(0.05, 0.5), bias=False)
        around = Residual(d, norm_first=True, norm=norm)
        shape = draw.lots.choice(("relu", "gelu"))
        network = FeedForward(d, draw.whole(5, 20), 0.1, shape, bias=False)
        for module in (around, network):
            module.to(device(), case.dtype).requires_grad_(False).eval()
            draw.fill(module, lambda x: x / 2 + 0.1)
        pairs.append((around, network))
    return pairs


def rows_and_norms(answer, table, pairs):
    """The new table; the rows after each new pair, its gain and eps."""
    x, new = answer(table, pairs)
    found = [x]
    for around, network in new:
        kinds = [kind.__name__ for kind in type(around.norm).__mro__]
        expect.that(
            "RMSNorm" in kinds, f"a norm is a {kinds[0]}, and not an RMSNorm."
        )
        x = around(x, network)
        found.append((x, around.norm.weight, around.norm.eps))
    return found


def rows_off(x):
    return x - x.mean(-1, keepdim=True)


def columns_off(x):
    return x - x.mean(0, keepdim=True)


def folded(
    words=rows_off,
    reads=lambda weight: weight,
    writes=columns_off,
    gain=lambda weight: weight,
    eps=lambda eps: eps,
):
    """The same model with RMSNorm, or with a known slip."""

    def without_mean(table, pairs):
        new = copy.deepcopy(pairs)
        for around, network in new:
            old, narrow = around.norm, network.narrow
            norm = nn.RMSNorm(len(old.weight), eps(old.eps)).to(old.weight)
            norm.weight.data = gain(old.weight.data)
            network.widen.weight.data = reads(network.widen.weight.data)
            narrow.weight.data = writes(narrow.weight.data)
            around.norm = norm
        return words(table), new

    return without_mean


@asks(
    {
        "table": floats("v d"),
        "pairs": made(drawn_pairs, "d", is_floating=True),
    },
    "look at the new table first, then at the rows after the first pair: "
    "each is to be the old one minus its own mean.",
    {
        "the table still has its means: it is the first that writes to the "
        "path.": folded(words=lambda table: table),
        "one mean for the whole table does not do: every row has its own.": (
            folded(words=lambda table: table - table.mean())
        ),
        "you took the mean over the words; a norm sees one row at a time, so "
        "the mean is over the features.": folded(words=columns_off),
        "what a network adds to the path still has a mean, and the next norm "
        "does not take it off.": folded(writes=lambda weight: weight),
        "the mean goes over the features that are written, so each column of "
        "the matrix must have the mean 0.": folded(writes=rows_off),
        "the matrix that reads is changed; it is the one that writes to the "
        "path whose mean must go.": folded(
            reads=columns_off, writes=lambda weight: weight
        ),
        "the norms have lost their gains: copy the weights.": folded(
            gain=torch.ones_like
        ),
        "the eps of the old norms is lost: with other values the rows "
        "differ.": folded(eps=lambda eps: 1e-5),
    },
    sizes={"d": (2, 9), "v": (3, 11)},
    leaves_out=("one",),
    calls=rows_and_norms,
)
def without_mean(table, pairs):
    return folded()(table, pairs)
