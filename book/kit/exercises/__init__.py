"""Checks of the exercises: a short verdict and a fitting hint. Not taught.

    check("window_mask", window_mask)

prints whether the answer is right, not started, or wrong and why. A chapter's
exercises are described in the module of its number, each as a contract. It
knows no solution: it compares with torch, with plain loops, or with what must
hold.
"""

import os
import random
from collections.abc import Callable
from importlib import import_module
from pathlib import Path

import torch

from kit.exercises.calls import stopped
from kit.exercises.contract import Exercise
from kit.exercises.draw import Draw
from kit.exercises.verdict import NotStarted, Wrong

# Until 2026 they had numbers: "8.3" is the third of the eighth six.
NUMBERED = """
unknown_share OwnEmbedding table_gradient pad_in_front pretrained_table
merge_commonest scaled_shares finds_wrong_softmax softmax_backward
win_probability streamed_mean without bilinear_scores attend_heads_last
squared_distances multiplications soft_look_up smooth window_mask my_attention
packed_mask decoder_mask prefix_mask depends_on attention_parameters multi_head
head_contributions without_head grouped_attention finds_wrong_heads wavelength
shift_matrix clock_vector grid_positions alibi_bias to_halves rms_norm
whole_layer remember silence contributions norm_gradient encoder_parameters
answers two_looks mean_of_real shared_encoder known_sets aligned my_block
log_probability wait_mask finds_wrong_decoder look_across parameters_of
whole_pass rows_moved next_token_logits decode_from_two layers_needed wished
fit mismatched add_gradients sweep log_p expected letters_to_hide
predicted_seeds seeds_needed luck ceiling greedy_with_score filtered_by_best
step_aside continued best_of_all finds_wrong_search predicted_rows
cached_numbers append_and_attend write_and_drop rewind accepted predicted_mib
longest_text causal_in_blocks linear_encoder to_grouped WindowCache
predicted_turn weights_of key_bias both_ways llama_block without_mean
predicted_loss sent_bytes worker_part ring_all_reduce accumulate loss_of
too_good takes_from padding_gap window key_head finds_wrong_attention
"""


def described(chapter: int) -> dict[str, Exercise]:
    """The exercises of a chapter by their name."""
    module = import_module(f"kit.exercises.chapter_{chapter:02}")
    found = [e for e in vars(module).values() if isinstance(e, Exercise)]
    return {e.name: e for e in found}


def find(which: str) -> Exercise:
    """The exercise with a name, or with a number that it once had.

    Raises:
        ValueError: there is no such exercise.
    """
    folder = Path(__file__).parent
    chapters = [int(p.stem[-2:]) for p in folder.glob("chapter_*.py")]
    name = numbered().get(which, which)
    for chapter in sorted(chapters):
        if asked := described(chapter).get(name):
            return asked
    raise ValueError(
        "which: expected the name of an exercise, such as 'window_mask', "
        f"got {which!r}" + (f", which was {name}" if name != which else "")
    )


def numbered() -> dict[str, str]:
    """The names by the numbers that are printed in students' files."""
    return {
        f"{place // 6 + 1}.{place % 6 + 1}": name
        for place, name in enumerate(NUMBERED.split())
    }


def check(
    which: str,
    answer: Callable,
    *,
    variant: int = 0,
    seed: int | None = None,
) -> None:
    """Say in a line whether an answer is right, and if not, where to look.

    Inputs are drawn fresh at each call; `seed` repeats those of a verdict.
    Nothing is raised while reading. With `BOOK_STRICT=1` in the environment
    everything but a right answer raises.

    Args:
        which: the name of the exercise, such as "window_mask".
        answer: the function or class that was asked for.
        variant: whose numbers the exercise has; 0 stands for the book's.
        seed: of the inputs.

    Raises:
        ValueError: there is no such exercise.
        Wrong: with `BOOK_STRICT=1`, the answer is not right.
    """
    asked = find(which)
    if seed is None:  # and the reader's own random numbers stay as they are
        seed = random.SystemRandom().randrange(10_000)
    try:
        remark = judge(asked, answer, Draw(seed, **asked.numbers(variant)))
    except Wrong as wrong:
        verdict = f"{asked.name}: {wrong.hint}"
        if os.environ.get("BOOK_STRICT") == "1":
            raise type(wrong)(verdict, wrong.share) from None
        print(verdict)
    else:
        print(f"{asked.name}: right. {remark}".rstrip())


def judge(asked: Exercise, answer: Callable, draw: Draw) -> str:
    """Raise what is wrong with an answer, whatever it does.

    Torch's random numbers go on afterwards as if nobody had asked.

    Returns:
        What is remarked on a right answer, often "".

    Raises:
        Wrong: the answer is not right.
    """
    state, dtype = torch.get_rng_state(), torch.get_default_dtype()
    try:
        with torch.enable_grad():
            return asked.examine(answer, draw) or ""
    except NotStarted:
        raise
    except Wrong as wrong:
        text = wrong.hint if wrong.share else f"not yet. {wrong.hint}"
        again = f" (seed={draw.seed})" if draw.drawn else ""
        raise Wrong(text + again, wrong.share) from None
    except NotImplementedError as error:
        # An operation that torch lacks raises the same error, with words.
        if error.args:
            raise Wrong(stopped(error)) from None
        raise NotStarted("not started.") from None
    except Exception as error:
        raise Wrong(stopped(error)) from None
    finally:
        torch.set_rng_state(state)
        torch.set_default_dtype(dtype)
