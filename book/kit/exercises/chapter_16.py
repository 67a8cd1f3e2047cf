"""Checks of the exercises of chapter 16, after 2017. Not taught."""

import math

import torch
import torch.nn.functional as F
from torch import nn

from kit.exercises import exercise, expect
from lib.layers import FeedForward, LayerNorm, Residual

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


@exercise(kv_heads=(8, 4, 2, 16))
def weights_of(answer, draw):
    shared = {"num_key_value_heads": draw.given.kv_heads}
    one_model(answer, LLAMA_2 | shared)
    one_model(answer, LLAMA_2)
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
        one_model(answer, LLAMA_2 | changes)


def one_model(answer, fields):
    """As many as torch's own layers of these sizes have together."""
    given = dict(fields)
    got = answer(given)
    expect.that(given == fields, "the dictionary is changed.")
    expect.that(
        type(got) is int,
        f"a number of weights is an int; yours is a {type(got).__name__}.",
    )
    right, d = built(fields), fields["hidden_size"]
    layers, words = fields["num_hidden_layers"], d * fields["vocab_size"]
    every = fields["num_attention_heads"]
    own = built(fields | {"num_key_value_heads": every})
    hidden = d * fields["intermediate_size"]
    of_2017 = right - layers * (attention_of(fields) + 3 * hidden - 12 * d * d)
    off = f"you are off by {got - right:,}. Count one block, part by part: "
    mistakes = {
        own: "W_k and W_v have rows for the key heads only, and here these "
        "are fewer than the query heads.",
        right + (own - right) // 2: "keys and values are shared alike: W_v "
        "is as narrow as W_k.",
        right - layers * hidden: "the gated network has three matrices: "
        "gate, up and down.",
        right - d: "there is one more norm, after the last block.",
        right + 2 * layers * d: "an RMSNorm has a gain and no bias.",
        right - layers * d: "a block has two norms, one for each sub-layer.",
        right + words: "here the output matrix is the table: it counts once.",
        right - words: "here the output matrix is one of its own, beside "
        "the table.",
        of_2017: "12 d² is the block of 2017; this one has other widths.",
    }
    mistakes.pop(right, None)
    expect.that(
        got == right, mistakes.get(got, off + "attention, network, norms.")
    )


def attention_of(fields):
    """The weights of one attention: W_q and W_O, W_k and W_v."""
    d, heads = fields["hidden_size"], fields["num_attention_heads"]
    shared = d // heads * fields["num_key_value_heads"]
    sizes = [(d, d), (d, shared), (d, shared), (d, d)]
    return sum(a * b for a, b in sizes)


def built(fields):
    """Torch's layers of these sizes, on the device that holds no numbers."""
    d, d_ff = fields["hidden_size"], fields["intermediate_size"]
    d_head = d // fields["num_attention_heads"]
    shared = d_head * fields["num_key_value_heads"]
    widths = [(d, d), (d, shared), (d, shared), (d, d)]
    widths += [(d, d_ff), (d, d_ff), (d_ff, d)]
    with torch.device("meta"):
        block = [nn.Linear(*pair, bias=False) for pair in widths]
        block += [nn.RMSNorm(d), nn.RMSNorm(d)]
        around = [nn.Embedding(fields["vocab_size"], d), nn.RMSNorm(d)]
        if not fields["tie_word_embeddings"]:
            around.append(nn.Linear(d, fields["vocab_size"], bias=False))

    def count(layers):
        return sum(w.numel() for w in nn.ModuleList(layers).parameters())

    return fields["num_hidden_layers"] * count(block) + count(around)


@exercise()
def key_bias(answer, draw):
    for heads, length in ((8, draw.whole(6, 9)), (6, draw.whole(3, 5))):
        got = answer(heads, length)
        expect.that(
            not has_shape(got, 1, heads, length, length),
            "there is a row for each query: one number for each head and key "
            "is to serve them all.",
        )
        expect.that(
            not has_shape(got, 1, heads, length, 1),
            "the numbers stand along the axis of the queries: of the scores' "
            "four axes, keys are the last.",
        )
        expect.tensor(got, (1, heads, 1, length), what="the bias")
        steps = (got - got[..., :1]).double().cpu()
        slopes = torch.tensor(slopes_by_hand(heads), dtype=torch.float64)
        slopes, place = slopes[None, :, None, None], torch.arange(length)
        expect.close(
            steps,
            slopes * place,
            f"with {heads} heads, the differences from key to key are not "
            "those of the slopes.",
            [
                (
                    -slopes * place,
                    "with your sign the last keys, the nearest ones, get the "
                    "largest penalty.",
                ),
                (
                    slopes[:, :1] * place + 0 * slopes,
                    "all heads have the slope of the first: each has its own.",
                ),
                (
                    2.0
                    ** (-8 * torch.arange(1, heads + 1) / heads).double()[
                        None, :, None, None
                    ]
                    * place,
                    f"{heads} is no power of two: then alibi_slopes takes "
                    "its slopes from two lists.",
                ),
                (
                    slopes.flip(1) * place,
                    "the slopes stand in the wrong order: head 0 has the "
                    "steepest.",
                ),
                (
                    0 * slopes * place,
                    "your number is the same for all keys, and a softmax "
                    "does not see what all scores have in common.",
                ),
            ],
        )


