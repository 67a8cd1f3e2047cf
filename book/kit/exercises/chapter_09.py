"""Checks of the exercises of chapter 9, the decoder. Not taught."""

import math
from functools import partial

import torch
import torch.nn.functional as F
from torch import nn

from kit.exercises import expect
from kit.exercises.chapter_05 import (
    cut,
    merge,
    merge_as_stored,
    perhaps_with_biases,
)
from kit.exercises.contract import (
    asks,
    by_oneself,
    floats,
    hunts,
    made,
    whole,
)
from lib.decoder import DecoderBlock
from lib.masks import causal_mask, padding_mask
from lib.runtime import device

BOS, EOS, UNK = 1, 2, 3
WORDS, CHARACTERS = 18, 20


class Book(nn.Module):
    """Stands for a trained decoder, and counts its runs.

    Each position reads its own token, what its mask lets it see, and the
    source. There are as many words and characters as on the page.
    """

    def __init__(self, draw, case):
        super().__init__()
        # Later its probabilities are so small that their product is 0.
        size = 1 if case.is_given else 100
        table = draw.normal(CHARACTERS, 6) * size
        words = draw.normal(WORDS, 6)
        self.register_buffer("table", table)
        self.register_buffer("words", words)
        self.runs = []
        self.eval()

    def forward(self, source, given, may_attend, memory_may_attend):
        self.runs.append(len(given))
        length = given.shape[1]
        places = torch.linspace(1, 2, 99)[:length, None].to(self.table)
        x = self.table[given] * places
        seen = torch.ones(length, length, dtype=torch.bool, device=x.device)
        seen = seen if may_attend is None else may_attend[0, 0] & seen
        mean = seen.to(x) / seen.sum(-1, keepdim=True)
        said = self.words[source].mean(1, keepdim=True)
        return (x + 2 * mean @ x + said) @ self.table.mT

    def logits(self, source, given, is_causal=True):
        """Those of one text."""
        rows = [
            torch.tensor([row], device=device()) for row in (source, given)
        ]
        mask = causal_mask(len(given), device()) if is_causal else None
        return self(*rows, mask, None)[0]


def tokens(number, draw, case):
    """Ids of a text, with a token that nobody knows."""
    ids = draw.ids(4, number - 1, draw.whole(3, 6)).tolist()
    return draw.shuffled([UNK, *ids])


def texts(answer, book, source, text):
    """A text, its first character, and nothing."""
    return [answer(book, source, part) for part in (text, text[:1], [])]


def once(answer, book, source, text):
    answer(book, source, text)
    expect.that(
        len(book.runs) == 1,
        f"the book ran {len(book.runs)} times for a text of {len(text)}: "
        "under the causal mask, one pass gives all factors.",
    )


def of_factors(make, is_causal=True):
    """What is made of the logits in one pass, and of the ids asked for."""

    def log_probability(book, source, text):
        logits = book.logits(source, [BOS, *text], is_causal)
        return make(logits, [*text, EOS]).item()

    return log_probability


def factors(logits, target):
    return logits.log_softmax(-1)[range(len(target)), target]


def what_it_reads(book, source, text):
    logits = book.logits(source, [BOS, *text, EOS])
    return factors(logits, [BOS, *text, EOS]).sum().item()


@asks(
    {
        "book": made(Book),
        "source": made(partial(tokens, WORDS)),
        "text": made(partial(tokens, CHARACTERS)),
    },
    "write the three rows of ids, what is read, said and asked for, one "
    "below the other.",
    {
        "EOS is missing: a text is over only when somebody says so, and that "
        "has a probability, too.": of_factors(
            lambda logits, target: factors(logits, target)[:-1].sum()
        ),
        "each position is asked for what it reads: the target is the decoder "
        "input, moved by one place.": what_it_reads,
        "a probability may be so small that it is 0 as a number, and its "
        "logarithm infinite: log_softmax finds it all the same.": of_factors(
            lambda logits, target: (
                logits.softmax(-1).log()[range(len(target)), target].sum()
            )
        ),
        "the probabilities are added: a product of factors becomes a sum of "
        "their logarithms.": of_factors(
            lambda logits, target: factors(logits, target).exp().sum().log()
        ),
        "that is the mean of the logarithms, not their sum.": of_factors(
            lambda logits, target: factors(logits, target).mean()
        ),
        "your positions see what comes after them: which mask does one pass "
        "need?": of_factors(
            lambda logits, target: factors(logits, target).sum(), False
        ),
        "logits are no logarithms of probabilities yet: what makes them sum "
        "to 1?": of_factors(
            lambda logits, target: logits[range(len(target)), target].sum()
        ),
        "that is the probability of the model's favourite, not of the text "
        "that was asked for.": of_factors(
            lambda logits, target: logits.log_softmax(-1).amax(-1).sum()
        ),
        "that is a logarithm to the base 2.": of_factors(
            lambda logits, target: factors(logits, target).sum() / math.log(2)
        ),
        "that is the probability itself; its logarithm was asked for.": (
            of_factors(
                lambda logits, target: factors(logits, target).sum().exp()
            )
        ),
    },
    calls=texts,
    also=(once,),
)
def log_probability(book, source, text):
    """Token by token."""
    said, total = [BOS], 0.0
    for token in [*text, EOS]:
        last = book.logits(source, said)[-1]
        total += last.log_softmax(-1)[token].item()
        said.append(token)
    return total


