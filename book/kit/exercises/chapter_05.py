"""Checks of the exercises of chapter 5, heads. Not taught."""

import contextlib
import copy
import io

import torch
from torch import nn
from torch.nn.functional import multi_head_attention_forward
from torch.nn.functional import scaled_dot_product_attention as sdpa

from kit.exercises import expect
from kit.exercises.contract import (
    asks,
    by_oneself,
    floats,
    hunts,
    made,
    masks,
    several,
    size,
    whole,
)
from lib.heads import MultiHeadAttention
from lib.runtime import device


def both(answer, *sizes):
    """Without biases, and with them."""
    return answer(*sizes, False), answer(*sizes, True)


def strips(d_model, heads, d_head, d_value):
    """Inputs and columns of each projection."""
    keys, values = heads * d_head, heads * d_value
    return [(d_model, keys)] * 2 + [(d_model, values), (values, d_model)]


def counted(choose=strips, biases=lambda pairs, heads: [c for _, c in pairs]):
    """A count of the entries of some matrices, and of some biases."""

    def count(d_model, heads, d_head, d_value, bias):
        pairs = choose(d_model, heads, d_head, d_value)
        numbers = sum(rows * columns for rows, columns in pairs)
        return numbers + bias * sum(biases(pairs, heads))

    return count


@asks(
    {
        "d_model": whole(2, 20, given="d_model"),
        "heads": whole(2, 20, given="heads"),
        "d_head": whole(2, 20, given="d_head"),
        "d_value": whole(2, 20, given="d_value"),
    },
    "list the four factors of the table with their shapes, for all heads, "
    "and with each the number of its columns.",
    {
        "one matrix is missing: which one mixes the heads?": counted(
            lambda *sizes: strips(*sizes)[:3],
            lambda pairs, heads: [pairs[0][0], *(c for _, c in pairs)],
        ),
        "you count the matrices of one head.": counted(
            lambda d_model, heads, *widths: strips(d_model, 1, *widths)
        ),
        "a head does not have the full width: its matrices have d_head or "
        "d_value columns.": counted(
            lambda d_model, heads, *widths: strips(
                d_model, heads, d_model, d_model
            )
        ),
        "values are as wide as keys in yours: which two matrices does that "
        "change?": counted(
            lambda d_model, heads, d_head, d_value: strips(
                d_model, heads, d_head, d_head
            )
        ),
        "four square matrices: that is the usual choice, heads * d_head = "
        "d_model, and here it is not.": counted(
            lambda d_model, *others: [(d_model, d_model)] * 4
        ),
        "a bias has a number for each column of the result, and you count "
        "the rows.": counted(
            biases=lambda pairs, heads: [rows for rows, _ in pairs]
        ),
        "the last matrix is one for all heads together, so it has one bias.": (
            counted(
                biases=lambda pairs, heads: (
                    [c for _, c in pairs] + (heads - 1) * [pairs[3][1]]
                )
            )
        ),
        "the last matrix has a bias too.": counted(
            biases=lambda pairs, heads: [c for _, c in pairs[:3]]
        ),
    },
    calls=both,
    d_model=(10, 9, 14, 15),
    heads=(4, 5, 3, 6),
    d_head=(3, 2, 4, 7),
    d_value=(5, 9, 10, 13),
)
def attention_parameters(d_model, heads, d_head, d_value, bias):
    layers = [
        nn.Linear(*pair, bias=bias, device="meta")
        for pair in strips(d_model, heads, d_head, d_value)
    ]
    return sum(p.numel() for layer in layers for p in layer.parameters())


def cut(t, heads):
    """Strips of the last axis, one behind the other."""
    return t.unflatten(-1, (heads, -1)).transpose(1, 2)


def cut_by_view(t, heads):
    """The right shape, and the wrong numbers."""
    return t.reshape(len(t), heads, t.shape[1], -1)


def deal_out(t, heads):
    """Columns dealt out in turn, as cards are."""
    return t.unflatten(-1, (-1, heads)).permute(0, 3, 1, 2)


def merge(context):
    return context.transpose(1, 2).flatten(2)


def merge_as_stored(context):
    return context.reshape(len(context), context.shape[2], -1)


def merge_dealt(context):
    return context.permute(0, 2, 3, 1).flatten(2)


def merge_added(context):
    return context.sum(1).repeat(1, 1, context.shape[1])


