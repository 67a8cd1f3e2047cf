"""Wrong answers to the exercises of chapter 18, by misconception."""

from . import read

WRONG = read(
    upcycled="""
one module several times > each needs weights of its own
-     copies = [copy.deepcopy(network) for _ in range(experts)]
+     copies = [copy.deepcopy(network)] * experts
one copy answers as well > a MixtureOfExperts is asked for
-     return MixtureOfExperts(router, copies)
+     return copies[0]
the network itself comes first > is the network itself
-     copies = [copy.deepcopy(network) for _ in range(experts)]
+     copies = [network]
+     for _ in range(1, experts):
+         copies.append(copy.deepcopy(network))
the weights are the scores > do not sum to 1
-     router = Router(network.widen.in_features, experts, top_k)
+     router = Router(network.widen.in_features, experts, top_k, renormalize=False)
new networks of the same size > is each expert an exact copy
-     copies = [copy.deepcopy(network) for _ in range(experts)]
+     copies = [type(network)(*network.narrow.weight.shape) for _ in range(experts)]
the network stays as a shared expert > you have the network twice
-     return MixtureOfExperts(router, copies)
+     return MixtureOfExperts(router, copies, network)
all keys are zero, so that nobody is preferred > some keys are equal
-     copies = [copy.deepcopy(network) for _ in range(experts)]
+     router.keys.weight.data.zero_()
+     copies = [copy.deepcopy(network) for _ in range(experts)]
the sizes of the router exchanged > are asked for
-     router = Router(network.widen.in_features, experts, top_k)
+     router = Router(network.widen.in_features, top_k, experts)
""",
    over_capacity="""
first choices come before all second ones > here they come row by row
-     line = chosen.flatten()
+     line = chosen.T.flatten()
-     return (place > capacity).view_as(chosen)
+     return (place > capacity).view(chosen.T.shape).T
the last ones have room > you begin with the last row
-     so_far = F.one_hot(line, experts).cumsum(0)
+     so_far = F.one_hot(line, experts).flip(0).cumsum(0).flip(0)
the last place stays empty > takes the last place still has room
-     return (place > capacity).view_as(chosen)
+     return (place >= capacity).view_as(chosen)
those before it are counted, and equally many are let in > one choice more in
-     return (place > capacity).view_as(chosen)
+     return (place - 1 > capacity).view_as(chosen)
a room for each column > you give each column its own
+ def over_capacity(chosen, experts, capacity):
+     place = F.one_hot(chosen, experts).cumsum(0)
+     return place.gather(2, chosen[..., None])[..., 0] > capacity
everybody at a crowded expert > does not lose everybody
-     so_far = F.one_hot(line, experts).cumsum(0)
+     so_far = F.one_hot(line, experts).sum(0).expand(len(line), -1)
the whole token is lost > keeps its others
-     return (place > capacity).view_as(chosen)
+     full = (place > capacity).view_as(chosen)
+     return full.any(-1, keepdim=True).expand_as(full)
True for those who have room > True and False are exchanged
-     return (place > capacity).view_as(chosen)
+     return (place <= capacity).view_as(chosen)
""",
    expert_choice="""
each token chooses > here each expert chooses tokens
+ def expert_choice(scores, capacity):
+     place = scores.argsort(dim=-1, descending=True).argsort(dim=-1)
+     return place < capacity
a row for each expert > the result has a row for each token
-     return taken.scatter(0, best, True)
+     return taken.scatter(0, best, True).T
the lowest scores > you take the lowest scores
-     best = scores.topk(capacity, dim=0).indices
+     best = scores.topk(capacity, dim=0, largest=False).indices
only what is above the last one taken > one token too few
+ def expert_choice(scores, capacity):
+     return scores > scores.topk(capacity, dim=0).values[-1]
counts from 0 up to capacity > one token too many
+ def expert_choice(scores, capacity):
+     place = scores.argsort(dim=0, descending=True).argsort(dim=0)
+     return place <= capacity
the best of the whole table > the best of the whole table
+ def expert_choice(scores, capacity):
+     best = scores.flatten().topk(capacity * scores.shape[1]).indices
+     taken = torch.zeros_like(scores, dtype=torch.bool)
+     taken.view(-1)[best] = True
+     return taken
only among those who like it best > a token is not asked
-     return taken.scatter(0, best, True)
+     mine = scores == scores.amax(-1, keepdim=True)
+     return taken.scatter(0, best, True) & mine
the numbers of the tokens > your answer holds int64, not bool
-     return taken.scatter(0, best, True)
+     return scores.argsort(dim=0)
""",
    held_and_used="""
two matrices in each network > has three matrices
-     both += dense * 3 * d * fields["d_ff"] + 2 * fields["vocab"] * d
+     both += dense * 2 * d * fields["d_ff"] + 2 * fields["vocab"] * d
-     expert = sparse * 3 * d * fields["d_expert"]
+     expert = sparse * 2 * d * fields["d_expert"]
experts in all layers > the first layers have no experts
-     d, dense = fields["d_model"], fields["dense_layers"]
+     d, dense = fields["d_model"], 0
no router > the keys of the routers
-     both += sparse * d * fields["experts"]
only the keys of the chosen experts are used
> a router multiplies with all keys
-     return held, used
+     used -= sparse * d * (fields["experts"] - fields["top_k"])
+     return held, used
the shared experts are among the chosen ones > beside those that are chosen
-     used = both + expert * (fields["top_k"] + fields["shared"])
+     used = both + expert * fields["top_k"]
no shared experts > shared experts are held, and every token uses them
-     held = both + expert * (fields["experts"] + fields["shared"])
-     used = both + expert * (fields["top_k"] + fields["shared"])
+     held = both + expert * fields["experts"]
+     used = both + expert * fields["top_k"]
one table for both ends > are not tied
-     both += dense * 3 * d * fields["d_ff"] + 2 * fields["vocab"] * d
+     both += dense * 3 * d * fields["d_ff"] + fields["vocab"] * d
experts as wide as a dense network > count one layer of each kind
-     expert = sparse * 3 * d * fields["d_expert"]
+     expert = sparse * 3 * d * fields["d_ff"]
""",
)

# Mutants of the solutions that are right too, and why.
EQUIVALENT = {
    "over_capacity": {
        "so_far = F.one_hot(line).cumsum(0)": "no column is needed for experts that nobody has chosen",
    },
}
