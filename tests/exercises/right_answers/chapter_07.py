"""Right answers in chapter 7 by other routes than the book's."""

RIGHT = {
    "rms_norm": {
        "has a class that is called RMSNorm": """
class RMSNorm(nn.Module):
    def __init__(self, eps):
        super().__init__()
        self.eps = eps

    def forward(self, x):
        return x * (x.pow(2).mean(-1, keepdim=True) + self.eps).rsqrt()

def rms_norm(x, eps=1e-6):
    return RMSNorm(eps)(x)
""",
        "takes the length": """
def rms_norm(x, eps=1e-6):
    length = torch.linalg.vector_norm(x, dim=-1, keepdim=True)
    return x / torch.hypot(length / x.shape[-1] ** 0.5, torch.tensor(eps**0.5, dtype=x.dtype))
""",
        "writes letters": """
def rms_norm(x, eps=1e-6):
    mean = torch.einsum("...i,...i->...", x, x) / x.size(-1)
    return torch.einsum("...i,...->...i", x, (mean + eps) ** -0.5)
""",
    },
    "whole_layer": {
        "has a class that is called Residual": """
class Residual:
    def __init__(self, part, norm, norm_first):
        self.part, self.norm, self.norm_first = part, norm, norm_first

    def __call__(self, x):
        if self.norm_first:
            return x + self.part(self.norm(x))
        return self.norm(x + self.part(x))

def whole_layer(x, attention, feed_forward, norms, norm_first):
    for part, norm in zip((attention, feed_forward), norms):
        x = Residual(part, norm, norm_first)(x)
    return x
""",
        "lets one line do both": """
def whole_layer(x, attention, feed_forward, norms, norm_first):
    same = torch.nn.Identity()
    for part, norm in zip([attention, feed_forward], norms):
        before, after = (norm, same) if norm_first else (same, norm)
        x = after(torch.add(x, part(before(x))))
    return x
""",
        "folds": """
from functools import reduce

def whole_layer(x, attention, feed_forward, norms, norm_first):
    def step(x, pair):
        part, norm = pair
        return x + part(norm(x)) if norm_first else norm(part(x) + x)

    return reduce(step, zip((attention, feed_forward), norms), x)
""",
    },
    "remember": {
        "divides by two": """
def remember(keys, values):
    d = keys.shape[1]
    return keys.mT / 2, (1 - d / 2) * torch.ones_like(keys[:, 0]), values
""",
        "has a unit too many": """
def remember(keys, values):
    n, d = keys.shape
    W_1 = torch.cat([keys, torch.zeros(1, d, dtype=keys.dtype)]).T
    b_1 = torch.cat([keys.square().sum(1).neg() + 1, keys.new_zeros(1)])
    return [W_1, b_1, torch.cat([values, values[:1]])]
""",
        "shares the work of each fact among two units": """
def remember(keys, values):
    W_1 = torch.stack([keys, keys], dim=1).flatten(0, 1).T
    b_1 = torch.full((2 * len(keys),), 1.0 - keys.size(1), dtype=keys.dtype)
    return W_1, b_1, values.repeat_interleave(2, dim=0) / 2
""",
    },
    "silence": {
        "fills with zeros by init": """
def silence(stack):
    for _, network in stack:
        for parameter in network.narrow.parameters():
            torch.nn.init.constant_(parameter, 0.0)
""",
        "multiplies by 0": """
@torch.no_grad()
def silence(stack):
    for join, network in stack:
        network.narrow.weight *= 0
        network.narrow.bias -= network.narrow.bias.clone()
""",
        "loads a state": """
def silence(stack):
    for _, network in stack:
        zeros = {n: torch.zeros_like(t) for n, t in network.narrow.state_dict().items()}
        network.narrow.load_state_dict(zeros)
""",
    },
    "contributions": {
        "keeps all balances": """
def contributions(stack, x):
    balances = [x]
    for join, network in stack:
        balances.append(join(balances[-1], network))
    return [b - a for a, b in zip(balances, balances[1:])]
""",
        "listens to the networks": """
def contributions(stack, x):
    heard, hooks = [], []
    for _, network in stack:
        hooks.append(network.register_forward_hook(lambda m, given, out: heard.append(out)))
    for join, network in stack:
        x = join(x, network)
    for hook in hooks:
        hook.remove()
    return heard
""",
        "pays the network of the norm": """
def contributions(stack, x):
    paid = ()
    for join, network in stack:
        paid += (network(join.norm(x)),)
        x = x + paid[-1]
    return paid
""",
    },
    "norm_gradient": {
        "projects in one matrix": """
def norm_gradient(x, grad):
    d = x.shape[-1]
    centred = x - x.mean(-1, keepdim=True)
    length = centred.norm(dim=-1, keepdim=True)
    unit = centred / length
    along = torch.stack([unit, torch.full_like(unit, d**-0.5)], -1)
    rest = grad[..., None] - along @ (along.mT @ grad[..., None])
    return rest.squeeze(-1) * d**0.5 / length
""",
        "goes back step by step": """
def norm_gradient(x, grad):
    d = x.shape[-1]
    mu = x.sum(-1, keepdim=True) / d
    c = x - mu
    var = (c * c).sum(-1, keepdim=True) / d
    r = var.rsqrt()
    d_r = (grad * c).sum(-1, keepdim=True)
    d_var = -0.5 * d_r * r**3
    d_c = grad * r + d_var * 2 * c / d
    return d_c - d_c.sum(-1, keepdim=True) / d
""",
        "takes the mean off twice": """
def norm_gradient(x, grad):
    y = F.layer_norm(x, x.shape[-1:], eps=0.0)
    g = grad - grad.mean(dim=-1, keepdim=True)
    dot = torch.einsum("...i,...i->...", g, y).unsqueeze(-1) / x.shape[-1]
    return (g - y * dot) / x.var(dim=-1, unbiased=False, keepdim=True) ** 0.5
""",
    },
}
