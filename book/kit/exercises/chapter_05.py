"""Checks of the exercises of chapter 5, heads. Not taught."""

import contextlib
import io

import torch
from torch import nn
from torch.nn.functional import multi_head_attention_forward
from torch.nn.functional import scaled_dot_product_attention as sdpa

from kit.exercises import Wrong, exercise, expect
from lib.heads import MultiHeadAttention
from lib.runtime import device


@exercise(
    d_model=(10, 9, 14, 15),
    heads=(4, 5, 3, 6),
    d_head=(3, 2, 4, 7),
    d_value=(5, 9, 10, 13),
)
def attention_parameters(answer, draw):
    given = draw.given
    count_parameters(
        answer, given.d_model, given.heads, given.d_head, given.d_value
    )
    for _ in range(3):
        count_parameters(answer, *draw.different(4, 2, 20))
    count_parameters(answer, 6, 1, 6, 6)


def count_parameters(answer, d_model, heads, d_head, d_value):
    """Without biases first; then what the biases add."""
    sizes = (d_model, heads, d_head, d_value)
    keys, values = heads * d_head, heads * d_value
    pairs = [(d_model, keys), (d_model, keys), (d_model, values)]
    pairs.append((values, d_model))
    layers = [nn.Linear(*pair, device="meta") for pair in pairs]
    plain = sum(layer.weight.numel() for layer in layers)
    biases = sum(layer.bias.numel() for layer in layers)
    got = answer(*sizes, False)
    expect.that(
        not isinstance(got, float),
        "a number of parameters is whole: multiply, and divide nothing.",
    )
    call = "attention_parameters({}, {}, {}, {}, {})"
    expect.close(
        got,
        plain,
        f"{call.format(*sizes, False)} is not {got}: list the four factors "
        "of the table with their shapes, for all heads.",
        weight_mistakes(plain, *sizes),
    )
    expect.close(
        answer(*sizes, True),
        plain + biases,
        f"right without biases, but {call.format(*sizes, True)} should be "
        f"larger by {biases}.",
        bias_mistakes(plain, biases, d_model, heads, values),
    )


def weight_mistakes(plain, d_model, heads, d_head, d_value):
    """How the entries of the matrices are miscounted."""
    return [
        (
            plain - heads * d_value * d_model,
            "one matrix is missing: which one mixes the heads?",
        ),
        (
            plain // heads,
            f"you count the matrices of one head, and there are {heads} "
            "heads.",
        ),
        (
            4 * heads * d_model**2,
            "a head does not have the full width: its matrices have "
            f"{d_head} or {d_value} columns here, not {d_model}.",
        ),
        (
            4 * heads * d_head * d_model,
            f"values are {d_value} wide here and keys {d_head}: which two "
            "matrices does that change?",
        ),
        (
            4 * d_model**2,
            "four square matrices: that is the usual choice, heads * d_head "
            f"= d_model. Here {heads} * {d_head} is not {d_model}.",
        ),
    ]


def bias_mistakes(plain, biases, d_model, heads, values):
    """How the biases are miscounted."""
    return [
        (
            plain + 3 * d_model + values,
            "a bias has a number for each column of the result, and you "
            "count the rows.",
        ),
        (
            plain + biases + (heads - 1) * d_model,
            "the last matrix is one for all heads together, so it has one "
            "bias.",
        ),
        (plain + biases - d_model, "the last matrix has a bias too."),
    ]


