"""A harness of verifiers that asks once, in this process; the one named `null` needs a network."""

import httpx
import verifiers.v1 as vf

__all__ = ["OneTurn"]


class OneTurn(vf.Harness[vf.HarnessConfig]):
    EXECUTES_CODE = False
    NEEDS_CONTAINER = False

    async def launch(self, ctx, trace, runtime, endpoint, secret, mcp_urls, data):
        async with httpx.AsyncClient(timeout=60) as client:
            said = await client.post(
                f"{endpoint}/chat/completions",
                json={"model": ctx.model, "messages": [{"role": "user", "content": data.prompt}]},
                headers={"Authorization": f"Bearer {secret}"},
            )
        said.raise_for_status()
        return vf.ProgramResult(exit_code=0, stdout="", stderr="")
