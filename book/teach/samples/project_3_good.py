"""The Transformer as functions of its weights, read by their names."""

import torch
import torch.nn.functional as F


class Translator:
    """Nothing is built: each function takes its weights by a prefix."""

    def __init__(self, config, weights):
        self.config = config
        self.w = {k: torch.tensor(v).double() for k, v in weights.items()}

    def linear(self, x, name):
        return F.linear(x, self.w[f"{name}.weight"], self.w[f"{name}.bias"])

    def norm(self, x, name):
        weight, bias = (
            self.w[f"{name}.norm.weight"],
            self.w[f"{name}.norm.bias"],
        )
        return F.layer_norm(x, x.shape[-1:], weight, bias)

    def attend(self, name, x, source, seen):
        width, heads = self.config["d_model"], self.config["heads"]
        w, b = self.w[f"{name}.in_proj.weight"], self.w[f"{name}.in_proj.bias"]
        parts = [
            F.linear(y, w_part, b_part)
            .unflatten(-1, (heads, width // heads))
            .transpose(1, 2)
            for y, w_part, b_part in zip(
                (x, source, source), w.chunk(3), b.chunk(3), strict=True
            )
        ]
        context = F.scaled_dot_product_attention(*parts, seen)
        return self.linear(
            context.transpose(1, 2).flatten(2), f"{name}.out_proj"
        )

    def around(self, name, x, change):
        """Post-norm: the change is added, and then comes the norm."""
        return self.norm(x + change, name)

    def feed_forward(self, name, x):
        hidden = F.relu(self.linear(x, f"{name}.feed_forward.widen"))
        hidden = self.linear(hidden, f"{name}.feed_forward.narrow")
        return self.around(f"{name}.around_feed_forward", x, hidden)

    def embed(self, ids, name):
        table = self.w[f"tables.{name}.table.weight"]
        width = self.config["d_model"]
        place = torch.arange(ids.shape[1]).double()[:, None]
        wave = torch.arange(0, width, 2).double() / width
        angle = place / 10000**wave
        positions = torch.stack([angle.sin(), angle.cos()], -1).flatten(1)
        return table[ids] * width**0.5 + positions

    def encode(self, source, real):
        x = self.embed(source, "source")
        for n in range(self.config["encoder_layers"]):
            name = f"encoder.blocks.{n}"
            heard = self.attend(f"{name}.attention", x, x, real)
            x = self.around(f"{name}.around_attention", x, heard)
            x = self.feed_forward(name, x)
        return x

    def decode(self, target, memory, real):
        x = self.embed(target, "target")
        earlier = torch.ones(2 * target.shape[1:]).tril() == 1
        earlier = earlier & (target != 0)[:, None, None]
        for n in range(self.config["decoder_layers"]):
            name = f"decoder.blocks.{n}"
            own = self.attend(f"{name}.self_attention", x, x, earlier)
            x = self.around(f"{name}.around_self_attention", x, own)
            heard = self.attend(f"{name}.cross_attention", x, memory, real)
            x = self.around(f"{name}.around_cross_attention", x, heard)
            x = self.feed_forward(name, x)
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