@exercise(heads=(3, 2, 4, 5))
def multi_head(answer, draw):
    heads, d_model, d_head, d_value = draw.given.heads, 7, 2, 5
    x, y = draw.normal(2, 5, d_model), draw.normal(2, 5, d_model)
    widths = [heads * d_head] * 2 + [heads * d_value]
    matrices = [draw.normal(d_model, width) for width in widths]
    matrices.append(draw.normal(heads * d_value, d_model))
    with expect.untouched(x, y, *matrices):
        got = answer(x, y, matrices, heads)
    expect.that(
        not isinstance(got, torch.Tensor) or got.shape[-1] != heads * d_value,
        "the results of the heads stand side by side, and nothing has mixed "
        f"them: the width is {heads * d_value}, not {d_model}.",
    )
    expect.tensor(got, (2, 5, d_model), what="the output")
    expect.close(
        got,
        by_heads(x, y, matrices, heads),
        "shapes fit, values do not. Take one head alone: which columns of "
        "W_q, W_k and W_v are its own, and which rows of W_o?",
        heads_mistakes(x, y, matrices, heads),
        tolerance=1e-4,
    )
    longer = draw.normal(2, 8, d_model)
    few = (torch.arange(8) < torch.tensor([[3], [8]]))[:, None, None]
    past = torch.ones(5, 5, device=x.device).tril()[None, None] == 1
    for other, mask in ((longer, None), (longer, few.to(x.device)), (x, past)):
        expect.close(
            answer(x, other, matrices, heads, mask),
            by_heads(x, other, matrices, heads, mask),
            "right for equal lengths and no mask, but not for keys of "
            f"length {other.shape[1]} and "
            f"{'no mask' if mask is None else 'a mask'}.",
            [
                (
                    by_heads(x, other, matrices, heads),
                    "the mask that comes in as may_attend is not handed on.",
                )
            ],
            tolerance=1e-4,
        )


def by_heads(x, y, matrices, heads, mask=None, scale=None, values=None):
    """One head after the other, each with its strips; then their sum."""
    W_q, W_k, W_v, W_o = matrices
    values = y if values is None else values
    strips = (W.chunk(heads, 1) for W in (W_q, W_k, W_v))
    output = 0
    for w_q, w_k, w_v, w_o in zip(*strips, W_o.chunk(heads), strict=True):
        seen = None if mask is None else mask[:, 0]
        found = sdpa(x @ w_q, y @ w_k, values @ w_v, seen, scale=scale)
        output = output + found @ w_o
    return output


def heads_mistakes(x, y, matrices, heads):
    """What several heads are taken for."""
    W_q, W_k, W_v, W_o = matrices
    width = W_q.shape[1]
    return [
        (
            by_heads(y, x, matrices, heads),
            "x and y are exchanged: x asks, so the queries are x @ W_q.",
        ),
        (
            by_heads(x, y, matrices, heads, values=x),
            "the values come from x, who asks. They must come from y, as "
            "the keys do.",
        ),
        (
            sdpa(x @ W_q, y @ W_k, y @ W_v) @ W_o,
            "this is one wide head: a single softmax for all questions.",
        ),
        (
            by_heads(x, y, matrices, heads, scale=width**-0.5),
            "you divide by the root of all columns. A score is a sum of "
            f"{width // heads} products here: the width of one head.",
        ),
        (
            by_heads(x, y, matrices, heads, scale=(len(W_o) / heads) ** -0.5),
            "you divide by the root of the values' width. A score is a sum "
            "over the columns of a query and a key.",
        ),
        (
            by_heads(x, y, matrices, heads, scale=1.0),
            "the scores are not divided by the root of a head's width.",
        ),
        *wrong_cuts(x, y, matrices, heads),
    ]


def wrong_cuts(x, y, matrices, heads):
    """Heads that are cut or merged in a wrong way."""
    W_q, W_k, W_v, W_o = matrices
    made = [x @ W_q, y @ W_k, y @ W_v]
    shape = (*x.shape[:2], -1)
    found = sdpa(*(cut(t, heads) for t in made))
    mixed = sdpa(*(cut_by_view(t, heads) for t in made))
    dealt = [deal(W, heads) for W in matrices[:3]]
    scrambled = (
        "view alone reads the numbers in order, so a head gets whole words "
        "instead of a strip of each: split the last axis, then transpose."
    )
    return [
        (mixed.transpose(1, 2).reshape(shape) @ W_o, scrambled),
        (mixed.reshape(shape) @ W_o, scrambled),
        (
            found.reshape(shape) @ W_o,
            "the heads are merged while they stand before the length: bring "
            "their axis back after it first.",
        ),
        (
            by_heads(x, y, [*dealt, deal(W_o.T, heads).T], heads),
            "you deal the columns out in turn. A head owns a strip: columns "
            "that stand next to each other.",
        ),
        (
            found.sum(1).repeat(1, 1, heads) @ W_o,
            "the heads are added up before W_o, so that it cannot tell them "
            "apart: write them side by side.",
        ),
    ]


