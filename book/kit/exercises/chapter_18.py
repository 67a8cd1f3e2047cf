"""Checks of the exercises of chapter 18, experts. Not taught."""

from collections import Counter

import torch
from torch import nn

from kit.exercises import expect
from kit.exercises.contract import asks, floats, lengths, made, whole
from lib.modern import GatedFeedForward
from lib.runtime import device


def trained(draw, case):
    """A network, no number of which is 0."""
    network = GatedFeedForward(*lengths("d f", case))
    draw.fill(network, lambda x: x / x.shape[-1] ** 0.5)
    return network.to(device(), case.dtype)


def as_it_answers(answer, network, experts, top_k, x):
    """What comes out; the keys begin alike at each call."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        mixture = answer(network, experts, top_k)
    if hasattr(mixture, "router"):
        total = mixture.to(x).router(x).weights.sum(-1)
        expect.that(
            (total - 1).abs() < 1e-4,
            "the weights of a token do not sum to 1, so the mixture gives "
            "more or less than the network: they must be renormalized.",
        )
    return mixture(x)


def can_part(answer, network, experts, top_k, x):
    """Experts that begin alike and get tokens and gradients of their own."""
    mixture = answer(network, experts, top_k)
    kinds = [kind.__name__ for kind in type(mixture).__mro__]
    expect.that(
        "MixtureOfExperts" in kinds,
        f"a MixtureOfExperts is asked for, and yours is a {kinds[0]}.",
    )
    routing = mixture.to(x).router(x)
    sizes = routing.scores.shape[-1], routing.chosen.shape[-1]
    expect.that(
        (len(mixture.experts), *sizes) == (experts, experts, top_k),
        f"your layer has {expect.plural(len(mixture.experts), 'expert')}, and "
        f"its router chooses {sizes[1]} of {sizes[0]}: {top_k} of {experts} "
        "are asked for.",
    )
    own = {p.data_ptr() for p in network.parameters()}
    weights = [p for expert in mixture.experts for p in expert.parameters()]
    places = {p.data_ptr() for p in weights if p.requires_grad}
    expect.that(
        len(places) == experts * len(own),
        "training cannot part these experts: each needs weights of its own "
        "that may change.",
    )
    expect.that(
        places.isdisjoint(own),
        "one of the experts is the network itself, and training would change "
        "it: take copies only.",
    )
    keys = mixture.router.keys.weight
    expect.that(
        len(keys.unique(dim=0)) == experts,
        "some keys are equal, so their experts tie for every token: leave "
        "the keys as Router makes them.",
    )


@asks(
    {
        "network": made(trained, "d f", is_floating=True),
        "experts": whole(5, 8),
        "top_k": whole(1, 4),
        "x": floats("n i d"),
    },
    "the mixture does not answer as the network does: is each expert an "
    "exact copy of it?",
    {
        "you have the network twice: beside the experts, whose weights sum "
        "to 1, nothing must be added.": (
            lambda network, *sizes: lambda x: 2 * network(x)
        ),
    },
    leaves_out=("double", "large"),  # a new network is made in float32
    calls=as_it_answers,
    also=(can_part,),
)
def upcycled(network, experts, top_k):
    return network


def drawn_choices(draw, case):
    """Of four layers; in one of them there is room for everybody."""
    found = []
    for top_k, capacity in ((2, 2), (1, 3), (3, draw.whole(1, 4)), (2, 20)):
        tokens, experts = draw.whole(12, 20), draw.whole(4, 6)
        tastes = draw.uniform(tokens, experts) + draw.uniform(experts)
        found.append((tastes.argsort(-1)[:, :top_k], experts, capacity))
    return draw.shuffled(found)


def in_turn(
    turns=lambda chosen: (chosen >= 0).nonzero(),
    room=lambda capacity: capacity,
    queue=lambda expert, column: expert,
    then=lambda full, chosen: full,
):
    """One choice after the other, by one rule or another."""

    def over_capacity(chosen, experts, capacity):
        full, taken = torch.zeros_like(chosen, dtype=torch.bool), Counter()
        for token, column in turns(chosen).tolist():
            at = queue(chosen[token, column].item(), column)
            full[token, column] = taken[at] >= room(capacity)
            taken[at] += 1
        return then(full, chosen)

    return over_capacity


@asks(
    {"layers": made(drawn_choices)},
    "take one expert, and go through its choices from the first row to the "
    "last: how many have come before?",
    {
        "you let all first choices in before all second ones: here they come "
        "row by row.": in_turn(
            lambda chosen: (chosen.T >= 0).nonzero().flip(-1)
        ),
        "who comes first has room, and you begin with the last row.": in_turn(
            lambda chosen: (chosen >= 0).nonzero().flip(0)
        ),
        "the choice that takes the last place still has room.": in_turn(
            room=lambda capacity: capacity - 1
        ),
        "you let one choice more in than there is room for.": in_turn(
            room=lambda capacity: capacity + 1
        ),
        "an expert has one room for all who come, and you give each column "
        "its own.": in_turn(queue=lambda expert, column: (expert, column)),
        "you count all choices in one queue: each expert has its own "
        "room.": in_turn(queue=lambda expert, column: 0),
        "a crowded expert does not lose everybody: the first ones have "
        "room.": in_turn(
            then=lambda full, chosen: torch.isin(chosen, chosen[full])
        ),
        "a token whose one choice is lost keeps its others.": in_turn(
            then=lambda full, chosen: full.any(-1)[:, None].expand_as(full)
        ),
        "True and False are exchanged in yours.": in_turn(
            then=lambda full, chosen: ~full
        ),
    },
    calls=lambda answer, layers: [answer(*layer) for layer in layers],
)
def over_capacity(chosen, experts, capacity):
    return in_turn()(chosen, experts, capacity)


def drawn_scores(draw, case):
    return floats("t e").drawn(draw, case)


def some_room(draw, case):
    """For fewer tokens than there are, if there are several."""
    return draw.whole(1, max(1, case.sizes["t"] - 1))


def better(scores):
    """How many tokens an expert scores higher than a token."""
    return (scores > scores[:, None]).sum(1)


def own_best(scores):
    return scores == scores.amax(-1, keepdim=True)


@asks(
    {
        "scores": made(drawn_scores, "t e", is_floating=True),
        "capacity": made(some_room, "t"),
    },
    "go down the column of one expert: which of its tokens have the highest "
    "scores?",
    {
        "in yours each token chooses experts; here each expert chooses "
        "tokens.": lambda scores, capacity: better(scores.T).T < capacity,
        "your rows are experts: the result has a row for each token.": (
            lambda scores, capacity: (better(scores) < capacity).T
        ),
        "you take the lowest scores.": (
            lambda scores, capacity: better(-scores) < capacity
        ),
        "each of your experts takes one token too few.": (
            lambda scores, capacity: better(scores) < capacity - 1
        ),
        "each of your experts takes one token too many.": (
            lambda scores, capacity: better(scores) <= capacity
        ),
        "you take the best of the whole table: every expert takes its own "
        "best, however low they are.": lambda scores, capacity: (
            better(scores.view(-1, 1)).view_as(scores)
            < capacity * scores.shape[1]
        ),
        "a token is not asked: an expert may take it although another one "
        "scores it higher.": lambda scores, capacity: (
            (better(scores) < capacity) & own_best(scores)
        ),
        "True and False are exchanged in yours.": (
            lambda scores, capacity: better(scores) >= capacity
        ),
    },
)
def expert_choice(scores, capacity):
    return better(scores) < capacity


DEEPSEEK_V3 = {
    "layers": 61,
    "dense_layers": 3,
    "d_model": 7_168,
    "d_ff": 18_432,
    "d_expert": 2_048,
    "experts": 256,
    "top_k": 8,
    "shared": 1,
    "attention": 187_105_280,
    "vocab": 129_280,
}


def drawn_sizes(draw, case):
    """Of the task at first; then small ones, some without a part."""
    if case.is_given:
        return [DEEPSEEK_V3]
    found = []
    for dense, shared in ((draw.whole(1, 4), 2), (0, 1), (2, 0)):
        sizes = draw.different(len(DEEPSEEK_V3), 10, 99)
        fields = dict(zip(DEEPSEEK_V3, sizes, strict=True))
        top_k = draw.whole(2, 9)
        few = {"dense_layers": dense, "shared": shared, "top_k": top_k}
        found.append(fields | few)
    return found


def by_layers(
    linears=3,
    dense=lambda fields: fields["dense_layers"],
    held=lambda fields: fields["experts"] + fields["shared"],
    used=lambda fields: fields["top_k"] + fields["shared"],
    routers=lambda fields: fields["layers"] - fields["dense_layers"],
    asked=lambda fields: fields["experts"],
    ends=2,
):
    """What torch's layers have, some of them other ones."""

    def weights(wide, narrow):
        return nn.Linear(wide, narrow, bias=False).weight.numel()

    def held_and_used(fields):
        d, found = fields["d_model"], []
        with torch.device("meta"):
            every = fields["layers"] * fields["attention"]
            every += ends * weights(d, fields["vocab"])
            every += dense(fields) * linears * weights(d, fields["d_ff"])
            expert = linears * weights(d, fields["d_expert"])
            for run, keys in (
                (held, fields["experts"]),
                (used, asked(fields)),
            ):
                sparse = (fields["layers"] - dense(fields)) * run(fields)
                router = routers(fields) * weights(d, keys)
                found.append(every + sparse * expert + router)
        return tuple(found)

    return held_and_used


