"""The Transformer as functions of its weights, read by their names."""

import torch
import torch.nn.functional as F


class Translator:
    """Nothing is built: each function takes its weights by a prefix."""

    def __init__(self, config, weights):
        self.config = config
        self.w = {k: torch.tensor(v).double() for k, v in weights.items()}

    def pair(self, name):
        return self.w[f"{name}.weight"], self.w[f"{name}.bias"]

    def linear(self, x, name):
        return F.linear(x, *self.pair(name))

    def add_norm(self, name, x, change):
        """Post-norm: the change is added, and then comes the norm."""
        pair = self.pair(f"{name}.norm")
        return F.layer_norm(x + change, x.shape[-1:], *pair)

    def attend(self, name, x, source, seen):
        heads = self.config["heads"]
        w, b = (t.chunk(3) for t in self.pair(f"{name}.in_proj"))
        qkv = [
            F.linear(y, *own).unflatten(-1, (heads, -1)).transpose(1, 2)
            for y, *own in zip((x, source, source), w, b, strict=True)
        ]
        context = F.scaled_dot_product_attention(*qkv, seen)
        context = context.transpose(1, 2).flatten(2)
        return self.linear(context, f"{name}.out_proj")

    def feed_forward(self, name, x):
        hidden = F.relu(self.linear(x, f"{name}.feed_forward.widen"))
        change = self.linear(hidden, f"{name}.feed_forward.narrow")
        return self.add_norm(f"{name}.around_feed_forward", x, change)

    def embed(self, ids, name):
        table = self.w[f"tables.{name}.table.weight"]
        width = self.config["d_model"]
        place = torch.arange(ids.shape[1]).double()[:, None]
        wave = torch.arange(0, width, 2).double() / width
        angle = place / 10000**wave
        positions = torch.stack([angle.sin(), angle.cos()], -1).flatten(1)
        return table[ids] * width**0.5 + positions

    def stack(self, side, x, *attentions):
        """All blocks of a side; an attention without a source asks x."""
        for n in range(self.config[f"{side}_layers"]):
            name = f"{side}.blocks.{n}"
            for kind, source, seen in attentions:
                asked = x if source is None else source
                heard = self.attend(f"{name}.{kind}", x, asked, seen)
                x = self.add_norm(f"{name}.around_{kind}", x, heard)
            x = self.feed_forward(name, x)
        return x

    def encode(self, source, real):
        x = self.embed(source, "source")
        return self.stack("encoder", x, ("attention", None, real))

    def decode(self, target, memory, real):
        earlier = torch.ones(2 * target.shape[1:]).tril() == 1
        own = "self_attention", None, earlier & (target != 0)[:, None, None]
        x = self.embed(target, "target")
        x = self.stack("decoder", x, own, ("cross_attention", memory, real))
        return x @ self.w["tables.target.table.weight"].T

    def logits(self, source, target):
        source, target = torch.tensor(source), torch.tensor(target)
        real = (source != 0)[:, None, None]
        return self.decode(target, self.encode(source, real), real).tolist()

    def write(self, source, most):
        written = [1]
        while len(written) <= most:
            row = torch.tensor(self.logits([source], [written])[0][-1])
            token = int(row.argmax())
            if token == 2:
                break
            written.append(token)
        return written[1:]
