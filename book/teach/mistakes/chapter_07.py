"""Wrong answers to the exercises of chapter 7, by misconception."""

from . import read

WRONG = read(
    rms_norm="""
takes off the mean, as LayerNorm does > this is LayerNorm
-     return x / torch.sqrt(x.square().mean(-1, keepdim=True) + eps)
+     x = x - x.mean(-1, keepdim=True)
+     return x / torch.sqrt(x.square().mean(-1, keepdim=True) + eps)
eps outside the root > eps stands outside the root
-     return x / torch.sqrt(x.square().mean(-1, keepdim=True) + eps)
+     return x / (x.square().mean(-1, keepdim=True).sqrt() + eps)
eps is the least size that is allowed > is not the root of mean square plus eps
-     return x / torch.sqrt(x.square().mean(-1, keepdim=True) + eps)
+     return x / x.square().mean(-1, keepdim=True).sqrt().clamp(min=eps)
the length, not the root of the mean square > you divide by the length
-     return x / torch.sqrt(x.square().mean(-1, keepdim=True) + eps)
+     return x / torch.sqrt(x.square().sum(-1, keepdim=True) + eps)
one size for all positions > all positions share one size
-     return x / torch.sqrt(x.square().mean(-1, keepdim=True) + eps)
+     return x / torch.sqrt(x.square().mean() + eps)
forgets the root > the root is missing
-     return x / torch.sqrt(x.square().mean(-1, keepdim=True) + eps)
+     return x / (x.square().mean(-1, keepdim=True) + eps)
eps has another default > it is 1e-6
- def rms_norm(x, eps=1e-6):
+ def rms_norm(x, eps=1e-5):
PyTorch is asked > written without rms_norm
-     return x / torch.sqrt(x.square().mean(-1, keepdim=True) + eps)
+     return F.rms_norm(x, x.shape[-1:], eps=eps)
""",
    whole_layer="""
no path past attention > no path leads past attention
-         x = x + attention(first(x))
+         x = attention(first(x))
one norm twice > the same norm stands twice
-     first, second = norms
+     first = second = norms[0]
the norms in the other order > in the order in which they are needed
-     first, second = norms
+     second, first = norms
pre-norm adds to the normalised x > in pre-norm the path carries x itself
-         x = x + attention(first(x))
-         return x + feed_forward(second(x))
+         x = first(x) + attention(first(x))
+         return second(x) + feed_forward(second(x))
a norm after the branch instead of before it
> your norms stand after the sub-layers
-         x = x + attention(first(x))
-         return x + feed_forward(second(x))
+         x = x + first(attention(x))
+         return x + second(feed_forward(x))
the second path starts from the first x > goes back to the x from below
-     x = first(x + attention(x))
-     return second(x + feed_forward(x))
+     y = first(x + attention(x))
+     return second(x + feed_forward(y))
post-norm whatever is asked > norm_first gives the other layer
-     if norm_first:
+     if False:
a last norm at the end of pre-norm > follow the thick line
-         return x + feed_forward(second(x))
+         return second(x + feed_forward(second(x)))
""",
    remember="""
returns the network's two matrices only > three tensors are to come back
-     return keys.T, b_1, values
+     return keys.T, values
one bias for all units > each unit needs a number of its own
-     b_1 = torch.full((count,), 1.0 - d)  # d with itself, at most d - 2 else
+     b_1 = torch.full((1,), 1.0 - d)  # d with itself, at most d - 2 else
the keys as rows of W_1 > A pattern is a column of W_1
-     return keys.T, b_1, values
+     return keys, b_1, values
the bias takes all points off: no unit ever fires > no unit fires
-     b_1 = torch.full((count,), 1.0 - d)  # d with itself, at most d - 2 else
+     b_1 = torch.full((count,), float(-d))  # d with itself, at most d - 2 else
twice the value, as the bias lies at the neighbours
> they write twice the value
-     b_1 = torch.full((count,), 1.0 - d)  # d with itself, at most d - 2 else
+     b_1 = torch.full((count,), 2.0 - d)  # d with itself, at most d - 2 else
the bias of the page, which had two properties a fact
> the largest product of a key with another vector
-     b_1 = torch.full((count,), 1.0 - d)  # d with itself, at most d - 2 else
+     b_1 = torch.full((count,), -1.0)  # d with itself, at most d - 2 else
an average over the facts > divided by the number of facts
-     return keys.T, b_1, values
+     return keys.T, b_1, values / count
""",
    silence="""
only the matrix, and the bias still speaks > still adds the bias of narrow
-             network.narrow.bias.zero_()
everything, so that nothing can be learnt > is silent for ever
-             network.narrow.bias.zero_()
+             network.narrow.bias.zero_()
+             network.widen.weight.zero_()
+             network.widen.bias.zero_()
the first matrix, which leaves the last bias > units fire by the bias of widen
-             network.narrow.weight.zero_()
+             network.widen.weight.zero_()
the norm's gain and bias > its norm gives zeros
-         for _, network in stack:
-             network.narrow.weight.zero_()
-             network.narrow.bias.zero_()
+         for join, network in stack:
+             join.norm.weight.zero_()
+             join.norm.bias.zero_()
takes the layers away > layers 0 are left
-         for _, network in stack:
-             network.narrow.weight.zero_()
-             network.narrow.bias.zero_()
+         stack.clear()
only the last layer > must give back its input
-         for _, network in stack:
+         for _, network in stack[-1:]:
a silenced copy > no weight of the stack has changed
+ import copy
+
+ def silence(stack):
+     with torch.no_grad():
+         for _, network in copy.deepcopy(stack):
+             network.narrow.weight.zero_()
+             network.narrow.bias.zero_()
the weights are made very small > small weights are not zero
-             network.narrow.weight.zero_()
+             network.narrow.weight.mul_(1e-6)
""",
    contributions="""
the start and all balances > payment 0 is what layer 0 adds
-     added = []
+     added = [x]
the order reversed > in the reverse order
-     return added
+     return added[::-1]
the balance instead of the payment > these are the balances
-         added.append(after - x)
+         added.append(after)
the payments since the start > paid since the start
-     added = []
+     added, start = [], x
-         added.append(after - x)
+         added.append(after - start)
every layer sees the first x > every layer of yours reads the first x
-         x = after
the norm in the branch is forgotten > the norm in the branch is left out
-         added.append(after - x)
+         added.append(network(x))
before minus after > the signs are turned
-         added.append(after - x)
+         added.append(x - after)
only the size of a payment > payment 0 is what layer 0 adds to x
-         added.append(after - x)
+         added.append((after - x).abs())
""",
    norm_gradient="""
mean and deviation taken for constants > taken for constants
-     return (grad - along_ones - along_y) / deviation
+     return (grad) / deviation
the deviation taken for a constant > the part along y is still in
-     return (grad - along_ones - along_y) / deviation
+     return (grad - along_ones) / deviation
the mean taken for a constant > the part along the ones is still in
-     return (grad - along_ones - along_y) / deviation
+     return (grad - along_y) / deviation
not divided by the deviation > the right direction, but not its size
-     return (grad - along_ones - along_y) / deviation
+     return (grad - along_ones - along_y)
the unbiased deviation > divides by d - 1
-     deviation = x.std(-1, correction=0, keepdim=True)
+     deviation = x.std(-1, keepdim=True)
a sum instead of a mean along y > is taken off d times
-     along_y = y * (grad * y).mean(-1, keepdim=True)
+     along_y = y * (grad * y).sum(-1, keepdim=True)
small steps, one entry after the other > Try grad = ones
+ def norm_gradient(x, grad):
+     def y(x):
+         return F.layer_norm(x, x.shape[-1:], eps=0)
+
+     step, out = 1e-3, torch.zeros_like(x)
+     for i in range(x.shape[-1]):
+         move = torch.zeros_like(x)
+         move[..., i] = step
+         out[..., i] = ((y(x + move) - y(x - move)) * grad).sum(-1) / 2 / step
+     return out
autograd after all > written without
+ def norm_gradient(x, grad):
+     with torch.enable_grad():
+         leaf = x.clone().requires_grad_()
+         y = F.layer_norm(leaf, x.shape[-1:], eps=0)
+         return torch.autograd.grad(y, leaf, grad)[0]
""",
)

# Mutants of the solutions that are right too, and why.
EQUIVALENT = {
    "norm_gradient": {
        "y = ((x.mean(-1, keepdim=True) - x)) / deviation": "y occurs twice in its product, so its sign drops out",
    },
}
