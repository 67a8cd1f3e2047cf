"""Checks of the exercises of chapter 9, the decoder. Not taught."""

import math

import torch
import torch.nn.functional as F
from torch import nn

from kit.exercises import Wrong, exercise, expect
from kit.interop import from_torch
from lib.decoder import DecoderBlock
from lib.heads import merge_heads, split_heads
from lib.masks import causal_mask, padding_mask
from lib.runtime import device


@exercise()
def aligned(answer, draw):
    heads, asks, words = 3, 23, 29
    weights = (2 * draw.normal(heads, asks, words)).softmax(-1)
    source = [f"word{n}" for n in draw.shuffled(range(words))]
    with expect.untouched(weights):
        got = answer(weights, source)
    expect.that(
        isinstance(got, list) and all(isinstance(w, str) for w in got),
        "a list of words is asked for, not of numbers or tensors.",
    )
    expect.that(
        len(got) != heads,
        "you give one word for each head: the heads are one and the same "
        "model, and each target position gets one word.",
    )
    expect.that(
        len(got) == asks,
        f"there are {asks} target positions, and you give "
        f"{expect.plural(len(got), 'word')}: which axis is asked, and "
        "which one holds the words that compete?",
    )

    def words_at(places):
        return [source[place] for place in places.tolist()]

    expect.close(
        got,
        words_at(weights.sum(0).argmax(-1)),
        "not the word with the largest mean of the heads.",
        [
            (
                words_at(weights.prod(0).argmax(-1)),
                "you multiply the heads, so one head's near 0 is a veto: the "
                "average was asked for.",
            ),
            (
                words_at(weights.amax(0).argmax(-1)),
                "you listen to the surest head only, and not to the average "
                "over all of them.",
            ),
            (
                words_at(weights[0].argmax(-1)),
                "you read the first head only.",
            ),
            (
                words_at(weights.argmax(-1).mode(0).values),
                "you let each head vote for one word: that forgets how sure "
                "each of them is.",
            ),
            (
                words_at(weights.median(0).values.argmax(-1)),
                "you take the middle head: the average counts all three.",
            ),
            (
                words_at(weights.sum(0).argmin(-1)),
                "these are the words that are looked at least.",
            ),
        ],
    )


@exercise()
@expect.own_work("DecoderBlock", "Decoder", "Residual")
def my_block(answer, draw):
    x, memory = 2 * draw.normal(2, 3, 8), 3 + draw.normal(2, 5, 8)
    ahead = ~causal_mask(3, x.device)[0, 0]
    for norm_first in (False, True):
        torch.manual_seed(draw.seed)
        theirs = nn.TransformerDecoderLayer(
            8, 2, 16, 0.0, batch_first=True, norm_first=norm_first
        ).to(x.device)
        norms = [theirs.norm1, theirs.norm2, theirs.norm3]
        for norm in norms:
            nn.init.normal_(norm.weight)
            nn.init.normal_(norm.bias)
        parts = parts_of(theirs, ahead)
        with torch.no_grad(), expect.untouched(x, memory):
            got = answer(x, memory, parts, norms, norm_first)
            expected = theirs(x, memory, tgt_mask=ahead)
            mistakes = other_blocks(x, memory, parts, norms, norm_first)
        name = "pre-norm" if norm_first else "post-norm"
        expect.close(
            got,
            expected,
            f"with {name}, the output is not PyTorch's. Go along the thick "
            "path of figure 9.4, and name what is added at each branch.",
            mistakes,
            1e-4,
        )


def parts_of(theirs, ahead):
    """The three parts of PyTorch's layer, as the exercise has them."""

    def look_back(x):
        return theirs.self_attn(x, x, x, attn_mask=ahead)[0]

    def look_across(x, memory):
        return theirs.multihead_attn(x, memory, memory)[0]

    def feed_forward(x):
        return theirs.linear2(F.relu(theirs.linear1(x)))

    return look_back, look_across, feed_forward