@asks(
    {"models": made(drawn_sizes)},
    "count one layer of each kind, part by part, then what stands around "
    "the layers.",
    {
        "a SwiGLU network has three matrices.": by_layers(2),
        "the first layers have no experts, and a network of width d_ff.": (
            by_layers(
                dense=lambda fields: 0,
                routers=lambda fields: fields["layers"],
            )
        ),
        "a layer without experts has no router.": by_layers(
            routers=lambda fields: fields["layers"]
        ),
        "the keys of the routers are weights, too.": by_layers(
            routers=lambda fields: 0
        ),
        "a router multiplies with all keys before it can choose: all of them "
        "are used.": by_layers(asked=lambda fields: fields["top_k"]),
        "shared experts are held, and every token uses them.": by_layers(
            held=lambda fields: fields["experts"],
            used=lambda fields: fields["top_k"],
        ),
        "a token uses the shared experts beside those that are chosen.": (
            by_layers(used=lambda fields: fields["top_k"])
        ),
        "shared experts are held beside the others.": (
            by_layers(held=lambda fields: fields["experts"])
        ),
        "table and output matrix are not tied here: both count.": (
            by_layers(ends=1)
        ),
        "a token uses a few experts only.": by_layers(
            used=lambda fields: fields["experts"] + fields["shared"]
        ),
    },
    calls=lambda answer, models: [answer(fields) for fields in models],
)
def held_and_used(fields):
    return by_layers()(fields)
