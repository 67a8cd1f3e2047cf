"""Right answers in chapter 11 by other routes than the book's."""

RIGHT = {
    "fit": {
        "calls a step, and makes the loss by hand": """
def step(optimiser, model, batch):
    def loss():
        optimiser.zero_grad(set_to_none=False)
        log_p = F.log_softmax(model(*batch[:2]), dim=-1)
        real = batch[2] > 0
        value = -log_p.gather(-1, batch[2][..., None])[..., 0][real].mean()
        value.backward()
        return value

    return optimiser.step(loss).detach()

def fit(model, batches, rate):
    adam = torch.optim.Adam([*model.parameters()], rate)
    return [step(adam, model, batch) for batch in batches]
""",
        "takes a smoothed loss without smoothing": """
def fit(model, batches, rate):
    model.train()
    optimiser, losses = torch.optim.Adam(model.parameters(), lr=rate), ()
    for source, given, target in batches:
        loss = label_smoothed_loss(model(source, given), target, smoothing=0)
        model.zero_grad()
        loss.backward()
        optimiser.step()
        losses += (loss.item(),)
    return losses
""",
        "knows Adam's formula": """
def fit(model, batches, rate):
    w, losses = list(model.parameters()), []
    m, v = ([torch.zeros_like(x) for x in w] for _ in "mv")
    for t, (source, given, target) in enumerate(batches, 1):
        criterion = nn.CrossEntropyLoss(ignore_index=0)
        loss = criterion(model(source, given).transpose(1, 2), target)
        losses.append(loss.item())
        for i, g in enumerate(torch.autograd.grad(loss, w)):
            m[i] = 0.9 * m[i] + 0.1 * g
            v[i] = 0.999 * v[i] + 0.001 * g * g
            root = (v[i] / (1 - 0.999**t)).sqrt() + 1e-8
            w[i].data -= rate * m[i] / (1 - 0.9**t) / root
    return losses
""",
    },
    "mismatched": {
        "joins the last rows and the others": """
def mismatched(batch):
    places = 1  # given
    moved = [torch.cat([x[-places:], x[:-places]]) for x in batch[1:]]
    return Batch(batch[0], *moved)
""",
        "picks rows, and replaces": """
def mismatched(batch):
    places = 1  # given
    rows = (torch.arange(len(batch.target)) - places) % len(batch.target)
    given, target = batch.decoder_input[rows], batch.target[rows]
    return batch._replace(decoder_input=given, target=target)
""",
        "moves lists, a row at a time": """
def mismatched(batch):
    places = 1  # given
    texts, *answers = map(list, batch)
    for rows in answers:
        for _ in range(places):
            rows.insert(0, rows.pop())
    return Batch._make(map(torch.stack, (texts, *answers)))
""",
    },
    "add_gradients": {
        "turns means into sums, and divides at the end": """
def add_gradients(model, *parts):
    total = 0
    for source, given, target in parts:
        number = target.count_nonzero()
        loss = label_smoothed_loss(model(source, given), target) * number
        loss.backward()
        total += int(number)
    for weight in model.parameters():
        weight.grad /= total
""",
        "takes an example at a time": """
def add_gradients(model, *parts):
    total = sum(int(part.target.bool().sum()) for part in parts)
    rows = [row for part in parts for row in zip(*part)]
    for source, given, target in rows:
        logits = model(source[None], given[None])[0]
        loss = F.cross_entropy(logits, target, ignore_index=0,
                               label_smoothing=0.1, reduction="sum")
        (loss / total).backward()
""",
        "asks for gradients, and adds them itself": """
def add_gradients(model, *parts):
    weights, count = list(model.parameters()), [len(p.target[p.target > 0])
                                                for p in parts]
    sums = [torch.zeros_like(weight) for weight in weights]
    for part, number in zip(parts, count):
        loss = label_smoothed_loss(model(*part[:2]), part.target)
        for one, slope in zip(sums, torch.autograd.grad(loss, weights)):
            one.add_(slope, alpha=number / sum(count))
    for weight, slope in zip(weights, sums):
        weight.grad = slope
""",
    },
    "sweep": {
        "has rates in float32, and all groups": """
def sweep(model, batches, low, high):
    rates = torch.logspace(math.log10(low), math.log10(high), len(batches))
    optimiser, losses = torch.optim.Adam(model.parameters()), []
    for rate, batch in zip(rates.tolist(), batches):
        for group in optimiser.param_groups:
            group["lr"] = rate
        logits = model(batch.source, batch.decoder_input)
        loss = F.cross_entropy(logits.mT, batch.target)
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
        losses += [loss.detach()]
    return rates.tolist(), losses
""",
        "has a schedule of torch": """
def sweep(model, batches, low, high):
    adam = torch.optim.Adam(model.parameters(), low)
    factor = math.exp((math.log(high) - math.log(low)) / (len(batches) - 1))
    schedule, found = torch.optim.lr_scheduler.ExponentialLR(adam, factor), []
    for batch in batches:
        adam.zero_grad()
        loss = label_smoothed_loss(model(*batch[:2]), batch.target, 0.0)
        loss.backward()
        found.append([schedule.get_last_lr()[0], loss.item()])
        adam.step()
        schedule.step()
    return [list(column) for column in zip(*found)]
""",
        "multiplies the rate as it goes": """
def sweep(model, batches, low, high):
    n, rate = len(batches), low
    adam, log = torch.optim.Adam(model.parameters(), lr=torch.tensor(low)), {}
    for i, (source, given, target) in enumerate(batches):
        rate = low ** (1 - i / (n - 1)) * high ** (i / (n - 1))
        adam.param_groups[0]["lr"] = rate
        log_p = model(source, given).log_softmax(-1).flatten(0, -2)
        loss = F.nll_loss(log_p, target.reshape(-1))
        model.zero_grad(), loss.backward(), adam.step()
        log[rate] = loss.item()
    return tuple(log), tuple(log.values())
""",
    },
}
