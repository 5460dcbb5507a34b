import { PracticePage } from "./practice";
import { type Event, RecordPage } from "./record";
import { RoomPage } from "./room";

const NO_SOCKETS =
  "This page needs WebSockets, which this browser does not have: open the link in a current one. " +
  "本页面需要 WebSocket，而这个浏览器不支持：请用较新的浏览器打开链接。";

const root = document.getElementById("app");
const { page, room, nonce = "" } = document.body.dataset;

async function begin(root: HTMLElement): Promise<void> {
  if (page !== "record" && !("WebSocket" in window)) throw new Error(NO_SOCKETS);
  if (page === "practice") {
    new PracticePage(root, nonce);
  } else if (page === "record") {
    // a recording holds its events itself; on the server they are asked for
    const text = document.getElementById("events")?.textContent;
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