def other_blocks(x, memory, parts, norms, norm_first):
    """What blocks give that are wired in another way, and hints."""
    back, across, feed = parts
    one, two, three = norms

    def block(parts=None, norms=norms, m=memory, first=norm_first):
        y = x
        parts = parts or (back, lambda y: across(y, m), feed)
        for part, norm in zip(parts, norms, strict=True):
            y = y + part(norm(y)) if first else norm(y + part(y))
        return y

    def on_the_path(y=x):
        parts = back, lambda y: across(y, memory), feed
        for part, norm in zip(parts, norms, strict=True):
            y = norm(y)
            y = y + part(y)
        return y

    def without_residual():
        y = x + back(one(x)) if norm_first else one(x + back(x))
        y = across(two(y), memory) if norm_first else two(across(y, memory))
        return y + feed(three(y)) if norm_first else three(y + feed(y))

    swapped = (lambda y: across(y, memory)), back, feed
    hints = [
        (
            block(first=not norm_first),
            "norm_first makes no difference to your block.",
        ),
        (
            block(swapped),
            "your block looks across before it looks back, so its question "
            "does not know what has been written.",
        ),
        (
            block(norms=[one] * 3),
            "the first norm serves everywhere, and each branch has its own.",
        ),
        (
            without_residual(),
            "the path is cut at the cross-attention: what it finds is added "
            "to x.",
        ),
    ]
    if norm_first:
        lost = x + back(one(x))
        lost = lost + across(two(lost), memory)
        at_once = x + back(one(x)) + across(two(x), memory)
        return hints + [
            (
                block(m=two(memory)),
                "the memory is normed: it was read to the end, and a norm of "
                "its own stands there already.",
            ),
            (
                on_the_path(),
                "in pre-norm the path itself is never normed, only what goes "
                "into a branch.",
            ),
            (lost, "the feed-forward network is missing."),
            (
                at_once + feed(three(at_once)),
                "both attentions read x, and the second must read what the "
                "first has brought.",
            ),
        ]
    short = two(one(x + back(x)) + across(one(x + back(x)), memory))
    at_once = two(one(x + back(x)) + across(x, memory))
    return hints + [
        (short, "the feed-forward network is missing."),
        (
            three(at_once + feed(at_once)),
            "both attentions read x, and the second must read what the first "
            "has brought.",
        ),
    ]


class Book:
    """Stands for a trained decoder, and counts its runs.

    Each position reads its own token, what its mask lets it see, and the
    source.
    """

    def __init__(self, draw, size):
        self.table = draw.normal(size, 6, dtype=torch.float64)
        self.words = draw.normal(12, 6, dtype=torch.float64)
        self.runs = 0

    def __call__(self, source, given, may_attend, memory_may_attend):
        self.runs += 1
        length = given.shape[1]
        x = self.table[given] * torch.linspace(1, 2, 99)[:length, None].to(
            self.table
        )
        seen = torch.ones(length, length, dtype=torch.bool, device=x.device)
        seen = seen if may_attend is None else may_attend[0, 0] & seen
        mean = seen.to(x) / seen.sum(-1, keepdim=True)
        said = self.words[source].mean(1, keepdim=True)
        return (x + 2 * mean @ x + said) @ self.table.mT


@exercise()
def log_probability(answer, draw):
    book = Book(draw, 11)
    source = draw.ids(4, 11, 5).tolist()
    for length in (4, 1, 0, 7):
        text = draw.ids(4, 10, length).tolist()
        said, expected = [1], 0.0
        for token in [*text, 2]:
            logits = run_of(book, source, said, None)[-1]
            expected += logits.log_softmax(-1)[token].item()
            said.append(token)
        mistakes = other_probabilities(book, source, text, expected)
        book.runs = 0
        got = answer(book, source, text)
        expect.that(
            isinstance(got, float),
            f"a number is asked for, and yours is a {type(got).__name__}: "
            ".item() makes one of a tensor.",
        )
        expect.that(
            book.runs == 1,
            f"the book ran {book.runs} times for a text of {length}: under "
            "the causal mask, one pass gives all factors.",
        )
        expect.close(
            got,
            expected,
            f"for the text {text} it is {expected:.3f}, and you have "
            f"{got:.3f}. Write the three rows of ids one below the other.",
            mistakes,
        )


def run_of(book, source, given, mask):
    """The logits of one pass."""
    ids = [torch.tensor([row], device=device()) for row in (source, given)]
    return book(*ids, mask, None)[0]