def heard(words):
    """A mask, word by word: `words(t, k, s_len)` are those heard."""

    def wait_mask(k, t_len, s_len):
        rows = [words(t, k, s_len) for t in range(t_len)]
        table = [[place in row for place in range(s_len)] for row in rows]
        return torch.tensor(table, device=device())[None, None]

    return wait_mask


@asks(
    {
        "k": whole(1, 9, given="k"),
        "t_len": whole(1, 9, given="t_len"),
        "s_len": whole(6, 12, given="s_len"),  # more than k in the task
    },
    "how many words has each character heard? Write down the first two rows.",
    {
        "one word too many: the first character uses the words at 0 to "
        "k - 1.": heard(lambda t, k, s_len: range(t + k + 1)),
        "one word too few: the first character has heard k words already.": (
            heard(lambda t, k, s_len: range(t + k - 1))
        ),
        "that is a plain causal mask: it hears one word at the first "
        "character, whatever k is.": heard(lambda t, k, s_len: range(t + 1)),
        "your interpreter stops listening after k words: each further "
        "character hears one more.": heard(lambda t, k, s_len: range(k)),
        "each further character hears one word more, not k more.": heard(
            lambda t, k, s_len: range((t + 1) * k)
        ),
        "what was heard before is not forgotten: yours looks through a "
        "window.": heard(lambda t, k, s_len: range(t, t + k)),
        "True means may attend, and yours hides the words that were heard.": (
            heard(lambda t, k, s_len: range(t + k, s_len))
        ),
        "queries are the rows: the characters that are written ask the words "
        "that are heard.": lambda *sizes: (
            wait_mask.examine.reference(*sizes).mT
        ),
    },
    k=(3, 4, 5),
    t_len=(4, 5, 6),
    s_len=(8, 9),
)
def wait_mask(k, t_len, s_len):
    return heard(lambda t, k, s_len: range(t + k))(k, t_len, s_len)


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
        "mixes the sentences in x only": stack(
            inputs=lambda x, memory: (x + 0.3 * x.flip(0), memory)
        ),
        "looks ahead in the first sentence only": stack(
            lambda m, n, own, other: (of_one(own, other, 0), other)
        ),
        "looks ahead in the second sentence only": stack(
            lambda m, n, own, other: (of_one(own, other, 1), other)
        ),
        "looks back by three positions and no more": stack(
            lambda m, n, own, other: (own.triu(-3), other)
        ),
        "mixes the sentences in the memory only": stack(
            inputs=lambda x, memory: (x, memory + 0.3 * memory.flip(0))
        ),
        "looks at the memory from its second position on": stack(
            lambda m, n, own, other: (own, not_first(own, other))
        ),
        "never looks at the second word of the memory": stack(
            lambda m, n, own, other: (own, without_second(other))
        ),
    }


def opened(own, rows):
    """A mask in which some rows may see everything."""
    own = own.clone()
    own[..., rows, :] = True
    return own


def of_one(own, other, sentence):
    """A mask in which one sentence of the batch may see everything."""
    own = own.expand(len(other), -1, -1, -1).clone()
    own[sentence : sentence + 1] = True
    return own


def not_first(own, other):
    """A mask of the memory, in which the first position sees nothing."""
    place = torch.arange(own.shape[-2], device=own.device)[:, None]
    return other & (place > 0)


def without_second(other):
    other = other.clone()
    other[..., 1:2] = False
    return other


def one_less(other):
    """A padding mask without its last word; a lone word stays."""
    next_is_word = F.pad(other[..., 1:], (0, 1))
    next_is_word[..., 0] = True
    return other & next_is_word


@hunts(width=(6, 8, 10, 12))
def finds_wrong_decoder(draw):
    torch.manual_seed(draw.whole(0, 9_999))
    width = draw.given.width
    return right_decoders(width), wrong_decoders(width)