def has_shape(got, *shape):
    """Is it a tensor of that shape?"""
    return isinstance(got, torch.Tensor) and tuple(got.shape) == shape


def slopes_by_hand(heads):
    """For 8 heads, halves of halves; for 6, those of 4 and two of 8."""
    if heads == 8:
        return [2.0**-n for n in range(1, 9)]
    return [2.0**-2, 2.0**-4, 2.0**-6, 2.0**-8, 2.0**-1, 2.0**-3]


@exercise()
def both_ways(answer, draw):
    far = draw.shuffled([41, 45, 50, 57, 71, 83, 92, 101, 119])[:4]
    apart = [0, 1, 2, 5, 7, 8, 12, 90, 91, 127, 128, 999, *far]
    distance = torch.tensor(apart + [-d for d in apart if d])
    distance = distance.to(draw.normal(1).device)
    with expect.untouched(distance):
        got = answer(distance)
    expect.tensor(got, tuple(distance.shape), torch.int64, "the answer")
    buckets_are_right(got, distance.tolist(), 32, 128)
    square = distance[:6, None] - distance[None, :5]
    expect.tensor(answer(square), (6, 5), what="the answer for a table")
    for buckets, furthest in ((8, 5), (16, draw.whole(52, 59))):
        small = torch.arange(-70, 71).to(distance)
        got = answer(small, buckets=buckets, furthest=furthest)
        buckets_are_right(got, small.tolist(), buckets, furthest)