def other_probabilities(book, source, text, right):
    """What typical mistakes give for a text, and hints."""
    target = [*text, 2]
    rows = range(len(target))
    mask = causal_mask(len(target), device())
    logits = run_of(book, source, [1, *text], mask)
    log_p = logits.log_softmax(-1)
    longer = causal_mask(len(target) + 1, device())
    unshifted = run_of(book, source, [1, *text, 2], longer).log_softmax(-1)
    free = run_of(book, source, [1, *text], None).log_softmax(-1)
    values = {
        "EOS is missing: a text is over only when somebody says so, and that "
        "has a probability, too.": log_p[rows, target][:-1].sum(),
        "each position is asked for what it reads: the target is the decoder "
        "input, moved by one place.": unshifted[
            range(len(target) + 1), [1, *target]
        ].sum(),
        "the probabilities are added: a product of factors becomes a sum of "
        "their logarithms.": log_p.exp()[rows, target].sum().log(),
        "that is the mean of the logarithms, not their sum.": log_p[
            rows, target
        ].mean(),
        "your positions see what comes after them: which mask does one pass "
        "need?": free[rows, target].sum(),
        "logits are no logarithms of probabilities yet: what makes them sum "
        "to 1?": logits[rows, target].sum(),
        "that is the probability of the model's favourite, not of the text "
        "that was asked for.": log_p.amax(-1).sum(),
        "that is a logarithm to the base 2.": torch.tensor(
            right / math.log(2)
        ),
        "that is the probability itself; its logarithm was asked for.": (
            torch.tensor(math.exp(right))
        ),
    }
    return [(value.item(), hint) for hint, value in values.items()]


@exercise(k=(3, 4, 5), t_len=(4, 5, 6), s_len=(8, 9))
def wait_mask(answer, draw):
    given = draw.given
    sizes = [(given.k, given.t_len, given.s_len), (1, 4, 3), (3, 4, 3)]
    sizes += [[draw.whole(1, 9) for _ in range(3)] for _ in range(4)]
    for k, t_len, s_len in sizes:
        mask, shape = answer(k, t_len, s_len), (1, 1, t_len, s_len)
        turned = (1, 1, s_len, t_len)
        if getattr(mask, "shape", shape) == turned != shape:
            raise Wrong(
                "queries are the rows: the characters that are written ask "
                "the words that are heard."
            )
        expect.tensor(mask, shape, torch.bool, "the mask")
        mask = mask[0, 0].cpu()
        right = heard(t_len, s_len, lambda t, k=k: range(t + k))
        expect.close(
            mask,
            right,
            f"row {first_difference(mask, right)} of wait_mask({k}, {t_len}, "
            f"{s_len}) is wrong: how many words has that character heard?",
            other_waits(k, t_len, s_len),
        )


def other_waits(k, t_len, s_len):
    """What typical mistakes hear, and hints."""
    words = {
        "one word too many: the first character uses the words at 0 to "
        "k - 1.": lambda t: range(t + k + 1),
        "one word too few: the first character has heard k words "
        "already.": lambda t: range(t + k - 1),
        "that is a plain causal mask: it hears one word at the first "
        "character, whatever k is.": lambda t: range(t + 1),
        "your interpreter stops listening after k words: each further "
        "character hears one more.": lambda t: range(k),
        "each further character hears one word more, not k more.": (
            lambda t: range((t + 1) * k)
        ),
        "what was heard before is not forgotten: yours looks through a "
        "window.": lambda t: range(t, t + k),
        "True means may attend, and yours hides the words that were "
        "heard.": lambda t: range(t + k, s_len),
    }
    return [(heard(t_len, s_len, row), hint) for hint, row in words.items()]


def heard(t_len, s_len, words):
    """A mask, word by word: `words` are those that a character hears."""
    rows = [words(t) for t in range(t_len)]
    return torch.tensor(
        [[place in row for place in range(s_len)] for row in rows]
    )


def first_difference(mask, right):
    """The first row in which two masks differ, or none."""
    if mask.shape != right.shape:
        return None
    return (mask != right).any(-1).int().argmax().item()


@exercise(width=(6, 8, 10, 12))
def finds_wrong_decoder(answer, draw):
    torch.manual_seed(draw.whole(0, 9_999))
    width = draw.given.width
    expect.kills_mutants(answer, right_decoders(width), wrong_decoders(width))


class Stack(nn.Module):
    """Blocks, and what is done to their inputs, masks and outputs."""

    def __init__(
        self, width, masks=None, inputs=None, output=None, depth=1, **options
    ):
        super().__init__()
        blocks = [DecoderBlock(width, 2, 16, **options) for _ in range(depth)]
        self.blocks = nn.ModuleList(blocks)
        for name, parameter in self.named_parameters():
            if parameter.ndim == 2:  # strong enough to be heard
                nn.init.normal_(parameter, std=0.8 / width**0.5)
            elif "norm" not in name:
                nn.init.normal_(parameter, std=0.2)
        for block in blocks:  # what is dropped whole is not heard
            block.self_attention.dropout = block.cross_attention.dropout = 0
        self.masks, self.inputs, self.output = masks, inputs, output
        self.to(device())

    def forward(self, x, memory, may_attend=None, memory_may_attend=None):
        if self.inputs:
            x, memory = self.inputs(x, memory)
        for number, block in enumerate(self.blocks):
            own, other = may_attend, memory_may_attend
            if self.masks:  # no mask hides nothing
                own = everything(x, x) if own is None else own
                other = everything(x, memory) if other is None else other
                own, other = self.masks(self, number, own, other)
            x = block(x, memory, own, other)
        return self.output(x) if self.output else x