def steps(cut=cut, merge=merge, width=None, source=lambda x, y: (x, y, y)):
    """Multi-head attention, some step of which may be another one."""

    def multi_head(x, y, matrices, heads, mask=None):
        words = zip(source(x, y), matrices, strict=False)
        q, k, v = (cut(t @ W, heads) for t, W in words)
        scale = width and width(matrices, heads) ** -0.5
        return merge(sdpa(q, k, v, mask, scale=scale)) @ matrices[3]

    return multi_head


def mask_or_none(draw, case):
    """None at first; then one for each sentence and query, or for all."""
    n, i, j = (case.sizes[letter] for letter in "nij")
    if case.is_given:
        return None
    return draw.mask(*draw.lots.choice([(n, 1, i), (1, 1, i), (n, 1, 1)]), j)


@asks(
    {
        "x": floats("n i m"),
        "y": floats("n j m"),
        "matrices": several(
            floats("m h*d"), floats("m h*d"), floats("m h*e"), floats("h*e m")
        ),
        "heads": size("h"),
        "may_attend": made(mask_or_none, "n i j"),
    },
    "take one head alone: which columns of W_q, W_k and W_v are its own, and "
    "which rows of W_o?",
    {
        "the mask that comes in as may_attend is not handed on.": (
            lambda x, y, matrices, heads, mask: steps()(x, y, matrices, heads)
        ),
        "x and y are exchanged: x asks, so the queries are x @ W_q.": steps(
            source=lambda x, y: (y, x, x)
        ),
        "the values come from x, who asks. They must come from y, as the "
        "keys do.": steps(source=lambda x, y: (x, y, x)),
        "this is one wide head: a single softmax for all questions.": (
            lambda x, y, matrices, heads, mask: steps()(
                x, y, matrices, 1, mask
            )
        ),
        "you divide by the root of all columns. A score is a sum of as many "
        "products as one head is wide.": steps(
            width=lambda matrices, heads: matrices[0].shape[1]
        ),
        "you divide by the root of the values' width. A score is a sum over "
        "the columns of a query and a key.": steps(
            width=lambda matrices, heads: len(matrices[3]) / heads
        ),
        "the scores are not divided by the root of a head's width.": steps(
            width=lambda matrices, heads: 1
        ),
        "view alone reads the numbers in order, so a head gets whole words "
        "instead of a strip of each: split the last axis, then transpose.": (
            steps(cut_by_view, merge_as_stored)
        ),
        "the heads are merged while they stand before the length: bring "
        "their axis back after it first.": steps(merge=merge_as_stored),
        "you deal the columns out in turn. A head owns a strip: columns that "
        "stand next to each other.": steps(deal_out, merge_dealt),
        "the heads are added up before W_o, so that it cannot tell them "
        "apart: write them side by side.": steps(merge=merge_added),
        "the results of the heads stand side by side, and nothing has mixed "
        "them.": lambda x, y, matrices, heads, mask: steps()(
            x,
            y,
            [*matrices[:3], torch.eye(len(matrices[3])).to(x)],
            heads,
            mask,
        ),
    },
    sizes={"h": (1, 4, lambda given: given.heads)},
    heads=(3, 2, 4, 5),
)
def multi_head(x, y, matrices, heads, may_attend):
    """One head after the other, each with its strips; then their sum."""
    W_q, W_k, W_v, W_o = matrices
    cuts = zip(*(W.chunk(heads, 1) for W in (W_q, W_k, W_v)), strict=True)
    seen = None if may_attend is None else may_attend[:, 0]
    output = 0
    for (w_q, w_k, w_v), w_o in zip(cuts, W_o.chunk(heads), strict=True):
        output = output + sdpa(x @ w_q, y @ w_k, y @ w_v, seen) @ w_o
    return output


def with_biases(draw, case, bias=True):
    """A module whose numbers are drawn, those of biases included."""
    heads = case.sizes["h"]
    module = MultiHeadAttention(heads * case.sizes["w"], heads, bias=bias)
    return draw.fill(module.to(device(), case.dtype), lambda x: x / 2)


def perhaps_with_biases(draw, case):
    return with_biases(draw, case, case.is_given or draw.whole(0, 1) == 1)


def handed_over(module, x):
    """What each head hands over to the last matrix."""
    return sdpa(*(cut(x @ W.T + b, module.heads) for W, b in of_each(module)))