def cut(t, heads):
    """Strips of the last axis, one behind the other."""
    return t.unflatten(-1, (heads, -1)).transpose(1, 2)


def cut_by_view(t, heads):
    """The right shape, and the wrong numbers."""
    return t.reshape(len(t), heads, t.shape[1], -1)


def deal(W, heads):
    """The columns in the order in which cards are dealt out."""
    return W.unflatten(1, (-1, heads)).transpose(1, 2).flatten(1)


def with_biases(draw, d_model, heads):
    """A module of the book whose numbers are drawn, biases included."""
    module = MultiHeadAttention(d_model, heads).to(device())
    with torch.no_grad():
        for parameter in module.parameters():
            parameter.copy_(draw.normal(*parameter.shape) / 2)
    return module


def parts_by_hand(module, x, y=None):
    """What each head adds to the output, from the numbers of the module."""
    y = x if y is None else y
    strips = []
    for source, matrix, bias in zip(
        (x, y, y),
        module.in_proj.weight.chunk(3),
        module.in_proj.bias.chunk(3),
        strict=True,
    ):
        made = source @ matrix.T + bias
        strips.append(made.chunk(module.heads, dim=-1))
    last = module.out_proj.weight.chunk(module.heads, dim=1)
    return torch.stack(
        [
            sdpa(*strip) @ block.T
            for *strip, block in zip(*strips, last, strict=True)
        ]
    )


@exercise(heads=(3, 2, 4, 6))
def head_contributions(answer, draw):
    heads, d_model = draw.given.heads, 12
    module, x = with_biases(draw, d_model, heads), draw.normal(5, 7, d_model)
    with expect.untouched(x, *module.parameters()):
        got = answer(module, x)
    expect.that(
        not isinstance(got, list | tuple),
        "one tensor is asked for: torch.stack makes it of a list.",
    )
    expect.that(
        not isinstance(got, torch.Tensor)
        or tuple(got.shape) != (5, heads, 7, d_model),
        "the heads come first, in front of the batch.",
    )
    expect.tensor(got, (heads, 5, 7, d_model))
    parts, bias = parts_by_hand(module, x), module.out_proj.bias
    whole = parts.sum(0)
    expect.close(
        got,
        parts,
        "each part should be one head's result times its own block of W_O. "
        "Do the parts and the bias add up to the output?",
        contribution_mistakes(module, parts, bias, whole, x),
        tolerance=1e-4,
    )


def contribution_mistakes(module, parts, bias, whole, x):
    """What the parts of an output are taken for."""
    heads, width = module.heads, module.d_model // module.heads
    strips = torch.zeros_like(parts)
    for head in range(heads):
        strip = slice(head * width, (head + 1) * width)
        strips[head, ..., strip] = whole[..., strip]
    return [
        (
            parts + bias,
            "every head brings the bias along, so that their sum has it "
            f"{heads} times.",
        ),
        (
            parts + bias / heads,
            "a share of the bias hides in each part: the bias is nobody's "
            "contribution.",
        ),
        (
            (whole / heads).expand_as(parts),
            "all parts are equal: you have divided the output, not asked "
            "what each head adds.",
        ),
        (
            strips,
            "you cut the output into strips. But W_O has mixed the heads: "
            "each of them reaches every column.",
        ),
        (parts.flip(0), "the heads are in the reverse order."),
        (
            in_their_place(module, x),
            "this is what the heads hand over to W_O. Which numbers of W_O "
            "does each of them meet?",
        ),
        (
            wrong_blocks(module, x),
            "these are rows of out_proj.weight. A linear layer stores its "
            "matrix transposed.",
        ),
    ]