def everything(asks, answers):
    """A mask that hides nothing."""
    shape = len(asks), 1, asks.shape[1], answers.shape[1]
    return torch.ones(shape, dtype=torch.bool, device=asks.device)


class OneByOne(Stack):
    """Takes one sentence of the batch after the other."""

    def forward(self, x, memory, may_attend=None, memory_may_attend=None):
        rows = []
        for n in range(len(x)):
            masks = [
                mask if mask is None or len(mask) == 1 else mask[n : n + 1]
                for mask in (may_attend, memory_may_attend)
            ]
            pair = x[n : n + 1], memory[n : n + 1]
            rows.append(super().forward(*pair, *masks))
        return torch.cat(rows)


class Theirs(nn.Module):
    """PyTorch's decoder, called like the book's."""

    def __init__(self, width):
        super().__init__()
        layer = nn.TransformerDecoderLayer(width, 2, 16, 0.0, batch_first=True)
        self.stack = nn.TransformerDecoder(layer, 1).to(device())

    def forward(self, x, memory, may_attend=None, memory_may_attend=None):
        hidden = None if may_attend is None else ~may_attend[0, 0]
        is_pad = None
        if memory_may_attend is not None:
            shape = memory.shape[0], memory.shape[1]
            is_pad = ~memory_may_attend[:, 0, 0].expand(shape)
        return self.stack(
            x,
            memory,
            tgt_mask=hidden,
            memory_key_padding_mask=is_pad,
            tgt_is_causal=False,  # or it would find out each time
        )


class Double(Stack):
    """Computes in float64, and returns float32."""

    def __init__(self, width):
        super().__init__(width)
        self.double()

    def forward(self, x, memory, *masks, **named):
        wide = x.double(), memory.double()
        return super().forward(*wide, *masks, **named).float()


def right_decoders(width):
    """Decoders that keep all rules, by what they do."""
    return {
        "is a stack of the library's blocks": Stack(width, depth=2),
        "is PyTorch's": Theirs(width),
        "norms first": Stack(width, norm_first=True),
        "takes one sentence after the other": OneByOne(width),
        "computes in double precision": Double(width),
        "rounds a little differently each time": Rounding(width),
        "drops numbers in training": Stack(width, dropout=0.1),
    }


class Rounding(Stack):
    """The last bits depend on what else stands in the batch."""

    def forward(self, x, memory, *masks, **named):
        y = super().forward(x, memory, *masks, **named)
        return (y + 3 * x.mean()) - 3 * x.mean()


def wrong_decoders(width):
    """Decoders that break a rule, by what they do."""

    def stack(masks=None, inputs=None, output=None, **options):
        return Stack(width, masks, inputs, output, **options)

    def first_only(x):
        """The first of the batch, in the place of all."""
        return x[:1].expand_as(x)

    return {
        "looks one position ahead": stack(
            lambda m, n, own, other: (
                own | F.pad(own, (1, 0))[..., :-1],
                other,
            )
        ),
        "forgets the causal mask in its last block": stack(
            lambda m, n, own, other: (None if n else own, other),
            depth=2,
        ),
        "forgets the causal mask, and norms first": stack(
            lambda m, n, own, other: (None, other), norm_first=True
        ),
        "looks ahead in training only": stack(
            lambda m, n, own, other: (None if m.training else own, other)
        ),
        "looks ahead in evaluation only": stack(
            lambda m, n, own, other: (own if m.training else None, other)
        ),
        "lets its first position look ahead": stack(
            lambda m, n, own, other: (opened(own, slice(0, 1)), other)
        ),
        "lets only its last position but one look ahead": stack(
            lambda m, n, own, other: (opened(own, slice(-2, -1)), other)
        ),
        "hides the future from four positions and no more": stack(
            lambda m, n, own, other: (opened(own, slice(4, None)), other)
        ),
        "hides the past as well": stack(
            lambda m, n, own, other: (own & own.mT, other)
        ),
        "takes a mean over all positions": stack(
            output=lambda y: y - y.mean(1, keepdim=True)
        ),
        "never looks at the memory": stack(
            inputs=lambda x, memory: (x, torch.zeros_like(memory))
        ),
        "reads the PAD of the memory": stack(
            lambda m, n, own, other: (own, None)
        ),
        "reads the PAD of the memory in its second block": stack(
            lambda m, n, own, other: (own, None if n else other),
            depth=2,
        ),
        "takes the last word of the memory for PAD": stack(
            lambda m, n, own, other: (own, one_less(other))
        ),
        "hides the PAD of the first sentence in all of them": stack(
            lambda m, n, own, other: (own, first_only(other))
        ),
        "gives every sentence the memory of the first": stack(
            inputs=lambda x, memory: (x, first_only(memory))
        ),
        "mixes the sentences of a batch": stack(
            output=lambda y: y + 0.1 * y.mean(0)
        ),
    }


