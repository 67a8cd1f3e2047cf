"""Checks of the exercises of chapter 19, a memory that overwrites.

Not taught.
"""

import torch
import torch.nn.functional as F

from kit.exercises import expect
from kit.exercises.calls import Watch
from kit.exercises.contract import asks, by_oneself, floats, made
from lib.delta import delta_rule


def drawn_layers(draw, case):
    """Sizes of layers; in some of them both keep equally much at some time."""
    sizes = [(2, 256, 32, 128, 128)] if case.is_given else []
    for _number in range(4):
        heads, kv_heads = draw.whole(2, 9), draw.whole(1, 5)
        d_head, times = draw.whole(5, 30), draw.whole(2, 9)
        sizes.append((kv_heads, d_head, heads, d_head, kv_heads * times))
        sizes.append((kv_heads, d_head, heads, d_head + 1, 7 * times))
    return sizes


def pays(
    state=lambda heads, d_key, d_value: 4 * heads * d_key * d_value,
    token=lambda kv_heads, d_head, heads: 4 * kv_heads * d_head,
    extra=lambda state, token: state // token + 1,
):
    """The number of tokens, by what a state and a token take."""

    def tokens_to_pay(kv_heads, d_head, heads, d_key, d_value):
        a_token = token(kv_heads, d_head, heads)
        return extra(state(heads, d_key, d_value), a_token)

    return tokens_to_pay


