// The page of a room, for the candidate and for interviewers.

import { Connection } from "./connection";
import { el, filled, time } from "./dom";
import { Editor } from "./editor";
import type { Check, Message, RoomState, Run, Said } from "./protocol";
import { checkRow, questionList, runView } from "./report";
import { type Words, put, wordsIn } from "./words";

const LEVELS = ["score", "checks", "hints", "full"] as const;
const AGAIN_MS = 1_000;

export class RoomPage {
  private words: Words = wordsIn("en");
  private state: RoomState | null = null;
  private editor: Editor | null = null;
  private readonly connection: Connection;
  private ahead = 0; // what the server's clock is ahead of ours, in seconds
  private readonly task = el("section", { class: "task", "aria-label": "Task", tabindex: "0" });
  private readonly text = el("section", { class: "text" });
  private readonly side = el("section", { class: "side", "aria-label": "Report", tabindex: "0" });
  private readonly status = el("div", { class: "status", role: "status" });
  private readonly clock = el("span", { class: "clock", role: "timer" });
  private readonly people = el("span", { class: "people" });
  private readonly button = el("button", { class: "run", click: () => this.run() });
  private readonly report = el("div", { "aria-live": "polite" });
  private readonly said = el("div", { class: "hints", "aria-live": "polite" });
  private readonly controls = el("div", { class: "controls" });
  private readonly notes = el("ul", { class: "plain notes" });
  private readonly heading = el("h1");
  private readonly fields = new Map<string, HTMLElement>(); // what is half typed in them stays
  private checks: HTMLElement | null = null;

  constructor(
    root: HTMLElement,
    private readonly nonce: string,
    private readonly path: string,
  ) {
    filled(
      root,
      el("header", {}, this.heading, this.people, this.clock, this.button),
      this.status,
      el("main", {}, this.task, this.text, this.side),
    );
    this.side.append(this.said, this.controls, this.report);
    const url = new URL(`${path}/socket`, location.href);
    url.protocol = url.protocol.replace("http", "ws");
    this.connection = new Connection(
      url.href,
      () => (this.editor ? { [this.editor.problem]: this.editor.version } : {}),
      (message) => this.take(message),
      (open, why) => this.connected(open, why),
    );
    setInterval(() => this.tick(), 500);
    for (const [kind, here] of [["blur", false], ["focus", true]] as const) {
      window.addEventListener(kind, () => {
        if (this.state?.role === "candidate") this.connection.send("focus", { here });
      });
    }
  }

  private connected(open: boolean, why: string): void {
    this.say(open ? "" : why || this.words.away);
    this.button.disabled = !open;
    if (open) setTimeout(() => this.editor?.again());
  }

  private say(text: string): void {
    filled(this.status, text);
    this.status.hidden = !text;
  }

  private take(message: Message): void {
    switch (message.kind) {
      case "room":
        return this.draw(message);
      case "changes":
        if (message.problem === this.editor?.problem) this.editor.receive(message.version, message.changes);
        return;
      case "refused":
        if (message.what === "push") {
          if (message.why) {
            this.say(message.why);
            setTimeout(() => this.editor?.again(), AGAIN_MS);
          }
        } else this.say(message.why);
        return;
      case "cursor":
        if (message.problem === this.editor?.problem) this.editor.moveCursor(message);
        return;
      case "people": {
        const named = message.people.map(
          ([number, role]) => `${this.words[role]} ${number}${number === message.you ? ` (${this.words.you})` : ""}`,
        );
        filled(this.people, `${this.words.people}: ${named.join(", ")}`);
        this.editor?.keepCursorsOf(message.people.map(([number]) => number));
        return;
      }
      case "run":
        this.state?.runs.push(message);
        return this.begun();
      case "check":
        return this.checked(message.check);
      case "graded":
        if (this.state) {
          this.state.runs = this.state.runs.map((run) => (run.grade === message.grade ? message : run));
        }
        return this.drawRuns();
      case "hint":
        this.state?.hints.push(message);
        return this.drawHints();
      case "clock":
        if (this.state) this.state.ends_at = message.ends_at;
        return this.tick();
      case "noted":
        this.notes.prepend(this.note(message));
        return;
    }
  }

  private draw(state: RoomState): void {
    const before = this.state;
    this.state = state;
    this.words = wordsIn(state.language);
    this.ahead = state.now - Date.now() / 1000;
    document.documentElement.lang = state.language;
    document.title = `${state.title} · mha-judge`;
    filled(this.heading, state.title);
    filled(this.button, this.words.run, el("kbd", {}, this.words.runTip));
    const task = el("div", { class: "prose" });
    task.innerHTML = state.task; // made by the server from the bank's Markdown, its HTML escaped
    const finePrint = el("div", { class: "prose" });
    finePrint.innerHTML = state.fine_print;
    filled(
      this.task,
      task,
      !!state.fine_print && el("details", {}, el("summary", {}, this.words.finePrint), finePrint),
    );
    if (state.text !== undefined || this.editor?.problem !== state.problem) {
      this.editor?.view.destroy();
      this.text.replaceChildren();
      this.editor = new Editor(
        this.text, state.problem, state.text ?? "", state.version, this.nonce, this.words.editor,
        {
          push: (version, client, changes) =>
            this.connection.send("push", { problem: state.problem, version, client, changes }),
          cursor: (anchor, head) => this.connection.send("cursor", { problem: state.problem, anchor, head }),
          pasted: (units, lines) => this.connection.send("pasted", { problem: state.problem, units, lines }),
          run: () => this.run(),
        },
      );
      this.editor.view.focus();
    }
    this.drawHints();
    this.drawRuns();
    if (state.role === "interviewer") this.drawControls(state, before);
    this.tick();
  }

