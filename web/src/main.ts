import { type Event, RecordPage } from "./record";
import { RoomPage } from "./room";

const root = document.getElementById("app");
const { room, nonce = "" } = document.body.dataset;
const inside = document.getElementById("events");

async function begin(root: HTMLElement): Promise<void> {
  if (inside) {
    // a recording holds its events itself; on the server they are asked for
    const text = inside.textContent?.trim();
    const events = text ? text : await asked(`/rooms/${room}/record.json`);
    new RecordPage(root, nonce, JSON.parse(events) as Event[]);
  } else {
    new RoomPage(root, nonce, `/rooms/${room}`);
  }
}

async function asked(path: string): Promise<string> {
  const reply = await fetch(path);
  const text = await reply.text();
  if (!reply.ok) throw new Error(text);
  return text;
}

if (root) begin(root).catch((error: Error) => root.replaceChildren(error.message));
