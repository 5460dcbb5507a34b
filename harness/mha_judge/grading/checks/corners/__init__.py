"""An answer that is right in every check is asked again in corners of its domain.

The questions are those of the checks, varied on all axes at once by the rows of a covering array
(`pairwise`), with sizes that do not belong together (`sizes`), and with long inputs (`lengths`).
"""
