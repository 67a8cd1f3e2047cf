"""What several workers share out among them."""

from .kinds import instance, whole_numbers
from .numbers import between, integer, positive
from .refuse import expect


def shared_out(
    name: str, total: object, rank: object, world_size: object
) -> None:
    """Every worker gets equally many, and there is a worker `rank`."""
    positive(**{name: total, "world_size": world_size})
    between("rank", rank, 0, world_size - 1)
    expected = f"a multiple of the {world_size} workers"
    expect(total % world_size == 0, name, expected, total)


def heads_to_share(wanted: type, attention, rank, world_size) -> None:
    """An attention without dropout whose heads can be shared out."""
    instance(wanted, attention=attention)
    shared_out("heads", attention.heads, rank, world_size)
    no_dropout("attention", attention.dropout)


def units_to_share(wanted: type, network, rank, world_size) -> None:
    """A network without dropout whose hidden units can be shared out."""
    instance(wanted, network=network)
    shared_out("d_ff", network.widen.out_features, rank, world_size)
    no_dropout("network", network.dropout.p)


def no_dropout(name: str, dropout: float) -> None:
    """Workers would have to agree on what they drop."""
    expect(dropout == 0, name, "no dropout", f"dropout={dropout}")


def targets(target: object, pad_id: object) -> None:
    """A tensor of token ids, and the one that does not count."""
    whole_numbers("target", target)
    integer("pad_id", pad_id)