def buckets_are_right(got, distances, buckets, furthest):
    """Each distance in its bucket; else one that is not, and why."""
    half = buckets // 2

    def near(d, many=half, most=furthest):
        return one_bucket(d, many, most)

    wrong = {
        "you exchange the halves: a key after the query has a negative "
        "distance, and belongs in the second half.": [
            near(abs(d)) + half * (d > 0) for d in distances
        ],
        "a query is at distance 0 from itself, which is not later: that is "
        "bucket 0.": [near(abs(d)) + half * (d <= 0) for d in distances],
        "earlier and later keys share their buckets: the sign is lost.": [
            near(abs(d), buckets) for d in distances
        ],
        "each half is to be filled as a whole of half as many buckets.": [
            near(abs(d), buckets) + half * (d < 0) for d in distances
        ],
        "all later keys lie in one bucket: distance_buckets takes what is "
        "below 0 for 0.": [
            near(max(d, 0)) + half * (d < 0) for d in distances
        ],
        "the second half runs backwards: its nearest key comes first, too.": [
            buckets - 1 - near(-d) if d < 0 else near(d) for d in distances
        ],
        "furthest is not handed on: it is 128 only where nobody says "
        "otherwise.": [
            near(abs(d), half, 128) + half * (d < 0) for d in distances
        ],
        "each half reaches as far as before: only its buckets are halved.": [
            near(abs(d), half, max(half, furthest // 2)) + half * (d < 0)
            for d in distances
        ],
    }
    right = [near(abs(d)) + half * (d < 0) for d in distances]
    if buckets != 32 and got.tolist() == [
        near(abs(d)) + 16 * (d < 0) for d in distances
    ]:
        expect.that(
            False,
            f"with {buckets} buckets the second half begins at {half}, not "
            "at 16.",
        )
    bad = [n for n, b in enumerate(got.tolist()) if b != right[n]]
    if bad:
        d = distances[bad[0]]
        expect.close(
            got.tolist(),
            right,
            f"distance {d} is in bucket {got[bad[0]]}, not in "
            f"{right[bad[0]]}, with {buckets} buckets up to {furthest}.",
            [(value, hint) for hint, value in wrong.items()],
        )


def one_bucket(distance, buckets, furthest):
    """Half of the buckets one by one, the others by the logarithm."""
    near = buckets // 2
    if distance < near:
        return distance
    share = math.log(distance / near) / math.log(furthest / near)
    return min(near + int((buckets - near) * share), buckets - 1)


BANNED = (
    "DecoderOnly",
    "DecoderOnlyBlock",
    "GatedFeedForward",
    "RMSNorm",
    "RotaryAttention",
    "pairs_from_halves",
)


@exercise()
@expect.own_work(*BANNED)
def llama_block(answer, draw):
    for heads, kv_heads, eps in ((6, 2, 0.5), (4, 4, 0.01)):
        d = 6 * heads
        w = drawn_block(draw, d, 6 * kv_heads, 2 * d + 1)
        x = draw.normal(2, 7, d, dtype=torch.float64)
        with expect.untouched(x, *w.values()):
            got = answer(x, dict(w), heads, kv_heads, eps)
        given = x, w, heads, kv_heads, eps
        expect.close(
            got,
            by_torch(*given),
            "not the block that torch's own functions make.",
            [(by_torch(*given, wrong=key), hint) for key, hint in SLIPS],
        )


SLIPS = (
    (
        "neighbours",
        "these weights pair halves: entry i of a head turns with "
        "entry i + d_head / 2, and you turn neighbours.",
    ),
    (
        "keys stay",
        "the keys are not turned: only then do scores depend on distances.",
    ),
    (
        "queries stay",
        "the queries are not turned: only then do scores depend on distances.",
    ),
    (
        "unturned",
        "neither queries nor keys are turned: nothing says where a token "
        "stands.",
    ),
    (
        "values turn",
        "the values are turned as well; only queries and keys are compared.",
    ),
    ("no mask", "every position sees the later ones: the block is causal."),
    (
        "dealt",
        "query heads that stand side by side share a key head; you "
        "deal the key heads out in turn.",
    ),
    (
        "swapped",
        "gate_proj goes through silu, up_proj does not; you have "
        "exchanged them.",
    ),
    (
        "same input",
        "the network reads x before the attention was added to it.",
    ),
    (
        "no first path",
        "the attention replaces x on the path: it is to be added to x.",
    ),
    ("no path", "the path ends: x is to be added to what the network says."),
    (
        "norm on the path",
        "the second norm replaces x on the path: only the "
        "network reads the normed rows.",
    ),
    ("no first norm", "the attention reads x before it has been normed."),
    ("mean", "an RMSNorm takes no mean off."),
    ("no gain", "a norm has a gain: multiply with its weight."),
    ("own eps", "take the eps that is given, not a usual one."),
    ("outside", "eps is added under the root, to the mean square."),
    ("relu", "the gate of this family is silu, not ReLU."),
)


def drawn_block(draw, d, shared, d_ff):
    """The weights of a block by their names in the file."""
    shapes = {
        "self_attn.q_proj": (d, d),
        "self_attn.k_proj": (shared, d),
        "self_attn.v_proj": (shared, d),
        "self_attn.o_proj": (d, d),
        "mlp.gate_proj": (d_ff, d),
        "mlp.up_proj": (d_ff, d),
        "mlp.down_proj": (d, d_ff),
        "input_layernorm": (d,),
        "post_attention_layernorm": (d,),
    }
    return {
        f"{name}.weight": draw.normal(*shape, dtype=torch.float64) / 2
        + (len(shape) == 1)
        for name, shape in shapes.items()
    }


def by_torch(x, w, heads, kv_heads, eps, wrong=""):
    """A block of LLaMA from torch's functions, or one with a known slip."""

    def norm(x, name):
        gain = w[f"{name}.weight"]
        if wrong == "no gain":
            gain = torch.ones_like(gain)
        if wrong == "mean":
            x = x - x.mean(-1, keepdim=True)
        if wrong == "outside":
            return x / (x.square().mean(-1, keepdim=True).sqrt() + eps) * gain
        size = 1e-5 if wrong == "own eps" else eps
        return F.rms_norm(x, gain.shape, gain, size)

    def heads_of(name, many):
        made = F.linear(normed, w[f"self_attn.{name}_proj.weight"])
        return made.unflatten(-1, (many, -1)).transpose(1, 2)

    normed = x if wrong == "no first norm" else norm(x, "input_layernorm")
    sizes = ("q", heads), ("k", kv_heads), ("v", kv_heads)
    q, k, v = (heads_of(*p) for p in sizes)
    q = q if wrong in ("queries stay", "unturned") else turned(q, wrong)
    k = k if wrong in ("keys stay", "unturned") else turned(k, wrong)
    v = turned(v, wrong) if wrong == "values turn" else v
    group = heads // kv_heads
    for_all = range(heads)
    place = [h % kv_heads if wrong == "dealt" else h // group for h in for_all]
    context = F.scaled_dot_product_attention(
        q, k[:, place], v[:, place], is_causal=wrong != "no mask"
    )
    context = context.transpose(1, 2).flatten(2)
    added = F.linear(context, w["self_attn.o_proj.weight"])
    old, x = x, added if wrong == "no first path" else x + added
    start = old if wrong == "same input" else x
    normed = norm(start, "post_attention_layernorm")
    gate, up = (
        F.linear(normed, w[f"mlp.{n}_proj.weight"]) for n in ("gate", "up")
    )
    if wrong == "swapped":
        gate, up = up, gate
    act = F.relu if wrong == "relu" else F.silu
    added = F.linear(act(gate) * up, w["mlp.down_proj.weight"])
    path = {"no path": 0, "norm on the path": normed}.get(wrong, x)
    return path + added


def turned(x, wrong):
    """Each pair of entries turned by its angle: a complex number each."""
    half = x.shape[-1] // 2
    angle = 10_000.0 ** (-torch.arange(half, dtype=torch.float64) / half)
    angle = torch.arange(x.shape[-2])[:, None] * angle
    turn = torch.polar(torch.ones_like(angle), angle).to(x.device)
    if wrong == "neighbours":
        pairs = torch.view_as_complex(x.unflatten(-1, (half, 2)).contiguous())
        return torch.view_as_real(pairs * turn).flatten(-2)
    pairs = torch.complex(x[..., :half], x[..., half:]) * turn
    if wrong in (
        "queries stay",
        "keys stay",
        "values turn",
    ):  # as rotary leaves them
        return torch.view_as_real(pairs).flatten(-2)
    return torch.cat([pairs.real, pairs.imag], dim=-1)


@exercise()
def without_mean(answer, draw):
    pairs = [one_pair(draw) for _ in range(3)]
    table = 3 + draw.normal(11, 8, dtype=torch.float64)
    weights = [w for pair in pairs for m in pair for w in m.parameters()]
    norms = [around.norm for around, _ in pairs]
    before = through(table, pairs)
    with expect.untouched(
        table, *weights, hint="the old model is changed: work on a copy."
    ):
        new_table, new = answer(table, pairs)
    expect.that(
        all(a.norm is n for (a, _), n in zip(pairs, norms, strict=True)),
        "the old pairs have new norms: work on a copy of the modules.",
    )
    expect.close(
        new_table,
        table - table.mean(-1, keepdim=True),
        "each row of the new table is the old row minus its own mean.",
        [
            (
                table,
                "the table still has its means: it is the first that writes "
                "to the path.",
            ),
            (
                table - table.mean(),
                "one mean for the whole table does not do: every row has "
                "its own.",
            ),
            (
                table - table.mean(0),
                "you took the mean over the words; a norm sees one row at a "
                "time, so the mean is over the features.",
            ),
        ],
    )
    for number, (was, now) in enumerate(zip(pairs, new, strict=True)):
        new_pair(was, now, f"pair {number}")
    after = through(new_table, new)
    expect.close(
        after,
        before - before.mean(-1, keepdim=True),
        "each part looks right, and the rows at the end are not the old "
        "ones minus their means.",
    )


def one_pair(draw):
    """A pre-norm residual and a feed-forward network, without biases."""
    norm = LayerNorm(8, eps=0.1, bias=False)
    around = Residual(8, norm_first=True, norm=norm)
    network = FeedForward(8, 32, bias=False)
    for module in (around, network):
        module.to(draw.normal(1, dtype=torch.float64)).requires_grad_(False)
    for weight in (norm.weight, network.widen.weight, network.narrow.weight):
        drawn = draw.normal(*weight.shape, dtype=torch.float64) / 2
        weight.copy_(drawn + 0.1)
    return around, network


def through(x, pairs):
    """The rows after the last pair."""
    for around, network in pairs:
        x = around(x, network)
    return x


def new_pair(was, now, name):
    """An RMSNorm with the old gain; a network that writes no mean."""
    norm, old = now[0].norm, was[0].norm
    kind = type(norm).__name__
    expect.that(
        kind == "RMSNorm", f"the norm of {name} is a {kind}, not an RMSNorm."
    )
    expect.tensor(norm.weight, (8,), old.weight.dtype, f"the gain of {name}")
    expect.close(
        norm.weight,
        old.weight,
        f"the norm of {name} has lost its gain: copy the weight.",
    )
    expect.that(
        norm.eps == old.eps,
        f"the eps of {name} was {old.eps} and is {norm.eps}: with other "
        "values the rows differ.",
    )
    wide, weight = now[1].widen.weight, now[1].narrow.weight
    expect.that(
        expect.same(wide, was[1].widen.weight),
        f"the matrix of {name} that reads is changed; it is the one that "
        "writes to the path whose mean must go.",
    )
    had = was[1].narrow.weight
    expect.close(
        weight,
        had - had.mean(0, keepdim=True),
        f"what {name} writes is not the old rows minus their means.",
        [
            (
                had,
                f"what {name} adds to the path still has a mean, and the "
                "next norm does not take it off.",
            ),
            (
                had - had.mean(1, keepdim=True),
                "the mean goes over the features that are written, so each "
                "column of the matrix must have the mean 0.",
            ),
        ],
    )
