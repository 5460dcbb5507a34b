// A socket that comes back by itself. What is sent while it is away is not kept: a text's changes
// wait in the editor, and the rest is a person's, who sees that it did not happen.

import type { Message } from "./protocol";

const FIRST_WAIT_MS = 400;
const LONGEST_WAIT_MS = 5_000;

export class Connection {
  private socket: WebSocket | null = null;
  private wait = FIRST_WAIT_MS;

  constructor(
    private readonly url: string,
    private readonly versions: () => Record<string, number>,
    private readonly onMessage: (message: Message) => void,
    private readonly onState: (open: boolean, why: string) => void,
  ) {
    this.open();
  }

  private open(): void {
    const socket = new WebSocket(this.url);
    this.socket = socket;
    socket.addEventListener("open", () => {
      socket.send(JSON.stringify({ kind: "here", versions: this.versions() }));
    });
    socket.addEventListener("message", (event) => {
      this.wait = FIRST_WAIT_MS;
      const message = JSON.parse(event.data as string) as Message;
      if (message.kind === "room") this.onState(true, "");
      this.onMessage(message);
    });
    socket.addEventListener("close", (event) => {
      this.socket = null;
      this.onState(false, event.reason);
      setTimeout(() => this.open(), this.wait);
      this.wait = Math.min(2 * this.wait, LONGEST_WAIT_MS);
    });
  }

  get isOpen(): boolean {
    return this.socket?.readyState === WebSocket.OPEN;
  }

  send(kind: string, body: Record<string, unknown> = {}): boolean {
    if (!this.isOpen) return false;
    this.socket?.send(JSON.stringify({ kind, ...body }));
    return true;
  }
}
