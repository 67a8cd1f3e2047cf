"""Wrong answers to the exercises of chapter 6, by their misconceptions."""

WRONG = {
    "wavelength": {
        "turns in a place": (
            "a turn is over when",
            {
                "return 2 * math.pi * 10_000 ** (2 * i / d_model)": (
                    "return 10_000 ** (-2 * i / d_model) / math.tau"
                )
            },
        ),
        "the inverse of the speed": (
            "this is the way of one radian",
            {"2 * math.pi * ": ""},
        ),
        "the speed times a turn": (
            "divide by the speed",
            {"(2 * i / d": "(-2 * i / d"},
        ),
        "i counts entries": ("a hand has two entries", {"(2 * i": "(i"}),
        "half a turn": (
            "after half a turn the hand points the other way",
            {"2 * math.pi": "math.pi"},
        ),
        "waves double, as the digits of a counter do": (
            "the digits of a counter double their rhythm",
            {"10_000 ** (2 * i / d_model)": "2**i"},
        ),
        "a turn has 360 degrees": (
            "a turn is 2π",
            {"2 * math.pi": "360"},
        ),
    },
    "shift_matrix": {
        "sine and cosine are exchanged": (
            "Compare its first block with the derivation",
            {"[[c, s], [-s, c]]": "[[s, c], [-c, s]]"},
        ),
        "it turns back": (
            "your matrix turns back",
            {"[[c, s], [-s, c]]": "[[c, -s], [s, c]]"},
        ),
        "every pair turns by k": (
            "each hand has a speed of its own",
            {"k / 10_000 ** (i / d_model)": "k"},
        ),
        "the exponent is doubled": (
            "the speeds fall too fast",
            {"(i / d": "(2 * i / d"},
        ),
        "angles in float32": (
            "Compare its first block",
            {"10_000 **": "torch.tensor(1e4) **"},
        ),
        "halves are paired": (
            "yours are an entry of each half",
            {
                "return torch.block_diag(*blocks)": "order = torch.arange(d_model).view(-1, 2).T.flatten()\n    return torch.block_diag(*blocks)[order][:, order]"
            },
        ),
        "a mirror and no rotation": (
            "your blocks are symmetric",
            {"[-s, c]": "[s, c]"},
        ),
        "least squares again": (
            "No place is needed",
            {"torch.block_diag(*blocks)": "find_shift(k, d_model)"},
        ),
    },
    "clock_vector": {
        "an ellipse": (
            "goes round in a circle",
            {"angle.cos()": "2 * angle.cos()"},
        ),
        "a share of the day is no circle": (
            "the day ends where it began",
            {"angle.sin(), angle.cos()": "hours / 24, 1 - hours / 24"},
        ),
        "a clock of twelve hours": (
            "noon has the vector of midnight",
            {"/ 24": "/ 12"},
        ),
        "degrees handed to the sine": (
            "the sine takes radians",
            {"2 * math.pi": "360"},
        ),
        "only the sine": (
            "one wave takes every value twice",
            {"angle.cos()": "angle.sin()"},
        ),
        "the first pair of the chapter": (
            "this hand turns once in 2π hours",
            {"2 * math.pi * hours / 24": "hours"},
        ),
        "the hour is cut to a whole number": (
            "times between the full hours count, too",
            {"* hours": "* hours.floor()"},
        ),
        "full and half hours only": (
            "once a day",
            {"* hours": "* (2 * hours).round() / 2"},
        ),
    },
    "grid_positions": {
        "counted from 1": (
            "counted from 0, and what does your table",
            {
                "(rows, half)[": "(rows + 1, half)[1 + ",
                "(columns, half)[": "(columns + 1, half)[1 + ",
            },
        ),
        "row and column are exchanged": (
            "the first half is for the row",
            {"[row, column]": "[column, row]"},
        ),
        "read column by column": (
            "you go down the columns",
            {
                "patch // columns": "patch % rows",
                "patch % columns": "patch // rows",
            },
        ),
        "divided by the number of rows": (
            "are columns, not rows",
            {
                "(rows, half)": "(rows * columns, half)",
                "patch // columns": "patch // rows",
            },
        ),
        "one line of patches": (
            "this is a line of patches",
            {
                "torch.cat([row, column], dim=1)": "sinusoidal_positions(rows * columns, d_model)"
            },
        ),
        "cut from an encoding of the whole width": (
            "each half is an encoding of its own",
            {
                "half = d_model // 2": "half = d_model",
                "[row, column]": "[row.chunk(2, 1)[0], column.chunk(2, 1)[1]]",
            },
        ),
        "row and column are added": (
            "added, row and column cannot be told apart",
            {
                "half = d_model // 2": "half = d_model",
                "torch.cat([row, column], dim=1)": "row + column",
            },
        ),
        "one table, as long as a row of patches": (
            "there may be more rows than columns",
            {"(rows, half)": "(columns, half)"},
        ),
    },
    "alibi_bias": {
        "the batch has no axis": (
            "(8, 5, 5), not (1, 8, 5, 5)",
            {"None, :": ":"},
        ),
        "the exponent is upside down": (
            "of two neighbours",
            {"-8 *": "-heads *", "/ heads": "/ 8"},
        ),
        "without abs": (
            "without abs one side is rewarded",
            {".abs()": ""},
        ),
        "distance is rewarded": (
            "your bias grows with the distance",
            {"-slope": "slope"},
        ),
        "the slopes of eight heads": (
            "these are the slopes of eight heads",
            {"/ heads": "/ 8"},
        ),
        "heads are counted from 0": (
            "head 0 has the slope 1",
            {"arange(1, heads + 1)": "arange(heads)"},
        ),
        "the future is masked too": (
            "as a bias -inf",
            {
                "return -slope[None, :, None, None] * distance": (
                    "bias = -slope[None, :, None, None] * distance\n"
                    "    return bias + torch.full_like(bias, -math.inf).triu(1)"
                )
            },
        ),
        "only the past is penalised": (
            "keys in the future lose nothing",
            {".abs()": ".relu()"},
        ),
    },
    "to_halves": {
        "odd rows first": (
            "Follow the arrows of figure 6.8",
            {"2, columns)": "2, columns).flip(2)"},
        ),
        "columns instead of rows": (
            "you have moved columns",
            {
                "= weight.reshape": "= weight.T.reshape",
                "reshape(rows, columns)": "reshape(rows, columns).T",
            },
        ),
        "the way back": (
            "this is the way back",
            {"rows // heads // 2, 2": "2, rows // heads // 2"},
        ),
        "a reshape alone moves numbers": (
            "nothing has moved",
            {".transpose(1, 2)": ""},
        ),
        "even rows of all heads first": (
            "Rows must stay in their head",
            {"transpose(1, 2)": "permute(2, 0, 1, 3)"},
        ),
        "the halves of each head are exchanged": (
            "you exchange the halves of each head",
            {
                "rows // heads // 2, 2": "2, rows // heads // 2",
                "transpose(1, 2)": "flip(1)",
            },
        ),
        "the given weight is overwritten": (
            "your code changes its input weight",
            {
                "return parts": "return weight.copy_(parts",
                "2).reshape(rows, columns)": "2).reshape(rows, columns))",
            },
        ),
        "a view, where nothing has to move": (
            "you return the given tensor, or a view of it",
            {".clone()": ""},
        ),
    },
}

# Mutants of the solutions that are right too, and why.
EQUIVALENT = {
    "clock_vector": {
        "return torch.stack([angle.cos(), angle.sin()], dim=1)": "a clock that starts at three and goes the other way",
    },
    "alibi_bias": {
        "distance = ((position - position[:, None])).abs()": "a distance is the same in both directions",
    },
    "to_halves": {
        "return parts.transpose(1, 2).reshape(columns, rows).clone()": "the weight is square",
    },
}
