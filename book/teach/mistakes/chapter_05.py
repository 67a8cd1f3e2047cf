"""Wrong answers to the exercises of chapter 5, by misconception."""

from . import read

WRONG = read(
    attention_parameters="""
forgets the output projection > which one mixes the heads
-     total = d_model * columns + heads * d_value * d_model
+     total = d_model * columns
counts the matrices of one head > you count the matrices of one head
-     columns = heads * (d_head + d_head + d_value)
-     total = d_model * columns + heads * d_value * d_model
+     columns = (d_head + d_head + d_value)
+     total = d_model * columns + d_value * d_model
gives every head the full width > a head does not have the full width
-     columns = heads * (d_head + d_head + d_value)
-     total = d_model * columns + heads * d_value * d_model
+     columns = heads * 3 * d_model
+     total = d_model * columns + heads * d_model * d_model
takes values to be as wide as keys > which two matrices does that change
-     columns = heads * (d_head + d_head + d_value)
-     total = d_model * columns + heads * d_value * d_model
+     columns = heads * (d_head + d_head + d_head)
+     total = d_model * columns + heads * d_head * d_model
four square matrices, as usual > four square matrices
+ def attention_parameters(d_model, heads, d_head, d_value, bias):
+     return 4 * d_model * (d_model + bias)
one bias for each row of a matrix > and you count the rows
-     return total + (columns + d_model if bias else 0)
+     return total + (3 * d_model + heads * d_value if bias else 0)
an output projection for each head, each with its bias > so it has one bias
-     return total + (columns + d_model if bias else 0)
+     return total + (columns + heads * d_model if bias else 0)
a bias is one number > with each the number of its columns
-     return total + (columns + d_model if bias else 0)
+     return total + (4 if bias else 0)
""",
    multi_head="""
leaves the heads side by side > nothing has mixed them
-     return merge_heads(attention(q, k, v, may_attend)) @ W_o
+     return merge_heads(attention(q, k, v, may_attend))
views straight to the shape of the heads
> view alone reads the numbers in order
+ def multi_head(x, y, matrices, heads, may_attend=None):
+     W_q, W_k, W_v, W_o = matrices
+     pairs = (x, W_q), (y, W_k), (y, W_v)
+     cut = [(t @ W).reshape(len(t), heads, t.shape[1], -1) for t, W in pairs]
+     found = attention(*cut, may_attend)
+     return found.reshape(*x.shape[:2], -1) @ W_o
merges without bringing the heads back > bring their axis back after it first
-     return merge_heads(attention(q, k, v, may_attend)) @ W_o
+     return attention(q, k, v, may_attend).reshape(*x.shape[:2], -1) @ W_o
takes the values from the one who asks > the values come from x, who asks
-     v = split_heads(y @ W_v, heads)
+     v = split_heads(x @ W_v, heads)
one wide head, never cut > this is one wide head
-     q = split_heads(x @ W_q, heads)
-     k = split_heads(y @ W_k, heads)
-     v = split_heads(y @ W_v, heads)
+     q = split_heads(x @ W_q, 1)
+     k = split_heads(y @ W_k, 1)
+     v = split_heads(y @ W_v, 1)
forgets the mask > may_attend is not handed on
-     return merge_heads(attention(q, k, v, may_attend)) @ W_o
+     return merge_heads(attention(q, k, v)) @ W_o
scales by the full width > you divide by the root of all columns
-     q = split_heads(x @ W_q, heads)
+     q = split_heads(x @ W_q, heads) / heads**0.5
adds the heads up > the heads are added up before W_o
-     return merge_heads(attention(q, k, v, may_attend)) @ W_o
+     return attention(q, k, v, may_attend).sum(1).repeat(1, 1, heads) @ W_o
""",
    head_contributions="""
the batch comes first > the heads come first
-     return torch.stack([head @ block.T for head, block in pairs])
+     return torch.stack([head @ block.T for head, block in pairs], 1)
the values themselves, without attention
> one head's result times its own block
-     context, _ = module.attend(*module.project(x, x, x))
+     context = module.project(x, x, x)[2]
shares the output out equally > all parts are equal
-     return torch.stack([head @ block.T for head, block in pairs])
+     return torch.stack([head @ block.T for head, block in pairs]).mean(0).expand(module.heads, *x.shape)
returns what the heads hand over, before the output projection
> what the heads hand over to W_O
+ def head_contributions(module, x):
+     context, _ = module.attend(*module.project(x, x, x))
+     parts = context.new_zeros(module.heads, *x.shape)
+     width = x.shape[-1] // module.heads
+     for h in range(module.heads):
+         parts[h, ..., h * width : (h + 1) * width] = context[:, h]
+     return parts
takes rows of out_proj.weight > stores its matrix transposed
-     blocks = module.out_proj.weight.chunk(module.heads, dim=1)
+     blocks = module.out_proj.weight.chunk(module.heads, dim=0)
-     return torch.stack([head @ block.T for head, block in pairs])
+     return torch.stack([head @ block for head, block in pairs])
adds the bias to every head > every head brings the bias along
-     return torch.stack([head @ block.T for head, block in pairs])
+     return torch.stack([head @ block.T + module.out_proj.bias for head, block in pairs])
cuts the output instead of the sum > you cut the output into strips
+ def head_contributions(module, x):
+     context, _ = module.attend(*module.project(x, x, x))
+     output = merge_heads(context) @ module.out_proj.weight.T
+     parts = output.new_zeros(module.heads, *x.shape)
+     width = x.shape[-1] // module.heads
+     for h in range(module.heads):
+         strip = slice(h * width, (h + 1) * width)
+         parts[h, ..., strip] = output[..., strip]
+     return parts
gives the heads in the wrong order > in the reverse order
-     return torch.stack([head @ block.T for head, block in pairs])
+     return torch.stack([head @ block.T for head, block in pairs]).flip(0)
""",
    without_head="""
forgets to return the copy > a copy of the module is to come back
-     return silent
+     return None
builds a module that has biases and no dropout > dropout of the original
+ def without_head(module, head):
+     silent = MultiHeadAttention(module.d_model, module.heads)
+     silent.load_state_dict(module.state_dict(), strict=False)
+     width = module.d_model // module.heads
+     with torch.no_grad():
+         silent.out_proj.weight[:, head * width : (head + 1) * width] = 0
+     return silent.train(module.training)
silences the head in the module itself > you return the module itself
-     silent = deepcopy(module)
+     silent = module
a shallow copy, which shares the weights
> copy.copy copies the module but not the weights
-     from copy import deepcopy
+     from copy import copy as deepcopy
sets the queries to zero: the head still hands over the mean
> queries or keys of zero
-         silent.out_proj.weight[:, head * width : (head + 1) * width] = 0
+         silent.in_proj.weight[head * width : (head + 1) * width] = 0
+         silent.in_proj.bias[head * width : (head + 1) * width] = 0
sets the value matrix to zero and forgets its bias
> the head still hands over its bias
-         silent.out_proj.weight[:, head * width : (head + 1) * width] = 0
+         silent.in_proj.weight.chunk(3)[2][head * width : (head + 1) * width] = 0
a copy that nobody can train > as trainable as before
-     with torch.no_grad():
+     silent.requires_grad_(False)
+     with torch.no_grad():
counts the heads from one > heads are counted from 0
-         silent.out_proj.weight[:, head * width : (head + 1) * width] = 0
+         silent.out_proj.weight[:, (head - 1) * width : head * width] = 0
""",
    grouped_attention="""
repeats the key heads in turn, 0 1 0 1 > the key heads go round
-     k, v = (t.repeat_interleave(times, dim=1) for t in (k, v))
+     k, v = (t.repeat(1, times, 1, 1) for t in (k, v))
lets every query head see the first key head > all query heads use key head 0
-     k, v = (t.repeat_interleave(times, dim=1) for t in (k, v))
+     k, v = (t[:, :1].expand(-1, q.shape[1], -1, -1) for t in (k, v))
takes the mean of the query heads of a group > each query head asks for itself
+ def grouped_attention(q, k, v):
+     times = q.shape[1] // k.shape[1]
+     asked = q.unflatten(1, (-1, times)).mean(dim=2)
+     return attention(asked, k, v).repeat_interleave(times, dim=1)
shares the keys and forgets the values
> keys and values are shared in different ways
-     k, v = (t.repeat_interleave(times, dim=1) for t in (k, v))
+     k, v = k.repeat_interleave(times, dim=1), v.repeat(1, times, 1, 1)
takes the mean of the key heads > you take the mean of the key heads
-     k, v = (t.repeat_interleave(times, dim=1) for t in (k, v))
+     k, v = (t.mean(1, keepdim=True).expand(-1, q.shape[1], -1, -1) for t in (k, v))
the groups in reverse order > which key head does query head 1 use
-     k, v = (t.repeat_interleave(times, dim=1) for t in (k, v))
+     k, v = (t.flip(1).repeat_interleave(times, dim=1) for t in (k, v))
leaves it to PyTorch > written without scaled_dot_product_attention
+ def grouped_attention(q, k, v):
+     return torch.nn.functional.scaled_dot_product_attention(
+         q, k, v, enable_gqa=True
+     )
the scale is forgotten > not divided by the root
-     return attention(q, k, v)
+     return attention(q * q.shape[-1] ** 0.5, k, v)
""",
    finds_wrong_heads="""
looks only at the shape > One that it lets pass forgets the scale
-         torch.testing.assert_close(found, expected, atol=1e-4, rtol=1e-4)
+         assert found.shape == expected.shape
asks for exact equality > it refuses a right one
-         torch.testing.assert_close(found, expected, atol=1e-4, rtol=1e-4)
+         torch.testing.assert_close(found, expected, atol=0, rtol=0)
self-attention without a mask > One that it lets pass forgets the mask
-     for y, mask in (x, causal_mask(5)), (other, padding):
+     for y, mask in (x, None), (other, None):
self-attention only, with a mask
> One that it lets pass takes the keys and values from x too
-     for y, mask in (x, causal_mask(5)), (other, padding):
+     for y, mask in ((x, causal_mask(5)),):
the same padding in all sentences
> One that it lets pass takes the mask of the first sentence for all
-     padding = padding_mask(torch.tensor([7, 4]))
+     padding = padding_mask(torch.tensor([4, 4]), 7)
asks what a query gets that may look at nothing > it refuses a right one
-     padding = padding_mask(torch.tensor([7, 4]))
+     padding = padding_mask(torch.tensor([0, 4]))
prints what it finds > it prints what it finds and goes on
-         torch.testing.assert_close(found, expected, atol=1e-4, rtol=1e-4)
+         print(torch.allclose(found, expected, atol=1e-4))
returns True or False > it returns False and leaves it to others
+ def finds_wrong_heads(attend):
+     x = torch.ones(2, 5, 12)
+     layers = [(torch.randn(12, 12) / 4, torch.randn(12)) for _ in range(4)]
+     return attend(x, x, layers, 3).mean().item() == 0
""",
)