def opened(own, rows):
    """A mask in which some rows may see everything."""
    own = own.clone()
    own[..., rows, :] = True
    return own


def one_less(other):
    """A padding mask without its last word; a lone word stays."""
    next_is_word = F.pad(other[..., 1:], (0, 1))
    next_is_word[..., 0] = True
    return other & next_is_word


@exercise()
@expect.own_work("project")
def look_across(answer, draw):
    heads, width = draw.lots.choice([(2, 8), (3, 12), (4, 8)])
    torch.manual_seed(draw.seed)
    theirs = nn.MultiheadAttention(width, heads, batch_first=True).double()
    nn.init.normal_(theirs.in_proj_bias)
    nn.init.normal_(theirs.out_proj.bias)
    theirs = theirs.to(device())
    ours = from_torch(theirs)
    query = draw.normal(2, 5, width, dtype=torch.float64)
    memory = draw.normal(2, 7, width, dtype=torch.float64)
    _, k, v = ours.project(query, memory, memory)
    real = padding_mask(torch.tensor([7, 4], device=device()))
    for seen in (None, real):
        is_pad = None if seen is None else ~seen[:, 0, 0]
        expected = theirs(query, memory, memory, key_padding_mask=is_pad)[0]
        with torch.no_grad(), expect.untouched(query, k, v):
            got = answer(ours, query, k, v, seen)
        expect.close(
            got,
            expected.detach(),
            "the output is not that of the whole attention.",
            other_looks(ours, query, k, v, seen),
        )
    with torch.no_grad():
        last = answer(ours, query[:, -1:], k, v)
        whole = theirs(query, memory, memory)[0]
    expect.close(
        last, whole[:, -1:], "not right when only the last position asks."
    )


def other_looks(ours, query, k, v, seen):
    """What typical mistakes give, and hints."""
    attend = F.scaled_dot_product_attention
    (W_q, b_q), (W_k, b_k), _ = ours.matrices()

    def look(q, mask=seen, merge=merge_heads, out=ours.out_proj):
        return out(merge(attend(split_heads(q, ours.heads), k, v, mask)))

    q = F.linear(query, W_q, b_q)
    return [
        (value.detach(), hint)
        for value, hint in (
            (
                look(query @ W_q.T),
                "the bias of the queries is missing.",
            ),
            (
                look(F.linear(query, W_k, b_k)),
                "the queries go through the matrix of the keys.",
            ),
            (
                look(query @ W_q + b_q),
                "the matrix is stored as (out, in), so x is multiplied by "
                "its transpose.",
            ),
            (
                look(query),
                "the queries are not projected: what asks is W_q times x.",
            ),
            (
                look(q, out=nn.Identity()),
                "the heads lie side by side, but nothing has mixed them yet: "
                "what follows them in the class?",
            ),
            (
                look(q * (query.shape[-1] / ours.heads) ** 0.5),
                "the scores are not divided by the root of a head's width.",
            ),
            (look(q, mask=None), "the mask is not used."),
            (
                look(q, merge=lambda x: x.reshape(query.shape)),
                "the heads are merged in a wrong order: bring their axis "
                "back beside the width before you join them.",
            ),
            (
                one_head(ours, q, k, v, seen),
                "the queries are not cut into "
                "heads, so one head compares whole vectors.",
            ),
        )
    ]


def one_head(ours, q, k, v, seen):
    """Attention of one head over the whole width."""
    parts = [x[:, None] for x in (q, merge_heads(k), merge_heads(v))]
    return ours.out_proj(
        F.scaled_dot_product_attention(*parts, attn_mask=seen)[:, 0]
    )
