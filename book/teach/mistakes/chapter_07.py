"""Wrong answers to the exercises of chapter 7, by misconception."""

SIZE = "torch.sqrt(x.square().mean(-1, keepdim=True) + eps)"
PARTS = "grad - along_ones - along_y"
WRONG = {
    "rms_norm": {
        "takes off the mean, as LayerNorm does": (
            "this is LayerNorm",
            {"return x /": "x = x - x.mean(-1, keepdim=True)\n    return x /"},
        ),
        "eps outside the root": (
            "eps stands outside the root",
            {SIZE: "(x.square().mean(-1, keepdim=True).sqrt() + eps)"},
        ),
        "eps is the least size that is allowed": (
            "is not the root of mean square plus eps",
            {SIZE: "x.square().mean(-1, keepdim=True).sqrt().clamp(min=eps)"},
        ),
        "the length, not the root of the mean square": (
            "you divide by the length",
            {".mean(-1": ".sum(-1"},
        ),
        "one size for all positions": (
            "all positions share one size",
            {".mean(-1, keepdim=True)": ".mean()"},
        ),
        "forgets the root": ("the root is missing", {"torch.sqrt(": "("}),
        "eps has another default": ("it is 1e-6", {"eps=1e-6": "eps=1e-5"}),
        "PyTorch is asked": (
            "written without rms_norm",
            {"x / " + SIZE: "F.rms_norm(x, x.shape[-1:], eps=eps)"},
        ),
    },
    "whole_layer": {
        "no path past attention": (
            "no path leads past attention",
            {"x = x + attention(first(x))": "x = attention(first(x))"},
        ),
        "one norm twice": (
            "the same norm stands twice",
            {"first, second = norms": "first = second = norms[0]"},
        ),
        "the norms in the other order": (
            "in the order in which they are needed",
            {"first, second = norms": "second, first = norms"},
        ),
        "pre-norm adds to the normalised x": (
            "in pre-norm the path carries x itself",
            {
                "x = x + attention(first(x))": "x = first(x) + attention(first(x))",
                "x + feed_forward(second(x))": "second(x) + feed_forward(second(x))",
            },
        ),
        "a norm after the branch instead of before it": (
            "your norms stand after the sub-layers",
            {
                "attention(first(x))": "first(attention(x))",
                "feed_forward(second(x))": "second(feed_forward(x))",
            },
        ),
        "the second path starts from the first x": (
            "goes back to the x from below",
            {
                "    x = first(x + attention(x))": "    y = first(x + attention(x))",
                "second(x + feed_forward(x))": "second(x + feed_forward(y))",
            },
        ),
        "post-norm whatever is asked": (
            "norm_first gives the other layer",
            {"if norm_first": "if False"},
        ),
        "a last norm at the end of pre-norm": (
            "follow the thick line",
            {
                "return x + feed_forward(second(x))": "return second(x + feed_forward(second(x)))"
            },
        ),
    },
    "remember": {
        "returns the network's two matrices only": (
            "three tensors are to come back",
            {"keys.T, b_1, values": "keys.T, values"},
        ),
        "one bias for all units": (
            "each unit needs a number of its own",
            {"(count,)": "(1,)"},
        ),
        "the keys as rows of W_1": (
            "A pattern is a column of W_1",
            {"keys.T": "keys"},
        ),
        "the bias takes all points off: no unit ever fires": (
            "no unit fires",
            {"1.0 - d": "float(-d)"},
        ),
        "twice the value, as the bias lies at the neighbours": (
            "they write twice the value",
            {"1.0 - d": "2.0 - d"},
        ),
        "the bias of the page, which had two properties a fact": (
            "the largest product of a key with another vector",
            {"1.0 - d": "-1.0"},
        ),
        "an average over the facts": (
            "divided by the number of facts",
            {"b_1, values": "b_1, values / count"},
        ),
    },
    "silence": {
        "only the matrix, and the bias still speaks": (
            "still adds the bias of narrow",
            {"            network.narrow.bias.zero_()\n": ""},
        ),
        "everything, so that nothing can be learnt": (
            "is silent for ever",
            {
                "network.narrow.bias.zero_()": "network.narrow.bias.zero_()\n"
                "            network.widen.weight.zero_()\n"
                "            network.widen.bias.zero_()"
            },
        ),
        "the first matrix, which leaves the last bias": (
            "units fire by the bias of widen",
            {"network.narrow.weight": "network.widen.weight"},
        ),
        "the norm's gain and bias": (
            "its norm gives zeros",
            {
                "for _, network": "for join, network",
                "network.narrow.weight": "join.norm.weight",
                "network.narrow.bias": "join.norm.bias",
            },
        ),
        "takes the layers away": (
            "layers 0 are left",
            {
                "        for _, network in stack:\n            network.narrow.weight.zero_()\n            network.narrow.bias.zero_()": "        stack.clear()"
            },
        ),
        "only the last layer": (
            "must give back its input",
            {"in stack:": "in stack[-1:]:"},
        ),
        "a silenced copy": (
            "no weight of the stack has changed",
            """
import copy

def silence(stack):
    with torch.no_grad():
        for _, network in copy.deepcopy(stack):
            network.narrow.weight.zero_()
            network.narrow.bias.zero_()
""",
        ),
        "the weights are made very small": (
            "small weights are not zero",
            {"weight.zero_()": "weight.mul_(1e-6)"},
        ),
    },
    "contributions": {
        "the start and all balances": (
            "payment 0 is what layer 0 adds",
            {"added = []": "added = [x]"},
        ),
        "the order reversed": (
            "in the reverse order",
            {"return added": "return added[::-1]"},
        ),
        "the balance instead of the payment": (
            "these are the balances",
            {"after - x": "after"},
        ),
        "the payments since the start": (
            "paid since the start",
            {
                "added = []": "added, start = [], x",
                "after - x": "after - start",
            },
        ),
        "every layer sees the first x": (
            "every layer of yours reads the first x",
            {"        x = after\n": ""},
        ),
        "the norm in the branch is forgotten": (
            "the norm in the branch is left out",
            {"after - x": "network(x)"},
        ),
        "before minus after": (
            "the signs are turned",
            {"after - x": "x - after"},
        ),
        "only the size of a payment": (
            "payment 0 is what layer 0 adds to x",
            {"after - x": "(after - x).abs()"},
        ),
    },
    "norm_gradient": {
        "mean and deviation taken for constants": (
            "taken for constants",
            {PARTS: "grad"},
        ),
        "the deviation taken for a constant": (
            "the part along y is still in",
            {" - along_y)": ")"},
        ),
        "the mean taken for a constant": (
            "the part along the ones is still in",
            {" - along_ones": ""},
        ),
        "not divided by the deviation": (
            "the right direction, but not its size",
            {"along_y) / deviation": "along_y)"},
        ),
        "the unbiased deviation": ("divides by d - 1", {"correction=0, ": ""}),
        "a sum instead of a mean along y": (
            "is taken off d times",
            {"(grad * y).mean(": "(grad * y).sum("},
        ),
        "small steps, one entry after the other": (
            "Try grad = ones",
            """
def norm_gradient(x, grad):
    def y(x):
        return F.layer_norm(x, x.shape[-1:], eps=0)

    step, out = 1e-3, torch.zeros_like(x)
    for i in range(x.shape[-1]):
        move = torch.zeros_like(x)
        move[..., i] = step
        out[..., i] = ((y(x + move) - y(x - move)) * grad).sum(-1) / 2 / step
    return out
""",
        ),
        "autograd after all": (
            "written without",
            """
def norm_gradient(x, grad):
    with torch.enable_grad():
        leaf = x.clone().requires_grad_()
        y = F.layer_norm(leaf, x.shape[-1:], eps=0)
        return torch.autograd.grad(y, leaf, grad)[0]
""",
        ),
    },
}

# Mutants of the solutions that are right too, and why.
EQUIVALENT = {
    "norm_gradient": {
        "y = ((x.mean(-1, keepdim=True) - x)) / deviation": "y occurs twice in its product, so its sign drops out",
    },
}
