"""The head's kernels against the formula as it is written, in float64. The longest of them take what an interpreter
needs; on a GPU the same tests run on the chip."""

import numpy as np
import pytest

from lexigraft.model.pool import max_over_tokens_naive
from tests.triton_kernels import DEVICE, find_nonzeros, kernels, nonzeros, term_weights, torch

# Products with slots that no text owns may be anything.
pytestmark = pytest.mark.filterwarnings("ignore:.*encountered in:RuntimeWarning")
HALF = [torch.bfloat16, torch.float16]
TYPES = [*HALF, torch.float32]
# How far gradients may be from the formula's, as a share of the largest: their own rounding to 16 bits, and that of
# what a dense product multiplies.
GRADIENTS = {torch.bfloat16: 8e-3, torch.float16: 1e-3, torch.float32: 3e-6}
VALUES = {torch.bfloat16: 3e-6, torch.float16: 3e-6, torch.float32: 2e-6}

# batch, length, width, terms: odd sizes, one of everything, and the lengths at which a tile or a granule ends.
SHAPES = [
    (3, 5, 8, 37), (1, 1, 3, 1), (4, 15, 70, 130), (2, 16, 64, 128), (3, 17, 1, 129), (2, 256, 9, 20),
    (2, 129, 20, 30), (4, 33, 30, 130), (1, 130, 5, 3), (9, 2, 16, 40),
]  # fmt: skip
CASES = [(shape, TYPES[number % 3]) for number, shape in enumerate(SHAPES)]
if DEVICE == "cuda":
    rng = np.random.default_rng(0)
    sizes = [(*rng.integers(1, (41, 257)), rng.choice([7, 130, 384]), rng.integers(1, 5000)) for _ in range(30)]
    CASES = [(tuple(map(int, shape)), dtype) for shape in (*SHAPES, *sizes) for dtype in TYPES]


def drawn(shape, seed, dtype, share_pooled=0.7):
    """Operands as they lie on the device, with the mask; where there are several texts, the first is empty."""
    batch, length, width, n_terms = shape
    generator = torch.Generator().manual_seed(seed)
    hidden, weight, bias = (
        torch.randn(*size, generator=generator) for size in ((batch, length, width), (n_terms, width), (n_terms,))
    )
    mask = (torch.rand(batch, length, generator=generator) < share_pooled).long()
    mask[0] = int(batch == 1)
    hidden, weight = hidden.to(dtype).to(DEVICE), weight.to(dtype).float().to(DEVICE)
    return (hidden, weight, bias.to(DEVICE)), mask.to(DEVICE), generator


def with_gradients(pool, operands, mask, upstream):
    operands = [part.detach().clone().requires_grad_() for part in operands]
    best = pool(operands[0], mask, *operands[1:])
    return best.detach(), torch.autograd.grad(best, operands, upstream.to(best.dtype))


def upstream_of(mask, shape, share, generator):
    """A gradient for `share` of all terms; none for a text without tokens, as after the activation."""
    size = shape[0], shape[3]
    drawn = torch.randn(*size, generator=generator) * (torch.rand(*size, generator=generator) < share)
    return drawn.to(DEVICE) * mask.any(1, keepdim=True)


def decided(operands, mask):
    """Where one token's logit is the largest by more than rounding: elsewhere another one may rightly win."""
    logits = (operands[0].double() @ operands[1].double().T).masked_fill(~mask.bool().unsqueeze(2), float("-inf"))
    if logits.shape[1] == 1:
        return True
    first, second = logits.topk(2, dim=1).values.unbind(1)
    return (first - second).nan_to_num(0.0) > 1e-5 * first.abs().clamp_min(1)


def as_written(operands):
    return [part.double() for part in operands]


def assert_near(found, expected, allowed):
    scale = float(expected.abs().max()) or 1.0
    assert float((found.double() - expected).abs().max()) <= allowed * scale


@pytest.fixture(params=["sparse", "dense"])
def gradients(request, monkeypatch):
    """Which kernels make gradients: the lists hold all, or nothing."""
    monkeypatch.setattr(nonzeros, "LEAST_ROOM", 4096 if request.param == "sparse" else 0)
    monkeypatch.setattr(nonzeros, "ROOM", 8 if request.param == "sparse" else 1 << 40)


@pytest.mark.parametrize("case", range(len(CASES)))
def test_values_and_gradients_are_those_of_the_formula(case, gradients):
    shape, dtype = CASES[case]
    operands, mask, generator = drawn(shape, case, dtype)
    upstream = upstream_of(mask, shape, (0.05, 0.6, 1.0)[case % 3], generator) * decided(operands, mask)
    best, found = with_gradients(kernels.max_over_tokens, operands, mask, upstream)
    naive, expected = with_gradients(max_over_tokens_naive, as_written(operands), mask, upstream)
    assert best.dtype == torch.float32
    assert best[~mask.bool().any(1)].eq(float("-inf")).all()
    some = mask.bool().any(1)
    assert_near(best[some], naive[some], VALUES[dtype])
    assert [part.dtype for part in found] == [dtype, torch.float32, torch.float32]
    for ours, theirs in zip(found, expected, strict=True):
        assert_near(ours, theirs, GRADIENTS[dtype])
    without = kernels.max_over_tokens(operands[0], mask, *operands[1:])  # in encoding no token is asked for
    assert_near(without[some], naive[some], 1e-6)


