import { type Event, RecordPage } from "./record";
import { RoomPage } from "./room";

const root = document.getElementById("app");
const { room, nonce = "" } = document.body.dataset;
const inside = document.getElementById("events");

async function begin(root: HTMLElement): Promise<void> {
  if (inside) {
    // a recording holds its events itself; on the server they are asked for
    const text = inside.textContent?.trim();
    const events = text ? text : await (await fetch(`/rooms/${room}/record.json`)).text();
    new RecordPage(root, nonce, JSON.parse(events) as Event[]);
  } else {
    new RoomPage(root, nonce, `/rooms/${room}`);
  }
}

if (root) void begin(root);