def contexts(module, x):
    """What each head hands over, without the book's attention."""
    q, k, v = (
        (x @ matrix.T + bias).unflatten(-1, (module.heads, -1)).transpose(1, 2)
        for matrix, bias in zip(
            module.in_proj.weight.chunk(3),
            module.in_proj.bias.chunk(3),
            strict=True,
        )
    )
    return sdpa(q, k, v)


def in_their_place(module, x):
    """The findings of each head in its strip, and zeros in the others."""
    found = contexts(module, x)
    chosen = torch.eye(module.heads).to(found)[:, None, :, None, None]
    return (chosen * found).transpose(2, 3).flatten(3)


def wrong_blocks(module, x):
    """Rows of the stored matrix, where its columns are meant."""
    blocks = module.out_proj.weight.chunk(module.heads)
    found = contexts(module, x).unbind(1)
    pairs = zip(found, blocks, strict=True)
    return torch.stack([head @ block for head, block in pairs])


@exercise()
def without_head(answer, draw):
    module = with_biases(draw, 12, 3)
    before = {name: p.clone() for name, p in module.named_parameters()}
    x, y = draw.normal(2, 5, 12), draw.normal(2, 7, 12)
    for head in (1, 2, 0):
        silent = answer(module, head)
        expect.that(
            shapes(silent) == shapes(module),
            "a copy is to come back, with parameters of the same names and "
            f"sizes, and yours is a {type(silent).__name__}.",
        )
        expect.that(
            silent is not module,
            "you return the module itself: whoever lent it to you misses a "
            "head now.",
        )
        shared = {id(p) for p in module.parameters()}
        expect.that(
            shared.isdisjoint(id(p) for p in silent.parameters()),
            "copy.copy copies the module but not the weights, so that both "
            "now share them.",
        )
        for name, parameter in module.named_parameters():
            expect.that(
                torch.equal(parameter, before[name]),
                f"{name} of the original has changed: copy first, then "
                "change the copy.",
            )
        silence_of(silent, module, head, x, x)
        silence_of(silent, module, head, x, y)


def shapes(module):
    """The shapes of all parameters, by their names: whose class says nothing.

    The page's class and the library's are two.
    """
    held = module.state_dict() if isinstance(module, nn.Module) else {}
    return {name: parameter.shape for name, parameter in held.items()}


def silence_of(silent, module, head, x, y):
    """One head is silent, and the others speak as before."""
    parts, bias = parts_by_hand(module, x, y), module.out_proj.bias
    whole = parts.sum(0) + bias
    got = silent(x, y)
    others = [other for other in range(3) if other != head]
    constant = module.in_proj.bias.chunk(9)[6 + head]
    block = module.out_proj.weight.chunk(3, dim=1)[head]
    expect.close(
        got,
        whole - parts[head],
        f"head {head} of 3 is not what is missing. Which numbers of out_proj "
        "does this head meet, and no other?",
        [
            (whole, f"nothing is missing: head {head} still speaks."),
            (
                whole - parts[head] - bias,
                "the bias of the output is gone too, and it belongs to no "
                "head.",
            ),
            (
                whole - parts[head] + constant @ block.T,
                "the head still hands over its bias: zeros in its matrix of "
                "values leave the number that is added to them.",
            ),
            *(
                (
                    whole - parts[other],
                    f"head {other} is silent instead of head {head}: heads "
                    "are counted from 0.",
                )
                for other in others
            ),
            (
                whole - parts[head] + mean_of_values(module, y, head),
                "queries or keys of zero do not silence a head: it looks "
                "everywhere alike and hands over the mean of the values.",
            ),
            (
                got_without_rows(module, whole, head),
                "you have emptied rows of out_proj.weight, and so columns of "
                "the output. A linear layer stores its matrix transposed.",
            ),
        ],
        tolerance=1e-4,
    )