@pytest.mark.parametrize("dtype", TYPES, ids=str)
def test_of_equal_products_above_zero_the_first_token_gets_the_gradient(dtype, gradients):
    """Whole numbers, whose products and sums are exact: nearly every maximum is a tie."""
    generator = torch.Generator().manual_seed(2)
    shape = (4, 50, 3, 60)
    hidden = torch.randint(-1, 2, shape[:3], generator=generator).to(dtype).to(DEVICE)
    weight = torch.randint(-1, 2, (shape[3], shape[2]), generator=generator).float().to(DEVICE)
    bias = torch.randint(0, 3, (shape[3],), generator=generator).float().to(DEVICE)
    mask = (torch.rand(shape[:2], generator=generator) < 0.8).long().to(DEVICE)
    logits = (hidden.double() @ weight.double().T).masked_fill(~mask.bool().unsqueeze(2), float("-inf"))
    largest = logits.max(1).values
    first = (logits == largest.unsqueeze(1)).int().argmax(1)
    assert (logits == largest.unsqueeze(1)).sum() > 3 * largest.numel()
    upstream = torch.randint(-3, 4, largest.shape, generator=generator).float().to(DEVICE) * (largest > 0)
    best, found = with_gradients(kernels.max_over_tokens, (hidden, weight, bias), mask, upstream)
    assert torch.equal(best.double(), largest + bias)
    sent = torch.zeros_like(logits).scatter_(1, first.unsqueeze(1), upstream.double().unsqueeze(1))
    for ours, theirs in zip(
        found,
        (sent @ weight.double(), torch.einsum("blv,blw->vw", sent, hidden.double()), upstream.double().sum(0)),
        strict=True,
    ):
        assert torch.equal(ours.double(), theirs)  # small whole numbers are exact in 16 bits, too


def test_the_same_bits_twice(gradients):
    shape = (3, 40, 24, 100)
    operands, mask, generator = drawn(shape, 3, torch.bfloat16)
    upstream = upstream_of(mask, shape, 0.5, generator)
    best, found = with_gradients(kernels.max_over_tokens, operands, mask, upstream)
    again, found_again = with_gradients(kernels.max_over_tokens, operands, mask, upstream)
    assert torch.equal(best, again)
    assert all(torch.equal(one, other) for one, other in zip(found, found_again, strict=True))


@pytest.mark.parametrize("share_pooled", [0.0, 0.02, 1.0])
def test_any_share_of_tokens_may_be_pooled(share_pooled):
    operands, mask, _ = drawn((5, 70, 10, 33), 4, torch.float32, share_pooled)
    best = kernels.max_over_tokens(operands[0], mask, *operands[1:])
    expected = max_over_tokens_naive(operands[0].double(), mask, *as_written(operands[1:]))
    torch.testing.assert_close(best.double(), expected, atol=1e-5, rtol=1e-5)


@pytest.mark.parametrize("shape", [(0, 5, 8, 6), (2, 0, 8, 6), (2, 5, 8, 0)])
def test_nothing_to_pool(shape):
    operands, mask = (
        [torch.ones(shape[:3]), torch.ones(shape[3], shape[2]), torch.ones(shape[3])],
        torch.ones(shape[:2]),
    )
    operands = [part.to(DEVICE).requires_grad_() for part in operands]
    best = kernels.max_over_tokens(operands[0], mask.to(DEVICE), *operands[1:])
    assert best.shape == (shape[0], shape[3]) and bool((best == float("-inf")).all())
    found = torch.autograd.grad(best, operands, torch.ones_like(best))
    assert all(torch.equal(part, torch.zeros_like(of)) for part, of in zip(found, operands, strict=True))


@pytest.mark.parametrize("dtype", TYPES, ids=str)
def test_what_is_no_number_stays_so(dtype):
    operands, mask, _ = drawn((3, 20, 8, 10), 5, dtype, 1.0)
    operands[0][2, 11] = float("nan")
    best = kernels.max_over_tokens(operands[0].requires_grad_(), mask, *operands[1:])
    assert bool(best[2].isnan().all()) and not bool(best[1].isnan().any())


