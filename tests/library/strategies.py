"""What Hypothesis draws: a size, leading axes, a dtype."""

from hypothesis import strategies as st

from tests.library.draw import DTYPES

SIZES = (1, 2, 3, 5, 7, 11)

size = st.sampled_from(SIZES)
dtype = st.sampled_from(DTYPES)
lead = st.lists(st.sampled_from(SIZES[:4]), max_size=2).map(tuple)
