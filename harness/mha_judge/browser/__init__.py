"""What pages in a browser are made of: rooms, their playback, and practice.

The program in `static` is bundled from the TypeScript in `web/` by `make web`.
"""
