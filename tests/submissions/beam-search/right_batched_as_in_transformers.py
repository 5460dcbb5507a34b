# expect: accepted
# problem: beam-search
"""Tensors for all beams, names as in Hugging Face's generate; finished rows are padded in place."""

import torch
import torch.nn.functional as F


@torch.no_grad()
def beam_search(model, input_ids, num_beams, max_new_tokens, eos_token_id, length_penalty=0.0):
    if num_beams <= 0 or max_new_tokens <= 0:
        raise ValueError("num_beams and max_new_tokens must be positive")
    if length_penalty < 0:
        raise ValueError("length_penalty must not be negative")

    sequences = input_ids.clone().view(1, -1)
    beam_scores = None
    is_done = torch.tensor([False])
    lengths = torch.tensor([0])
    step = 0
    while step < max_new_tokens and not is_done.all():
        live = (~is_done).nonzero().squeeze(1)
        logits = model(sequences.index_select(0, live))
        if logits.dtype in (torch.float16, torch.bfloat16):
            logits = logits.float()
        log_probs = F.log_softmax(logits, dim=-1)
        vocab_size = log_probs.size(-1)
        if beam_scores is None:
            beam_scores = log_probs.new_zeros(1)

        # a finished row may only be followed by eos, at no cost
        next_scores = torch.full((len(sequences), vocab_size), float("-inf"), dtype=log_probs.dtype)
        next_scores[is_done, eos_token_id] = 0.0
        next_scores[live] = log_probs
        next_scores = next_scores + beam_scores[:, None]

        lengths = torch.where(is_done, lengths, lengths + 1)
        penalty = torch.pow((5.0 + lengths.to(log_probs.dtype)) / 6.0, length_penalty)
        penalised = (next_scores / penalty[:, None]).view(-1)
        _, chosen = torch.sort(penalised, descending=True, stable=True)
        possible = torch.isfinite(next_scores).sum().item()
        chosen = chosen[: min(num_beams, possible)]

        beam_idx = torch.div(chosen, vocab_size, rounding_mode="floor")
        token_idx = chosen % vocab_size
        beam_scores = next_scores.view(-1)[chosen]
        sequences = torch.cat([sequences[beam_idx], token_idx[:, None]], dim=-1)
        lengths = lengths[beam_idx]
        is_done = is_done[beam_idx] | (token_idx == eos_token_id)
        step += 1
    return sequences, beam_scores / torch.pow((5.0 + lengths.to(beam_scores.dtype)) / 6.0, length_penalty)