def test_padding_never_contributes():
    operands, mask, _ = drawn((3, 20, 8, 10), 6, torch.bfloat16)
    expected = kernels.max_over_tokens(operands[0], mask, *operands[1:])
    operands[0].masked_fill_(~mask.bool().unsqueeze(2), 1e6)
    assert torch.equal(kernels.max_over_tokens(operands[0], mask, *operands[1:]), expected)


@pytest.mark.parametrize("shape", [(1, 1), (3, 130), (40, 129)])
@pytest.mark.parametrize("share", [0.0, 0.03, 1.0])
def test_the_lists_hold_what_is_not_zero(shape, share, monkeypatch):
    monkeypatch.setattr(nonzeros, "LEAST_ROOM", 1 << 20)
    generator = torch.Generator().manual_seed(7)
    gradient = torch.randn(*shape, generator=generator) * (torch.rand(*shape, generator=generator) < share)
    found = find_nonzeros(gradient.to(DEVICE))
    rows, terms = np.nonzero(gradient.numpy())
    assert found.terms[: len(terms)].tolist() == terms.tolist()
    ends = found.of_text[found.blocks :: found.blocks].tolist()
    assert ends == np.cumsum(np.bincount(rows, minlength=shape[0])).tolist()
    columns, texts = np.nonzero(gradient.numpy().T)
    assert found.texts[: len(texts)].tolist() == texts.tolist()
    assert found.of_term.tolist() == [0, *np.cumsum(np.bincount(columns, minlength=shape[1])).tolist()]
    torch.testing.assert_close(found.sums.cpu(), gradient.sum(0), atol=1e-5, rtol=1e-5)


@pytest.mark.parametrize("twice", [False, True])
def test_term_weights_with_own_words_and_their_slopes(twice):
    generator = torch.Generator().manual_seed(8)
    logits = 3 * torch.randn(4, 300, generator=generator)
    logits[0], logits[1, :9] = float("-inf"), torch.tensor([1e-12, 1e-7, 1e-4, 0.0, -0.0, 1e4, 1e30, -1e-9, 5e-1])
    own, upstream = torch.randn(300, generator=generator), torch.randn(4, 300, generator=generator)
    rows, terms = torch.tensor([1, 1, 2, 3]), torch.tensor([20, 299, 20, 0])
    amounts = torch.tensor([1.0, 0.5, 2.0, 3.0])

    def formula(values, added):
        values = values.index_put((rows, terms), added[terms] * amounts, accumulate=True)
        values = torch.log1p(torch.relu(values))
        return torch.log1p(values) if twice else values

    def kernel(values, added):
        places = [part.to(DEVICE) for part in (rows, terms, amounts)]
        return term_weights(values + 0, added, *places, twice)

    ours = [part.to(DEVICE).requires_grad_() for part in (logits, own)]
    theirs = [part.double().requires_grad_() for part in (logits, own)]
    weights, expected = kernel(*ours), formula(*theirs)
    torch.testing.assert_close(weights.cpu().double(), expected, atol=0, rtol=1e-6)
    found = torch.autograd.grad(weights, ours, upstream.to(DEVICE))
    for one, other in zip(found, torch.autograd.grad(expected, theirs, upstream.double()), strict=True):
        torch.testing.assert_close(one.cpu().double(), other.nan_to_num(0.0), atol=1e-6, rtol=2e-6)


@pytest.mark.parametrize(("dtype", "twice"), [(TYPES[0], True), (TYPES[1], False), (TYPES[2], True)], ids=str)
def test_listed_weights_are_those_of_whole_vectors(dtype, twice):
    (hidden, weight, bias), mask, _ = drawn((4, 37, 12, 100), 9, dtype)
    best = kernels.max_over_tokens(hidden, mask, weight, bias)
    none = torch.zeros(0, dtype=torch.long, device=DEVICE)
    whole = term_weights(best.clone(), None, none, none, none.float(), twice)
    above = 1.1 if twice else 2.0
    listed = kernels.list_weights(hidden, mask, weight, bias, above, twice, 100)
    for text, n in enumerate(listed.counts.tolist()):
        terms, order = listed.terms[text, :n].sort()
        assert terms.tolist() == (whole[text] > above).nonzero().flatten().tolist()
        assert torch.equal(listed.weights[text, :n][order], whole[text][terms.long()])
    assert listed.counts[0] == 0 and 0 < int(listed.counts[1]) < 100


def test_a_list_without_room_says_how_many_there_are():
    (hidden, weight, bias), mask, _ = drawn((3, 30, 12, 200), 10, torch.float32)
    everything = kernels.list_weights(hidden, mask, weight, bias, 0.5, False, 200)
    little = kernels.list_weights(hidden, mask, weight, bias, 0.5, False, 5)
    assert little.counts.tolist() == everything.counts.tolist() and max(little.counts.tolist()) > 5
    for text in range(3):
        n = int(everything.counts[text])
        assert set(little.terms[text, : min(n, 5)].tolist()) <= set(everything.terms[text, :n].tolist())