  private run(): void {
    if (this.state && this.connection.send("run", { problem: this.state.problem })) this.say("");
  }

  private begun(): void {
    this.checks = el("ul", { class: "plain" });
    this.button.disabled = true;
    filled(this.report, el("h2", {}, this.words.report), el("p", {}, this.words.running), this.checks);
  }

  private checked(check: Check): void {
    this.checks?.append(checkRow(check, this.words));
  }

  private drawRuns(): void {
    const runs = this.state?.runs.filter((run) => run.problem === this.state?.problem) ?? [];
    const last = runs.at(-1);
    if (last && !last.reason) return this.begun();
    this.button.disabled = false;
    filled(
      this.report,
      el("h2", {}, this.words.report),
      last ? runView(last, this.words) : el("p", { class: "soft" }, this.words.noReport),
      runs.length > 1 && el("ol", { class: "timeline" }, ...runs.map((run) => this.dot(run))),
    );
  }

  private dot(run: Run): HTMLElement {
    const verdict = run.report?.verdict ?? "none";
    const said = `${new Date(run.at * 1000).toLocaleTimeString()} ${this.words[verdict as keyof Words] ?? verdict}`;
    return el("li", { class: verdict, title: said }, `${run.report?.score ?? "–"}`);
  }

  private drawHints(): void {
    const hints = this.state?.hints ?? [];
    filled(
      this.said,
      hints.length > 0 && el("h2", {}, this.words.hints),
      ...hints.map((hint) => el("p", { class: "hint" }, hint.text)),
    );
  }

  private drawControls(state: RoomState, before: RoomState | null): void {
    const { words } = this;
    const chosen = (value: string, now: string) => ({ value, selected: value === now });
    const problems = (state.problems ?? []).map(([id, title]) => el("option", chosen(id, state.problem), title));
    const levels = LEVELS.map((level) => el("option", chosen(level, state.sees), words[`sees_${level}`]));
    const minutes = el("input", { type: "number", min: "1", max: "600", value: "45", "aria-label": words.minutes });
    const pick = (kind: string, key: string) => (event: Event) =>
      this.connection.send(kind, { [key]: (event.target as HTMLSelectElement).value });
    filled(
      this.controls,
      el("h2", {}, words.forInterviewers),
      el("label", {}, words.problem, el("select", { change: pick("show", "problem") }, ...problems)),
      el("label", {}, words.sees, el("select", { change: pick("see", "level") }, ...levels)),
      el(
        "div",
        { class: "row" },
        el("label", {}, words.clock, minutes),
        el("button", { click: () => this.connection.send("clock", { minutes: Number(minutes.value) || 45 }) }, words.start),
        el("button", { click: () => this.connection.send("clock", { minutes: null }) }, words.stop),
      ),
      this.typed("hint", words.sendHint, words.send),
      this.typed("note", words.addNote, words.add),
      el("details", { open: true }, el("summary", {}, words.notes), this.notes),
      el("details", {}, el("summary", {}, words.questions), questionList(words.questions, state.questions ?? [], words)),
      el("p", {}, el("a", { href: `${this.path}/record`, target: "_blank" }, words.record)),
    );
    if (!before) for (const note of state.notes ?? []) this.notes.prepend(this.note({ what: "note", ...note }));
  }

  private typed(kind: "hint" | "note", label: string, action: string): HTMLElement {
    const made = this.fields.get(kind);
    if (made) return made;
    const field = el("textarea", { rows: "2", "aria-label": label, placeholder: label, maxlength: "2000" });
    const send = () => {
      if (field.value.trim() && this.connection.send(kind, { text: field.value })) field.value = "";
    };
    const row = el("div", { class: "row" }, field, el("button", { click: send }, action));
    this.fields.set(kind, row);
    return row;
  }

  private note(noted: Partial<Said> & { what: string; at: number; lines?: number; here?: boolean }): HTMLElement {
    const { words } = this;
    const said: Record<string, string> = {
      note: noted.text ?? "",
      pasted: put(words.pasted, { lines: noted.lines ?? 0 }),
      focus: noted.here ? words.back : words.left,
    };
    const at = new Date(noted.at * 1000).toLocaleTimeString();
    return el("li", { class: noted.what }, el("time", {}, at), ` ${said[noted.what] ?? ""}`);
  }

  private tick(): void {
    const end = this.state?.ends_at ?? null;
    const left = end === null ? null : end - Date.now() / 1000 - this.ahead;
    this.clock.hidden = left === null;
    if (left !== null) {
      filled(this.clock, left > 0 ? `${this.words.timeLeft} ${time(left)}` : this.words.timeUp);
      this.clock.classList.toggle("up", left <= 0);
    }
  }
}
