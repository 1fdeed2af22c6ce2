"""How many pairs a step should have: as many as is usual on the device, fewer where there are few pairs."""

CPU_BATCH, GPU_BATCH, SMALLEST_BATCH = 128, 512, 32
STEPS_A_PASS = 8  # at least, so that batches of few pairs are not all alike


def usual_batch(pairs: int, on_gpu: bool) -> tuple[int, str]:
    """(batch, why) for so many training pairs."""
    usual = batch = GPU_BATCH if on_gpu else CPU_BATCH
    while batch > SMALLEST_BATCH and batch * STEPS_A_PASS > pairs:
        batch //= 2
    if batch < usual:
        return batch, f"a pass over the {pairs:,} training pairs should have {STEPS_A_PASS} steps or more"
    return batch, f"the usual on a {'GPU' if on_gpu else 'CPU'}"
