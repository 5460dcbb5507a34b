// A socket that comes back by itself. What is sent while it is away is not kept: a text's changes
// wait in the editor, and the rest is a person's, who sees that it did not happen.

const FIRST_WAIT_MS = 400;
const LONGEST_WAIT_MS = 5_000;

export class Connection<Message extends { kind: string }> {
  private socket: WebSocket | null = null;
  private wait = FIRST_WAIT_MS;

  constructor(
    private readonly path: string,
    private readonly first: Message["kind"], // with what the server says that one is in
    private readonly onOpen: () => void,
    private readonly onMessage: (message: Message) => void,
    private readonly onState: (open: boolean, why: string) => void,
  ) {
    this.open();
  }

  private open(): void {
    const url = new URL(this.path, location.href);
    url.protocol = url.protocol.replace("http", "ws");
    const socket = new WebSocket(url);
    this.socket = socket;
    let isIn = false;
    socket.addEventListener("open", this.onOpen);
    socket.addEventListener("message", (event) => {
      this.wait = FIRST_WAIT_MS;
      const message = JSON.parse(event.data as string) as Message;
      if (message.kind === this.first && !isIn) {
        isIn = true;
        this.onState(true, "");
      }
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
