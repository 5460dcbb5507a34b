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
    assert torch.equal(masks[0][0, 0].sum(-1), CAUSAL.sum(-1))  # as many keys in each row


def test_the_mask_that_is_unlike_the_others_differs_in_the_last_key_alone():
    (mask,) = nearly((5, 70), "unlike", Draw(1, "masks"))

    kinds, counts = mask.unique(dim=0, return_counts=True)
    assert sorted(counts.tolist()) == [1, 4]
    assert (kinds[0] != kinds[1]).nonzero().tolist() == [[69]]


def test_a_mask_of_two_keys_cannot_be_nearly_causal():
    assert nearly((2, 2), "nearly causal", Draw(1, "masks")) == []
