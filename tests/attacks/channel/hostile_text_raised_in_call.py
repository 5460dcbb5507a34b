# problem: sdpa
# class: channel
# expect: rejected
# evidence: a control character or markup acting in a report

HOSTILE = '\x1b[2J\x1b]0;owned\x07\x1b]8;;http://example.org\x07click\x1b]8;;\x07\x9b31m\r\x08\x7f\u202eevil\u2066\u200b\u2028 [red]rich[/red] [link=file:///etc]x[/link] <script>alert(1)</script> &amp; ]]> **bold** ![x](http://example.org/x.png) | | \n# heading\n```'


def scaled_dot_product_attention(q, k, v, mask=None):
    raise RuntimeError(HOSTILE)
