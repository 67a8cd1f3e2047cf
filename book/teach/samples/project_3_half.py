"""A Transformer of functions."""

import torch
import torch.nn.functional as F


class Translator:
    def __init__(self, config, weights):
        self.config = config
        self.w = {k: torch.tensor(v).double() for k, v in weights.items()}

    def pair(self, name):
        return self.w[f"{name}.weight"], self.w[f"{name}.bias"]

    def linear(self, x, name):
        return F.linear(x, *self.pair(name))

    def add_norm(self, name, x, change):
        pair = self.pair(f"{name}.norm")
        return F.layer_norm(x + change, x.shape[-1:], *pair)

    def attend(self, name, x, source, seen=None):
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

    def encode(self, source):
        x = self.embed(source, "source")
        for n in range(self.config["encoder_layers"]):
            name = f"encoder.blocks.{n}"
            heard = self.attend(f"{name}.attention", x, x)
            x = self.add_norm(f"{name}.around_attention", x, heard)
            x = self.feed_forward(name, x)
        return x

    def decode(self, target, memory):
        x = self.embed(target, "target")
        earlier = torch.ones(2 * target.shape[1:]).tril() == 1
        for n in range(self.config["decoder_layers"]):
            name = f"decoder.blocks.{n}"
            own = self.attend(f"{name}.self_attention", x, x, earlier)
            x = self.add_norm(f"{name}.around_self_attention", x, own)
            heard = self.attend(f"{name}.cross_attention", x, memory)
            x = self.add_norm(f"{name}.around_cross_attention", x, heard)
            x = self.feed_forward(name, x)
        return x @ self.w["tables.target.table.weight"].T

    def logits(self, source, target):
        memory = self.encode(torch.tensor(source))
        return self.decode(torch.tensor(target), memory).tolist()

    def write(self, source, most):
        written = [1]
        for _ in range(most):
            row = torch.tensor(self.logits([source], [written])[0][-1])
            written.append(int(row.argmax()))
        return written[1:]