@asks(
    {"layers": made(drawn_layers)},
    "how many bytes does the state take, and how many does a token add to "
    "the cache of a full layer?",
    {
        "with that number both keep equally much: the full layer is to keep "
        "more.": pays(extra=lambda state, token: -(-state // token)),
        "a token keeps a key and a value, and you count one of them.": pays(
            token=lambda kv_heads, d_head, heads: 2 * kv_heads * d_head
        ),
        "each head has a matrix of its own, and you count one of them.": pays(
            lambda heads, d_key, d_value: 4 * d_key * d_value
        ),
        "a number of the state takes 4 bytes, and one of the cache 2.": pays(
            lambda heads, d_key, d_value: 2 * heads * d_key * d_value
        ),
        "a full layer keeps keys for its kv_heads, not for the heads of the "
        "state.": pays(
            token=lambda kv_heads, d_head, heads: 4 * heads * d_head
        ),
        "rounded down, the full layer keeps less or as much: one token more "
        "is needed.": pays(extra=lambda state, token: state // token),
    },
    calls=lambda answer, layers: [answer(*layer) for layer in layers],
)
def tokens_to_pay(*layer):
    return pays()(*layer)


def leaves_the_rest(take):
    """The memory without what `take` finds under the key."""

    def forget_key(memory, key):
        return memory - take(memory, key)

    return forget_key


@asks(
    {"memory": floats("d e"), "key": floats("d")},
    "the key is to find zero, and every key at right angles to it what it "
    "found before. Try it with the key [1, 0] first, then with [2, 0].",
    {
        "this is right for a key of length 1. A key twice as long finds "
        "twice as much, and writes twice as much.": leaves_the_rest(
            lambda memory, key: torch.outer(key, key @ memory)
        ),
        "you divide by the length of the key once: it is too long where it "
        "reads, and again where it writes.": leaves_the_rest(
            lambda memory, key: torch.outer(key, key @ memory) / key.norm()
        ),
        "what was found is added once more: the error is zero minus what was "
        "found.": leaves_the_rest(
            lambda memory, key: (
                -torch.outer(key, key @ memory) / key.square().sum()
            )
        ),
        "everything is forgotten; keys at right angles to this one are to "
        "find what they found.": leaves_the_rest(lambda memory, key: memory),
        "you take what was found from every row: only the direction of the "
        "key is to change.": leaves_the_rest(
            lambda memory, key: (key @ memory).expand_as(memory)
        ),
        "the key finds half of what it found: write the whole error.": (
            leaves_the_rest(
                lambda memory, key: (
                    torch.outer(key, key @ memory) / key.square().sum() / 2
                )
            )
        ),
    },
    sizes={"d": (2, 7)},
)
def forget_key(memory, key):
    across = torch.eye(len(key)).to(key)
    across -= torch.outer(key, key) / (key @ key)
    return across @ memory


def of_length_one(letters):
    """Keys (or queries) of length 1, n of them, d wide."""

    def drawn(draw, case):
        shape = [case.sizes[letter] for letter in letters.split()]
        x = F.normalize(draw.normal(*shape, dtype=case.dtype), dim=-1)
        return x if case.is_contiguous else x.mT.contiguous().mT

    return made(drawn, letters, is_floating=True)


def rates(letters):
    """Numbers between 0 and 1, and not close to either."""

    def drawn(draw, case):
        shape = [case.sizes[letter] for letter in letters.split()]
        return 0.1 + 0.8 * draw.uniform(*shape, dtype=case.dtype)

    return made(drawn, letters, is_floating=True)


def solved(
    errors=lambda memory, k, v, beta: beta[:, None] * (v - k @ memory),
    meets=lambda k, beta: beta[:, None] * (k @ k.mT).tril(-1),
    begins=lambda memory: memory,
):
    """The memory after a chunk, by one system; any of its parts may differ."""

    def goes_on(memory, k, v, beta):
        one = torch.eye(len(k)).to(k)
        system = one + meets(k, beta)
        written = torch.linalg.solve(system, errors(memory, k, v, beta))
        return begins(memory) + k.mT @ written

    return goes_on


def no_loop(answer, memory, k, v, beta):
    """As many calls for many lines as for few."""
    counts = []
    for times in (1, 8):
        more = (x.repeat(times, *[1] * (x.ndim - 1)) for x in (k, v, beta))
        with Watch() as watch:
            answer(memory.clone(), *more)
        counts.append(watch.calls)
    expect.that(
        counts[0] == counts[1],
        f"the numbers are right, but {len(k)} lines take {counts[0]} calls of "
        f"torch, and {8 * len(k)} lines {counts[1]}: there is a loop.",
    )


@asks(
    {
        "memory": floats("d e"),
        "k": of_length_one("n d"),
        "v": floats("n e"),
        "beta": rates("n"),
    },
    "try two lines with the same key first: what does each of them find, "
    "and what is there before the first?",
    {
        "no line looks into the old memory: its error is the value minus "
        "what its key finds there.": solved(
            lambda memory, k, v, beta: beta[:, None] * v
        ),
        "the old memory is gone at the end; the lines are to be written into "
        "it.": solved(begins=torch.zeros_like),
        "the rate stands on one side only: it also scales how far a line "
        "meets those before it.": solved(
            meets=lambda k, beta: (k @ k.mT).tril(-1)
        ),
        "the rate is missing where the error is written.": solved(
            lambda memory, k, v, beta: v - k @ memory
        ),
        "no line knows what the others of its chunk have written.": solved(
            meets=lambda k, beta: 0 * (k @ k.mT)
        ),
        "a line takes off what it writes itself: the sum goes over earlier "
        "lines only.": solved(
            meets=lambda k, beta: beta[:, None] * (k @ k.mT).tril()
        ),
        "lines depend on later ones: the system must be triangular.": solved(
            meets=lambda k, beta: beta[:, None] * (k @ k.mT).fill_diagonal_(0)
        ),
    },
    sizes={"d": (3, 6), "n": (4, 9)},
    leaves_out=("large",),
    also=(no_loop,),
    ways=(by_oneself("delta_rule", "delta_chunk", "chunked_delta_rule"),),
)
def goes_on(memory, k, v, beta):
    return delta_rule(k, k, v, beta, state=memory)[1].to(v.dtype)


def table(
    turns=lambda a, b, k: (
        a * (torch.eye(len(k)).to(k) - b * torch.outer(k, k))
    ),
    writes=lambda b, k: b * k,
    shown=lambda rows: rows,
):
    """Entry by entry: what is written, and what each later line leaves."""

    def who_reads(q, k, beta, decay):
        rows = torch.zeros(len(k), len(k)).to(q)
        for j in range(len(k)):
            trace = writes(beta[j], k[j])
            for i in range(j, len(k)):
                if i > j:
                    trace = turns(decay[i], beta[i], k[i]) @ trace
                rows[i, j] = q[i] @ trace
        return shown(rows)

    return who_reads


@asks(
    {
        "q": of_length_one("n d"),
        "k": of_length_one("n d"),
        "beta": rates("n"),
        "decay": rates("n"),
    },
    "times v, this is not what the rule finds. Try one line alone, then two "
    "with the same key.",
    {
        "these are attention's weights; here is no softmax.": (
            lambda q, k, beta, decay: (
                (q @ k.mT / k.shape[-1] ** 0.5)
                .masked_fill(
                    torch.ones(len(k), len(k)).triu(1) > 0, -torch.inf
                )
                .softmax(-1)
            )
        ),
        "this is a memory that adds: no line takes off what its key finds.": (
            table(turns=lambda a, b, k: a * torch.eye(len(k)).to(k))
        ),
        "the table lies on its side: a row for each output, a column for "
        "each value.": table(shown=lambda rows: rows.mT),
        "nothing fades: every later line multiplies the memory by its decay "
        "before it writes.": table(
            turns=lambda a, b, k: (
                torch.eye(len(k)).to(k) - b * torch.outer(k, k)
            )
        ),
        "the rate is missing where a line writes.": table(
            writes=lambda b, k: k
        ),
        "each line is written as if its rate were 1.": table(
            turns=lambda a, b, k: (
                a * (torch.eye(len(k)).to(k) - torch.outer(k, k))
            ),
            writes=lambda b, k: k,
        ),
        "this is what the keys themselves find; the queries are to ask.": (
            lambda q, k, beta, decay: table()(k, k, beta, decay)
        ),
    },
    sizes={"d": (3, 6), "n": (4, 9)},
    leaves_out=("large",),
)
def who_reads(q, k, beta, decay):
    return table()(q, k, beta, decay)