def mask_or_none(draw, case):
    """None at first, then a row for each head and query, then others."""
    n, h, i, j = (case.sizes[letter] for letter in "nhij")
    if case.is_given:
        return None
    if case.length:
        return padding_mask(draw.ids(0, 0, n), j)  # an empty memory
    if not case.is_contiguous:
        return draw.mask(1, 1, i, j)
    return draw.mask(n, h, i, j)


def looks(
    ask=lambda query, W, b: query @ W.T + b,
    merge=merge,
    mixed=True,
    sharp=1,
    hide=lambda mask: mask,
):
    """Attention whose keys and values are ready, or a step is another one."""

    def look_across(attention, query, k, v, may_attend=None):
        W_q, b_q = attention.matrices()[0]
        q = sharp * ask(query, W_q, 0 if b_q is None else b_q)
        mask = None if may_attend is None else hide(may_attend)
        found = F.scaled_dot_product_attention(
            cut(q, attention.heads), k, v, mask
        )
        return attention.out_proj(merge(found)) if mixed else merge(found)

    return look_across


def one_head(attention, query, k, v, may_attend):
    """Attention of one head over the whole width."""
    q = query @ attention.matrices()[0][0].T
    if attention.in_proj.bias is not None:
        q = q + attention.matrices()[0][1]
    mask = of_head(may_attend, 0)
    found = F.scaled_dot_product_attention(q, merge(k), merge(v), mask)
    return attention.out_proj(found)


def of_head(mask, head):
    """Its part of a mask, which may be that of all."""
    return None if mask is None else mask[:, head % mask.shape[1]]


def nan_for_nothing(attention, query, k, v, may_attend):
    output = look_across.examine.reference(attention, query, k, v, may_attend)
    if may_attend is None:
        return output
    return output.masked_fill(~may_attend.any(-1)[:, 0, :, None], math.nan)


def of_keys(attention, query, k, v, may_attend):
    """The matrix of the keys asks."""
    W, b = attention.matrices()[1]
    ask = looks(lambda query, *_: F.linear(query, W, b))
    return ask(attention, query, k, v, may_attend)


@asks(
    {
        "attention": made(perhaps_with_biases, "h w", is_floating=True),
        "query": floats("n i h*w"),
        "k": floats("n h j w"),
        "v": floats("n h j w"),
        "may_attend": made(mask_or_none, "n h i j"),
    },
    "the output is not that of the whole attention.",
    {
        "the bias of the queries is missing.": looks(
            lambda query, W, b: query @ W.T
        ),
        "the queries go through the matrix of the keys.": of_keys,
        "the matrix is stored as (out, in), so x is multiplied by its "
        "transpose.": looks(lambda query, W, b: query @ W + b),
        "the queries are not projected: what asks is W_q times x.": looks(
            lambda query, W, b: query
        ),
        "the heads lie side by side, but nothing has mixed them yet: what "
        "follows them in the class?": looks(mixed=False),
        "the scores are not divided by the root of a head's width.": (
            lambda attention, query, k, *rest: looks(sharp=k.shape[-1] ** 0.5)(
                attention, query, k, *rest
            )
        ),
        "the mask is not used.": looks(hide=lambda mask: None),
        "a query that may attend to nothing gets NaN: softmax finds no score "
        "there. attention_weights gives such a query the weights 0.": (
            nan_for_nothing
        ),
        "a mask may have a row for each query, and all of yours get the "
        "first.": looks(hide=lambda mask: mask[:, :, :1]),
        "a mask may have a table for each head, and all of yours get the "
        "first.": looks(hide=lambda mask: mask[:, :1]),
        "the heads are merged in a wrong order: bring their axis back beside "
        "the width before you join them.": looks(merge=merge_as_stored),
        "the queries are not cut into heads, so one head compares whole "
        "vectors.": one_head,
    },
    sizes={"h": (1, 4), "j": (2, 7)},
    ways=(by_oneself("project"),),
)
def look_across(attention, query, k, v, may_attend):
    """Head by head."""
    W_q, b_q = attention.matrices()[0]
    q = F.linear(query, W_q, b_q).chunk(attention.heads, -1)
    blocks = attention.out_proj.weight.chunk(attention.heads, 1)
    output = 0 if attention.out_proj.bias is None else attention.out_proj.bias
    for h, (mine, block) in enumerate(zip(q, blocks, strict=True)):
        mask = of_head(may_attend, h)
        found = F.scaled_dot_product_attention(mine, k[:, h], v[:, h], mask)
        output = output + found @ block.T
    return output
