"""The noisy maximum with exponential noise: the law of permute-and-flip."""

import numpy as np

from discreet.core.numbers import Number
from discreet.core.protocols import IntArray, Rng
from discreet.randomness.bernoulli_exp import bernoulli_exp_each
from discreet.randomness.scores import gaps_to_best
from discreet.randomness.uniform_integers import uniform_integers


def exponential_argmax(scores: IntArray, temperature: Number, rng: Rng) -> int:
    r"""Return the index of the largest :math:`scores_i + temperature \cdot E_i`.

    The :math:`E_i` are independent standard exponential variables, which are not drawn: each
    candidate tosses a coin of probability :math:`e^{-(best - scores_i)/temperature}`, and one of
    the candidates whose coin is true is chosen uniformly.

    Guarantee:
        Given ideal words the law is exactly that of the real numbers. Proof. The coin is the event
        that candidate ``i`` reaches the best score, :math:`scores_i + temperature \cdot E_i \ge
        best`. It is certain for the best candidate, so the largest is among those that reach it.
        Exponential variables forget: given that they reach it, the excesses over the best score
        are independent and alike, so each of them is equally likely to be the largest. This is
        permute-and-flip (McKenna and Sheldon, arXiv:2010.12603; Ding et al., arXiv:2105.07260).
        The coins (:func:`~discreet.randomness.bernoulli_exp.bernoulli_exp_each`) and the choice
        (:func:`~discreet.randomness.uniform_integers.uniform_integers`) are exact.

    Example:
        >>> from discreet.randomness.rng import SystemRng
        >>> exponential_argmax(np.array([0, 0, 10**6]), 1, SystemRng())
        2
    """
    reach = np.flatnonzero(bernoulli_exp_each(gaps_to_best(scores), temperature, rng))
    return int(reach[uniform_integers(int(reach.size), 1, rng)[0]])
