# expect: rejected
# problem: sink-attention
# mistake: the sink is added to every score of its head, which a softmax does not feel
# diagnosis: no-sink
import torch


def sink_sdpa(Q, K, V, S, window=None, q_norm=None, k_norm=None):
    if q_norm is not None:
        Q = torch.rms_norm(Q, (Q.shape[-1],), q_norm, 1e-6)
        K = torch.rms_norm(K, (K.shape[-1],), k_norm, 1e-6)
    h, m = K.shape[1], Q.shape[1] // K.shape[1]
    assert h * m == Q.shape[1] == S.numel()
    Q = Q.unflatten(1, (h, m))
    QK = torch.einsum("bhmqd,bhkd->bhmqk", Q, K) / Q.shape[-1] ** 0.5
    QK = QK + S.view(h, m, 1, 1)
    n_q, n_k = QK.shape[-2:]
    keep = torch.ones(n_q, n_k, dtype=torch.bool, device=Q.device).tril(n_k - n_q)
    if window is not None:
        keep = keep.triu(n_k - n_q - window + 1)
    W = QK.masked_fill(~keep, -1e9).softmax(-1)
    return torch.einsum("bhmqk,bhkd->bhmqd", W, V).flatten(1, 2)