def mean_of_values(module, y, head):
    """What a head adds that looks everywhere alike."""
    matrix = module.in_proj.weight.chunk(9)[6 + head]
    values = y @ matrix.T + module.in_proj.bias.chunk(9)[6 + head]
    block = module.out_proj.weight.chunk(3, dim=1)[head]
    return values.mean(1, keepdim=True) @ block.T


def got_without_rows(module, whole, head):
    """The output if rows of its matrix are set to zero."""
    rest = whole.clone()
    strip = slice(4 * head, 4 * head + 4)
    rest[..., strip] = module.out_proj.bias[strip]
    return rest


@exercise(heads=(6, 8, 10, 12))
@expect.own_work("scaled_dot_product_attention", "sdpa", "enable_gqa")
def grouped_attention(answer, draw):
    heads = draw.given.heads
    q = draw.normal(2, heads, 5, 4)
    for shared in (heads // 2, 2, 1, heads):
        k, v = draw.normal(2, shared, 7, 4), draw.normal(2, shared, 7, 3)
        meeting = (
            f"with {heads} query heads and {shared} key heads your code "
            "stops at shapes that do not fit. The axis of the heads is the "
            "second, and each key head must meet "
            f"{heads // shared} query heads."
        )
        with (
            expect.untouched(q, k, v),
            expect.stops(meeting, (RuntimeError, ValueError)),
        ):
            got = answer(q, k, v)
        expect.tensor(got, (2, heads, 5, 3))
        expect.close(
            got,
            each_with_its_own(q, k, v),
            f"wrong with {heads} query heads and {shared} key heads: which "
            "key head does query head 1 use?",
            grouped_mistakes(q, k, v),
        )


def each_with_its_own(q, k, v, key=None, value=None):
    """A loop: query head h, and the key head and value head it uses."""
    times = q.shape[1] // k.shape[1]
    key = key or (lambda h: h // times)
    value = value or key
    heads = range(q.shape[1])
    each = [sdpa(q[:, h], k[:, key(h)], v[:, value(h)]) for h in heads]
    return torch.stack(each, dim=1)


def grouped_mistakes(q, k, v):
    """How query heads and key heads are wrongly paired."""
    heads, shared = q.shape[1], k.shape[1]
    times = heads // shared
    means = q.unflatten(1, (shared, times)).mean(2)
    round_and_round = " ".join(str(h % shared) for h in range(heads))
    in_groups = " ".join(str(h // times) for h in range(heads))
    return [
        (
            each_with_its_own(q, k, v, lambda h: h % shared),
            f"the key heads go round, {round_and_round}. The query heads of "
            f"a group stand next to each other: {in_groups}.",
        ),
        (
            each_with_its_own(q, k, v, lambda h: 0),
            f"all query heads use key head 0, and there are {shared}.",
        ),
        (
            each_with_its_own(
                q, k, v, lambda h: h // times, lambda h: h % shared
            ),
            "keys and values are shared in different ways: query head 1 "
            "looks with key head 0 and takes from value head 1.",
        ),
        (
            sdpa(means, k, v).repeat_interleave(times, dim=1),
            "you take the mean of the queries in a group. Only keys and "
            "values are shared: each query head asks for itself.",
        ),
        (
            each_with_its_own(
                q, k.mean(1, keepdim=True), v.mean(1, keepdim=True)
            ),
            "you take the mean of the key heads. Each group has one of its "
            "own.",
        ),
        (
            each_with_its_own(2 * q, k, v),
            "the scores are not divided by the root of the width.",
        ),
    ]


@exercise()
def finds_wrong_heads(answer, draw):
    says_so_by_raising(answer, made(weigh=lambda scores, _: scores))
    expect.kills_mutants(answer, RIGHT, WRONG)


def says_so_by_raising(answer, wrong):
    """What returns or prints a verdict has told nobody."""
    said = io.StringIO()
    try:
        with contextlib.redirect_stdout(said):
            got = answer(wrong)
    except NotImplementedError:
        raise
    except Exception:
        return
    expect.that(
        got is None,
        f"it returns {got} and leaves it to others to look. Let it raise: "
        "assert does.",
    )
    if said.getvalue():
        raise Wrong(
            "it prints what it finds and goes on. Nobody reads that in a "
            "thousand tests: let it raise."
        )


def made(
    project=lambda x, y, layers: [
        t @ W + b for t, (W, b) in zip((x, y, y), layers, strict=False)
    ],
    cut=cut,
    scale=lambda d_head, heads: d_head**-0.5,
    weigh=lambda scores, mask: hide(scores, mask).softmax(-1),
    merge=lambda context: context.transpose(1, 2).flatten(2),
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


RIGHT = {
    "goes by the formula": made(),
    "writes every step as an einsum": by_einsum,
    "computes in float64, one head at a time": in_float64,
    "is PyTorch's own": of_torch,
    "puts the heads into the batch and gives idle queries 0": in_the_batch,
    "fills with the smallest number, to be safe in half precision": made(
        weigh=lambda scores, mask: hide(
            scores, mask, torch.finfo(scores.dtype).min
        ).softmax(-1)
    ),
}


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


def deal_out(t, heads):
    """Columns dealt out in turn, as cards are."""
    return t.unflatten(-1, (-1, heads)).permute(0, 3, 1, 2)


WRONG = {
    "forgets the scale": made(scale=lambda d_head, heads: 1.0),
    "forgets the mask": made(weigh=lambda scores, _: scores.softmax(-1)),
    "cuts the heads by view alone": made(
        cut=cut_by_view,
        merge=lambda c: c.reshape(len(c), c.shape[2], -1),
    ),
    "takes the keys and values from x too": made(projected("x", "x", "x")),
    "has no last matrix": made(mix=lambda merged, W, b: merged),
    "hands over the keys in place of the values": made(projected(W=(0, 1, 1))),
    "sets weights to zero after the softmax": made(
        weigh=lambda scores, mask: (
            scores.softmax(-1) * (1 if mask is None else mask)
        )
    ),
    "scales by the full width": made(
        scale=lambda d_head, heads: (d_head * heads) ** -0.5
    ),
    "merges the heads without bringing their axis back": made(
        merge=lambda c: c.reshape(len(c), c.shape[2], -1)
    ),
    "forgets the bias of the last matrix": made(
        mix=lambda merged, W, b: merged @ W
    ),
    "forgets the biases of queries, keys and values": made(
        projected(biased=False)
    ),
    "takes the softmax over the heads": made(
        weigh=lambda scores, mask: hide(scores, mask).softmax(1).nan_to_num()
    ),
    "takes the softmax over the queries": made(
        weigh=lambda scores, mask: hide(scores, mask).softmax(2).nan_to_num()
    ),
    "hides what may be seen": made(
        weigh=lambda scores, mask: hide(
            scores, None if mask is None else ~mask
        ).softmax(-1)
    ),
    "exchanges W_q and W_k": made(projected(W=(1, 0, 2))),
    "deals the columns out to the heads in turn": made(
        cut=deal_out, merge=lambda c: c.permute(0, 2, 3, 1).flatten(2)
    ),
    "puts the heads side by side in the reverse order": made(
        merge=lambda c: c.flip(1).transpose(1, 2).flatten(2)
    ),
    "gives all heads the weights of the first": made(
        weigh=lambda scores, mask: (
            hide(scores, mask).softmax(-1)[:, :1].expand_as(scores)
        )
    ),
    "takes the mask of the first sentence for all": made(weigh=first_sentence),
    "takes the mask of the first query for all": made(weigh=first_query),
    "multiplies by the matrices transposed": made(projected(turned=True)),
}
