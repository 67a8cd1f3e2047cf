"""Wrong answers to the exercises of chapter 18, by misconception."""

COPIES = "[copy.deepcopy(network) for _ in range(experts)]"
PLACE = "return (place > capacity).view_as(chosen)"
WRONG = {
    "upcycled": {
        "one module several times": (
            "each needs weights of its own",
            {COPIES: "[copy.deepcopy(network)] * experts"},
        ),
        "one copy answers as well": (
            "a MixtureOfExperts is asked for",
            {"MixtureOfExperts(router, copies)": "copies[0]"},
        ),
        "the network itself comes first": (
            "is the network itself",
            {
                COPIES: "[network]\n    for _ in range(1, experts):\n        copies.append(copy.deepcopy(network))"
            },
        ),
        "the weights are the scores": (
            "do not sum to 1",
            {
                "experts, top_k)\n    copies": "experts, top_k, renormalize=False)\n    copies"
            },
        ),
        "new networks of the same size": (
            "is each expert an exact copy",
            {
                "copy.deepcopy(network)": "type(network)(*network.narrow.weight.shape)"
            },
        ),
        "the network stays as a shared expert": (
            "you have the network twice",
            {"(router, copies)": "(router, copies, network)"},
        ),
        "all keys are zero, so that nobody is preferred": (
            "some keys are equal",
            {
                "    copies =": "    router.keys.weight.data.zero_()\n    copies ="
            },
        ),
        "the sizes of the router exchanged": (
            "are asked for",
            {"experts, top_k)\n    copies": "top_k, experts)\n    copies"},
        ),
    },
    "over_capacity": {
        "first choices come before all second ones": (
            "here they come row by row",
            {
                "line = chosen.flatten()": "line = chosen.T.flatten()",
                PLACE: "return (place > capacity).view(chosen.T.shape).T",
            },
        ),
        "the last ones have room": (
            "you begin with the last row",
            {"experts).cumsum(0)": "experts).flip(0).cumsum(0).flip(0)"},
        ),
        "the last place stays empty": (
            "takes the last place still has room",
            {"> capacity": ">= capacity"},
        ),
        "those before it are counted, and equally many are let in": (
            "one choice more in",
            {"> capacity": "- 1 > capacity"},
        ),
        "a room for each column": (
            "you give each column its own",
            """
def over_capacity(chosen, experts, capacity):
    place = F.one_hot(chosen, experts).cumsum(0)
    return place.gather(2, chosen[..., None])[..., 0] > capacity
""",
        ),
        "everybody at a crowded expert": (
            "does not lose everybody",
            {
                "so_far = F.one_hot(line, experts).cumsum(0)": "so_far = F.one_hot(line, experts).sum(0).expand(len(line), -1)"
            },
        ),
        "the whole token is lost": (
            "keeps its others",
            {
                PLACE: "full = (place > capacity).view_as(chosen)\n    return full.any(-1, keepdim=True).expand_as(full)"
            },
        ),
        "True for those who have room": (
            "True and False are exchanged",
            {"> capacity": "<= capacity"},
        ),
    },
    "expert_choice": {
        "each token chooses": (
            "here each expert chooses tokens",
            """
def expert_choice(scores, capacity):
    place = scores.argsort(dim=-1, descending=True).argsort(dim=-1)
    return place < capacity
""",
        ),
        "a row for each expert": (
            "the result has a row for each token",
            {
                "return taken.scatter(0, best, True)": "return taken.scatter(0, best, True).T"
            },
        ),
        "the lowest scores": (
            "you take the lowest scores",
            {"dim=0)": "dim=0, largest=False)"},
        ),
        "only what is above the last one taken": (
            "one token too few",
            """
def expert_choice(scores, capacity):
    return scores > scores.topk(capacity, dim=0).values[-1]
""",
        ),
        "counts from 0 up to capacity": (
            "one token too many",
            """
def expert_choice(scores, capacity):
    place = scores.argsort(dim=0, descending=True).argsort(dim=0)
    return place <= capacity
""",
        ),
        "the best of the whole table": (
            "the best of the whole table",
            """
def expert_choice(scores, capacity):
    best = scores.flatten().topk(capacity * scores.shape[1]).indices
    taken = torch.zeros_like(scores, dtype=torch.bool)
    taken.view(-1)[best] = True
    return taken
""",
        ),
        "only among those who like it best": (
            "a token is not asked",
            {
                "return taken.scatter(0, best, True)": "mine = scores == scores.amax(-1, keepdim=True)\n    return taken.scatter(0, best, True) & mine"
            },
        ),
        "the numbers of the tokens": (
            "your answer holds int64, not bool",
            {
                "return taken.scatter(0, best, True)": "return scores.argsort(dim=0)"
            },
        ),
    },
    "held_and_used": {
        "two matrices in each network": (
            "has three matrices",
            {
                "dense * 3 * d": "dense * 2 * d",
                "sparse * 3 * d": "sparse * 2 * d",
            },
        ),
        "experts in all layers": (
            "the first layers have no experts",
            {
                'd, dense = fields["d_model"], fields["dense_layers"]': 'd, dense = fields["d_model"], 0'
            },
        ),
        "no router": (
            "the keys of the routers",
            {'    both += sparse * d * fields["experts"]\n': ""},
        ),
        "only the keys of the chosen experts are used": (
            "a router multiplies with all keys",
            {
                "    return held, used": '    used -= sparse * d * (fields["experts"] - fields["top_k"])\n    return held, used'
            },
        ),
        "the shared experts are among the chosen ones": (
            "beside those that are chosen",
            {'(fields["top_k"] + fields["shared"])': 'fields["top_k"]'},
        ),
        "no shared experts": (
            "shared experts are held, and every token uses them",
            {
                '(fields["experts"] + fields["shared"])': 'fields["experts"]',
                '(fields["top_k"] + fields["shared"])': 'fields["top_k"]',
            },
        ),
        "one table for both ends": (
            "are not tied",
            {'2 * fields["vocab"]': 'fields["vocab"]'},
        ),
        "experts as wide as a dense network": (
            "count one layer of each kind",
            {'fields["d_expert"]': 'fields["d_ff"]'},
        ),
    },
}

# Mutants of the solutions that are right too, and why.
EQUIVALENT = {
    "over_capacity": {
        "so_far = F.one_hot(line).cumsum(0)": "no column is needed for experts that nobody has chosen",
    },
}