def of_each(module):
    """Matrix and bias of queries, keys and values."""
    biases = module.in_proj.bias
    biases = (0,) * 3 if biases is None else biases.chunk(3)
    return zip(module.in_proj.weight.chunk(3), biases, strict=True)


def parts(module, found):
    """What each head adds to the output, from what it hands over."""
    blocks = module.out_proj.weight.chunk(module.heads, dim=1)
    pairs = zip(found.unbind(1), blocks, strict=True)
    return torch.stack([head @ block.T for head, block in pairs])


def last_bias(module):
    bias = module.out_proj.bias
    return 0 if bias is None else bias


def in_strips(module, x):
    """The output, cut."""
    whole, width = head_parts(module, x).sum(0), x.shape[-1] // module.heads
    own = torch.arange(x.shape[-1], device=x.device) // width
    heads = torch.arange(module.heads, device=x.device)[:, None, None, None]
    return whole * (own == heads)


def head_parts(module, x):
    return parts(module, handed_over(module, x))


def in_their_place(module, x):
    """What the heads hand over, each in its strip."""
    found = handed_over(module, x)
    chosen = torch.eye(module.heads).to(found)[:, None, :, None, None]
    return (chosen * found).transpose(2, 3).flatten(3)


def wrong_blocks(module, x):
    """Rows of the stored matrix, where its columns are meant."""
    blocks = module.out_proj.weight.chunk(module.heads)
    pairs = zip(handed_over(module, x).unbind(1), blocks, strict=True)
    return torch.stack([head @ block for head, block in pairs])


@asks(
    {
        "module": made(perhaps_with_biases, "h w", is_floating=True),
        "x": floats("n i h*w"),
    },
    "each part should be one head's result times its own block of W_O. Do "
    "the parts and the bias add up to the output?",
    {
        "every head brings the bias along, so that their sum has it once for "
        "each.": lambda m, x: head_parts(m, x) + last_bias(m),
        "a share of the bias hides in each part: the bias is nobody's "
        "contribution.": lambda m, x: (
            head_parts(m, x) + last_bias(m) / m.heads
        ),
        "all parts are equal: you have divided the output, not asked what "
        "each head adds.": lambda m, x: (
            head_parts(m, x).mean(0).expand(m.heads, *x.shape)
        ),
        "you cut the output into strips. But W_O has mixed the heads: each "
        "of them reaches every column.": in_strips,
        "the heads are in the reverse order.": (
            lambda m, x: head_parts(m, x).flip(0)
        ),
        "this is what the heads hand over to W_O. Which numbers of W_O does "
        "each of them meet?": in_their_place,
        "these are rows of out_proj.weight. A linear layer stores its matrix "
        "transposed.": wrong_blocks,
        "the heads come first, in front of the batch.": (
            lambda m, x: head_parts(m, x).transpose(0, 1)
        ),
    },
    sizes={"h": (1, 4, lambda given: given.heads)},
    heads=(3, 2, 4, 6),
)
def head_contributions(module, x):
    return head_parts(module, x)


def with_biases_or_dropout(draw, case):
    """With biases at first; those without have dropout, and do not train."""
    is_biased = case.pads == "anywhere" and draw.whole(0, 1) == 1
    module = with_biases(draw, case, case.is_given or is_biased)
    if module.out_proj.bias is None:
        module.dropout = 0.25
        module.eval()
    return module


def state(module):
    """Names, sizes, what is trained, and modes; whose class says nothing.

    The page's class and the library's are two.
    """
    trained = [p.requires_grad for p in module.parameters()]
    named = module.named_parameters()
    modes = module.training, getattr(module, "dropout", None)
    return modes, trained, {name: p.shape for name, p in named}


def silenced(answer, module, head, x, y, may_attend):
    """What the copy gives in self- and in cross-attention."""
    copied = answer(module, head)
    expect.that(
        isinstance(copied, nn.Module), "a copy of the module is to come back."
    )
    expect.that(
        copied is not module,
        "you return the module itself: whoever lent it to you misses a head "
        "now.",
    )
    expect.that(
        state(copied) == state(module),
        "the copy is to have parameters of the same names and sizes, as "
        "trainable as before, and the mode and dropout of the original.",
    )
    shared = {id(p) for p in module.parameters()}
    expect.that(
        shared.isdisjoint(id(p) for p in copied.parameters()),
        "copy.copy copies the module but not the weights, so that both now "
        "share them.",
    )
    return copied(x), copied(x, y), copied(x, y, y, may_attend)


