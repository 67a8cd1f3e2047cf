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

    def embed(self, ids, name):
        table = self.w[f"tables.{name}.table.weight"]
        width = self.config["d_model"]
        place = torch.arange(ids.shape[1]).double()[:, None]
        wave = torch.arange(0, width, 2).double() / width
        angle = place / 10000**wave
        positions = torch.stack([angle.sin(), angle.cos()], -1).flatten(1)
        return table[ids] * width**0.5 + positions

    def stack(self, side, ids, attentions):
        x = self.embed(ids, "source" if side == "encoder" else "target")
        for n in range(self.config[f"{side}_layers"]):
            name = f"{side}.blocks.{n}"
            for kind, memory, seen in attentions:
                y = x if memory is None else memory
                heard = self.attend(f"{name}.{kind}", x, y, seen)
                x = self.add_norm(f"{name}.around_{kind}", x, heard)
            hidden = F.relu(self.linear(x, f"{name}.feed_forward.widen"))
            change = self.linear(hidden, f"{name}.feed_forward.narrow")
            x = self.add_norm(f"{name}.around_feed_forward", x, change)
        return x

    def logits(self, source, target):
        source, target = torch.tensor(source), torch.tensor(target)
        memory = self.stack("encoder", source, [("attention", None, None)])
        past = torch.ones(2 * target.shape[1:]).tril() == 1
        kinds = [
            ("self_attention", None, past),
            ("cross_attention", memory, None),
        ]
        x = self.stack("decoder", target, kinds)
        return (x @ self.w["tables.target.table.weight"].T).tolist()

    def write(self, source, most):
        written = [1]
        for _ in range(most):
            row = torch.tensor(self.logits([source], [written])[0][-1])
            written.append(int(row.argmax()))
        return written[1:]
