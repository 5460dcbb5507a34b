import torch

from mha_judge.grading.checks.corners.masks import nearly
from mha_judge.grading.draw import Draw

CAUSAL = torch.ones(6, 6, dtype=torch.bool).tril()


def test_masks_that_are_nearly_causal_differ_from_item_to_item_and_head_to_head():
    masks = nearly((2, 4, 6, 6), "nearly causal", Draw(1, "masks"))

    for mask in masks:
        kinds = {tuple(one.flatten().tolist()) for one in mask.view(8, 6, 6)}
        assert len(kinds) == 3
        assert not any(bool((one == CAUSAL).all()) for one in mask.view(8, 6, 6))
    first = {tuple(mask[0, 0].flatten().tolist()) for mask in masks}
    assert len(first) == 3


def test_a_mask_of_two_keys_cannot_be_nearly_causal():
    assert nearly((2, 2), "nearly causal", Draw(1, "masks")) == []
