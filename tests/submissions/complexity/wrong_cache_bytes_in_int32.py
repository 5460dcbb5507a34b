# expect: rejected
# problem: complexity
# mistake: computes in int32, which overflows at 2 GiB
import numpy as np
ANSWERS = {'attention_core': 'n**2*d', 'full_layer': 'n**2*d+n*d**2', 'weights_memory': 'h*n**2', 'dominant_small_n': 'n*d**2', 'decode_step': 'd**2+T*d', 'rnn_layer': 'n*d**2', 'conv_layer': 'k*n*d**2', 'flash_extra_memory': 'n', 'sliding_window': 'n*w*d', 'gqa_cache_fraction': 'G/h', 'gqa_parameters': '2*d**2 + 2*d**2*G/h'}
def mha_flops(B, n, d, h): return 8*B*n*d*d+4*B*n*n*d
def mha_parameters(d, bias): return 4*d*d+4*d*bias
def kv_cache_bytes(B, n, N, G, head_dim, bytes_per_number): return int(np.prod(np.array([2,B,n,N,G,head_dim,bytes_per_number],dtype=np.int32),dtype=np.int32))
def decode_step_flops(B, T, d, h): return 8*B*d*d+4*B*(T+1)*d