def changed(change, shift=0):
    """A copy, some of whose numbers become 0, those of a head or others."""

    def answer(module, head):
        copied = copy.deepcopy(module)
        width = module.d_model // module.heads
        strip = slice((head + shift) * width, (head + shift + 1) * width)
        with torch.no_grad():
            change(copied, strip)
        return copied

    return answer


def no_columns(module, strip):
    module.out_proj.weight[:, strip] = 0


def no_columns_no_bias(module, strip):
    no_columns(module, strip)
    if module.out_proj.bias is not None:
        module.out_proj.bias[:] = 0


def no_rows(module, strip):
    module.out_proj.weight[strip] = 0


def none_of(which, with_bias=True):
    """No queries (0), keys (1) or values (2)."""

    def change(module, strip):
        module.in_proj.weight.chunk(3)[which][strip] = 0
        if with_bias and module.in_proj.bias is not None:
            module.in_proj.bias.chunk(3)[which][strip] = 0

    return change


@asks(
    {
        "module": made(with_biases_or_dropout, "h w", is_floating=True),
        "head": made(
            lambda draw, case: draw.whole(0, case.sizes["h"] - 1), "h"
        ),
        "x": floats("n i h*w"),
        "y": floats("n j h*w"),
        "may_attend": masks("n 1 i j"),
    },
    "this head is not what is missing. Which numbers of out_proj does it "
    "meet, and no other?",
    {
        "nothing is missing: the head still speaks.": changed(
            lambda module, strip: None
        ),
        "the bias of the output is gone too, and it belongs to no head.": (
            changed(no_columns_no_bias)
        ),
        "the head still hands over its bias: zeros in its matrix of values "
        "leave the number that is added to them.": changed(none_of(2, False)),
        "another head is silent: heads are counted from 0.": changed(
            no_columns, shift=-1
        ),
        "queries or keys of zero do not silence a head: it looks everywhere "
        "alike and hands over the mean of the values.": changed(none_of(0)),
        "you have emptied rows of out_proj.weight, and so columns of the "
        "output. A linear layer stores its matrix transposed.": (
            changed(no_rows)
        ),
    },
    sizes={"h": (2, 4)},
    leaves_out=("double", "large"),  # a module that is built anew has float32
    calls=silenced,
)
def without_head(module, head):
    return changed(none_of(2))(module, head)


