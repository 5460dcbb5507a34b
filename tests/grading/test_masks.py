import torch

from mha_judge.grading.checks.corners.masks import nearly
from mha_judge.grading.draw import Draw

CAUSAL = torch.ones(6, 6, dtype=torch.bool).tril()


def test_masks_that_are_nearly_causal_differ_from_item_to_item_and_head_to_head():
    *masks, begins_causal = nearly((2, 4, 6, 6), "nearly causal", Draw(1, "masks"))

    assert [bool((one == CAUSAL).all()) for one in begins_causal.view(8, 6, 6)] == [
        True,
        *[False] * 7,
    ]
    for mask in masks:
        kinds = {tuple(one.flatten().tolist()) for one in mask.view(8, 6, 6)}
        assert len(kinds) == 3
        assert not any(bool((one == CAUSAL).all()) for one in mask.view(8, 6, 6))
    first = {tuple(mask[0, 0].flatten().tolist()) for mask in masks}
    assert len(first) == 3
    assert torch.equal(masks[0][0, 0].sum(-1), CAUSAL.sum(-1))  # as many keys in each row


def test_the_mask_that_is_unlike_the_others_differs_in_the_last_key_alone():
    mask, _ = nearly((5, 70), "unlike", Draw(1, "masks"))

    kinds, counts = mask.unique(dim=0, return_counts=True)
    assert sorted(counts.tolist()) == [1, 4]
    assert (kinds[0] != kinds[1]).nonzero().tolist() == [[69]]


def test_rows_of_another_mask_have_as_many_keys_with_places_of_the_same_sum():
    _, mask = nearly((5, 70), "unlike", Draw(1, "masks"))

    places = mask * torch.arange(70)
    assert len(mask.unique(dim=0)) == 2
    assert len(mask.sum(-1).unique()) == len(places.sum(-1).unique()) == 1


def test_heads_may_be_alike_in_the_first_item_alone():
    *_, mask = nearly((2, 3, 5, 6), "unlike", Draw(1, "masks"))

    assert [bool((item == item[:1]).all()) for item in mask] == [True, False]


def test_a_mask_of_two_keys_cannot_be_nearly_causal():
    assert nearly((2, 2), "nearly causal", Draw(1, "masks")) == []