# Mutants of the solutions that are right too, and why.
CONSTANT = "it adds the same number to all scores of a row, softmax drops it"
OTHER_SIZE = "matrices of another size show the faults as well"
OTHER_PADDING = "any padding shows the faults that differs between sentences"
EQUIVALENT = {
    "head_contributions": {
        "pairs = zip(context.unbind(dim=1), blocks, strict=False)": "the heads and the blocks are equally many, so strict never speaks",
    },
    "finds_wrong_heads": {
        "for y, mask in ((other, padding), (x, causal_mask(5))):": "both cases are tried, in another order",
        "k = split_heads((y @ W_k - b_k), 3)": CONSTANT,
        "k = split_heads((y @ W_k), 3)": CONSTANT,
        "layers = [((torch.randn(12, 12) * 4), torch.randn(12)) for _ in range(4)]": OTHER_SIZE,
        "layers = [(torch.randn(12, 12) / 3, torch.randn(12)) for _ in range(4)]": OTHER_SIZE,
        "layers = [(torch.randn(12, 12) / 5, torch.randn(12)) for _ in range(4)]": OTHER_SIZE,
        "layers = [(torch.randn(12, 12), torch.randn(12)) for _ in range(4)]": OTHER_SIZE,
        "padding = padding_mask(torch.tensor([4, 7]))": OTHER_PADDING,
        "padding = padding_mask(torch.tensor([7, 3]))": OTHER_PADDING,
        "padding = padding_mask(torch.tensor([7, 5]))": OTHER_PADDING,
        "torch.testing.assert_close(expected, found, atol=0.0001, rtol=0.0001)": "either may be compared with the other",
        "torch.testing.assert_close(found, expected, atol=1e-4, rtol=1.0001)": "each fault puts some number off by more than twice itself",
    },
}