def paired(key=lambda h, times, shared: h // times, value=None, sharp=1):
    """Query head h, and the key head and value head that it uses."""

    def attend(q, k, v):
        times, shared = q.shape[1] // k.shape[1], k.shape[1]
        keys = [key(h, times, shared) for h in range(q.shape[1])]
        values = [(value or key)(h, times, shared) for h in range(q.shape[1])]
        return sdpa(sharp * q, k[:, keys], v[:, values])

    return attend


def turns(h, times, shared):
    return h % shared


def mean_of_queries(q, k, v):
    means = q.unflatten(1, (k.shape[1], -1)).mean(2)
    return sdpa(means, k, v).repeat_interleave(q.shape[1] // k.shape[1], 1)


@asks(
    {
        "q": floats("n g*t i d"),
        "k": floats("n g j d"),
        "v": floats("n g j e"),
    },
    "which key head does query head 1 use? The axis of the heads is the "
    "second, and each key head must meet all query heads of its group.",
    {
        "the key heads go round. The query heads of a group stand next to "
        "each other: 0 0 0 1 1 1.": paired(turns),
        "all query heads use key head 0, and there are more.": paired(
            lambda *h: 0
        ),
        "keys and values are shared in different ways: query head 1 looks "
        "with key head 0 and takes from value head 1.": paired(value=turns),
        "you take the mean of the queries in a group. Only keys and values "
        "are shared: each query head asks for itself.": mean_of_queries,
        "you take the mean of the key heads. Each group has one of its own.": (
            lambda q, k, v: paired()(q, k.mean(1, True), v.mean(1, True))
        ),
        "the scores are not divided by the root of the width.": (
            lambda q, k, v: paired(sharp=q.shape[-1] ** 0.5)(q, k, v)
        ),
    },
    sizes={
        "g": (1, 3, lambda given: 2),
        "t": (1, 4, lambda given: given.heads // 2),
    },
    ways=(by_oneself("scaled_dot_product_attention"),),
    heads=(6, 8, 10, 12),
)
def grouped_attention(q, k, v):
    return sdpa(q, k, v, enable_gqa=True)


def says_so_by_raising(answer):
    """What returns or prints a verdict has told nobody."""
    said = io.StringIO()
    try:
        with contextlib.redirect_stdout(said):
            got = answer(attending(weigh=lambda scores, _: scores))
    except NotImplementedError:
        raise
    except Exception:
        return
    expect.that(
        got is None,
        f"it returns {got} and leaves it to others to look. Let it raise: "
        "assert does.",
    )
    expect.that(
        not said.getvalue(),
        "it prints what it finds and goes on. Nobody reads that in a "
        "thousand tests: let it raise.",
    )


def attending(
    project=lambda x, y, layers: [
        t @ W + b for t, (W, b) in zip((x, y, y), layers, strict=False)
    ],
    cut=cut,
    scale=lambda d_head, heads: d_head**-0.5,
    weigh=lambda scores, mask: hide(scores, mask).softmax(-1),
    merge=merge,
    mix=lambda merged, W, b: merged @ W + b,
):
    """A multi-head attention, some step of which may be another one."""

    def attend(x, y, layers, heads, may_attend=None):
        q, k, v = (cut(t, heads) for t in project(x, y, layers))
        scores = q @ k.mT * scale(q.shape[-1], heads)
        return mix(merge(weigh(scores, may_attend) @ v), *layers[3])

    attend.__qualname__ = "attend"  # as errors name it
    return attend


def hide(scores, mask, by=-torch.inf):
    """Another number where nobody may look."""
    return scores if mask is None else scores.masked_fill(~mask, by)


def by_einsum(x, y, layers, heads, may_attend=None):
    """Every step a pattern."""
    W = [W.unflatten(1, (heads, -1)) for W, _ in layers[:3]]
    b = [b.view(heads, 1, -1) for _, b in layers[:3]]
    q, k, v = (
        torch.einsum("nlm,mhd->nhld", t, W) + b
        for t, W, b in zip((x, y, y), W, b, strict=True)
    )
    scores = torch.einsum("nhid,nhjd->nhij", q, k) / q.shape[-1] ** 0.5
    weights = hide(scores, may_attend).softmax(-1)
    W_o, b_o = layers[3]
    W_o = W_o.unflatten(0, (heads, -1))
    return torch.einsum("nhij,nhjd,hdm->nim", weights, v, W_o) + b_o


def in_float64(x, y, layers, heads, may_attend=None):
    """One head at a time, exactly; rounded at the end."""
    wide = [(W.double(), b.double()) for W, b in layers]
    (W_q, b_q), (W_k, b_k), (W_v, b_v), (W_o, b_o) = wide
    x_wide, y_wide = x.double(), y.double()
    mask = may_attend
    if mask is not None:
        mask = mask.expand(len(x), heads, x.shape[1], y.shape[1])
    output = b_o
    for h, w_o in enumerate(W_o.chunk(heads)):
        at = slice(h * len(w_o), (h + 1) * len(w_o))
        found = sdpa(
            x_wide @ W_q[:, at] + b_q[at],
            y_wide @ W_k[:, at] + b_k[at],
            y_wide @ W_v[:, at] + b_v[at],
            None if mask is None else mask[:, h],
        )
        output = output + found @ w_o
    return output.to(x.dtype)


def of_torch(x, y, layers, heads, may_attend=None):
    """PyTorch's own function: length before batch, True = hidden."""
    if may_attend is not None:
        shape = (len(x), heads, x.shape[1], y.shape[1])
        may_attend = ~may_attend.expand(shape).flatten(0, 1)
    x, y = x.transpose(0, 1), y.transpose(0, 1)
    output, _ = multi_head_attention_forward(
        *(x, y, y, x.shape[-1], heads),
        *(torch.cat([W for W, _ in layers[:3]], 1).T,),
        *(torch.cat([b for _, b in layers[:3]]), None, None, False, 0.0),
        *(layers[3][0].T, layers[3][1]),
        attn_mask=may_attend,
        need_weights=False,
    )
    return output.transpose(0, 1)


def in_the_batch(x, y, layers, heads, may_attend=None):
    """Heads join the batch; minus infinity is added; idle rows give 0."""
    q, k, v = (
        cut(t @ W + b, heads).flatten(0, 1)
        for t, (W, b) in zip((x, y, y), layers, strict=False)
    )
    M = torch.zeros(len(x), heads, x.shape[1], y.shape[1]).to(x)
    scores = torch.bmm(q, k.mT) / q.shape[-1] ** 0.5
    scores = scores + hide(M, may_attend).flatten(0, 1)
    context = torch.bmm(scores.softmax(-1).nan_to_num(), v)
    merged = context.unflatten(0, (-1, heads)).transpose(1, 2).flatten(2)
    return torch.addmm(layers[3][1], merged.flatten(0, 1), layers[3][0]).view(
        x.shape
    )


def projected(q="x", k="y", v="y", W=(0, 1, 2), biased=True, turned=False):
    """Queries, keys and values, from which words and by which matrices."""

    def project(x, y, layers):
        words = {"x": x, "y": y}
        chosen = [layers[n] for n in W]
        return [
            words[who] @ (matrix.T if turned else matrix) + biased * bias
            for who, (matrix, bias) in zip((q, k, v), chosen, strict=True)
        ]

    return project


def first_sentence(scores, mask):
    """As if all sentences of a batch were padded alike."""
    return hide(scores, None if mask is None else mask[:1]).softmax(-1)


def first_query(scores, mask):
    """As if all queries might see the same keys."""
    return hide(scores, None if mask is None else mask[:, :, :1]).softmax(-1)


@hunts(says_so_by_raising)
def finds_wrong_heads(draw):
    right = {
        "goes by the formula": attending(),
        "writes every step as an einsum": by_einsum,
        "computes in float64, one head at a time": in_float64,
        "is PyTorch's own": of_torch,
        "puts the heads into the batch and gives idle queries 0": in_the_batch,
        "fills with the smallest number, for half precision": attending(
            weigh=lambda scores, mask: hide(
                scores, mask, torch.finfo(scores.dtype).min
            ).softmax(-1)
        ),
    }
    wrong = {
        "forgets the scale": attending(scale=lambda d_head, heads: 1.0),
        "forgets the mask": attending(
            weigh=lambda scores, _: scores.softmax(-1)
        ),
        "cuts the heads by view alone": attending(
            cut=cut_by_view, merge=merge_as_stored
        ),
        "takes the keys and values from x too": attending(
            projected("x", "x", "x")
        ),
        "has no last matrix": attending(mix=lambda merged, W, b: merged),
        "hands over the keys in place of the values": attending(
            projected(W=(0, 1, 1))
        ),
        "sets weights to zero after the softmax": attending(
            weigh=lambda scores, mask: (
                scores.softmax(-1) * (1 if mask is None else mask)
            )
        ),
        "scales by the full width": attending(
            scale=lambda d_head, heads: (d_head * heads) ** -0.5
        ),
        "merges the heads without bringing their axis back": attending(
            merge=merge_as_stored
        ),
        "forgets the bias of the last matrix": attending(
            mix=lambda merged, W, b: merged @ W
        ),
        "forgets the biases of queries, keys and values": attending(
            projected(biased=False)
        ),
        "takes the softmax over the heads": attending(
            weigh=lambda scores, mask: (
                hide(scores, mask).softmax(1).nan_to_num()
            )
        ),
        "takes the softmax over the queries": attending(
            weigh=lambda scores, mask: (
                hide(scores, mask).softmax(2).nan_to_num()
            )
        ),
        "hides what may be seen": attending(
            weigh=lambda scores, mask: hide(
                scores, None if mask is None else ~mask
            ).softmax(-1)
        ),
        "exchanges W_q and W_k": attending(projected(W=(1, 0, 2))),
        "deals the columns out to the heads in turn": attending(
            cut=deal_out, merge=merge_dealt
        ),
        "puts the heads side by side in the reverse order": attending(
            merge=lambda c: c.flip(1).transpose(1, 2).flatten(2)
        ),
        "gives all heads the weights of the first": attending(
            weigh=lambda scores, mask: (
                hide(scores, mask).softmax(-1)[:, :1].expand_as(scores)
            )
        ),
        "takes the mask of the first sentence for all": attending(
            weigh=first_sentence
        ),
        "takes the mask of the first query for all": attending(
            weigh=first_query
        ),
        "multiplies by the matrices transposed": attending(
            projected(turned=True)
        ),
    }
    return right, wrong
