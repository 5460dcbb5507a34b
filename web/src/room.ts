// The page of a room, for the candidate and for interviewers.

import { Connection } from "./connection";
import { el, filled, time, timeOfDay } from "./dom";
import { Editor } from "./editor";
import type { Check, Message, Noted, RoomState, Run } from "./protocol";
import { checkRow, drawHints, noVerdict, questionList, runView } from "./report";
import { Trying } from "./trying";
import { type Words, put, wordsIn } from "./words";

const LEVELS = ["score", "checks", "hints", "full"] as const;
const TOLD_THE_REFERENCE = new Set(["hints", "full"]); // levels at which a candidate may make calls
const AGAIN_MS = 1_000;
const PASSING_MS = 6_000;

export class RoomPage {
  private words: Words = wordsIn("en");
  private state: RoomState | null = null;
  private editor: Editor | null = null; // the one that is shown
  private readonly editors = new Map<string, Editor>();
  private readonly connection: Connection<Message>;
  private ahead = 0; // what the server's clock is ahead of ours, in seconds
  private passing: ReturnType<typeof setTimeout> | undefined;
  private readonly task = el("section", { class: "task", tabindex: "0" });
  private readonly text = el("section", { class: "text" });
  private readonly side = el("section", { class: "side", tabindex: "0" });
  private readonly status = el("div", { class: "status", role: "status" });
  private readonly clock = el("span", { class: "clock", role: "timer" });
  private readonly people = el("span", { class: "people" });
  private readonly button = el("button", { class: "run", click: () => this.run() });
  private readonly stopping = el("button", { hidden: true, click: () => this.connection.send("stop") });
  private readonly report = el("div", { "aria-live": "polite" });
  private readonly said = el("div", { class: "hints", "aria-live": "polite", tabindex: "0", hidden: true });
  private readonly controls = el("div", { class: "controls" });
  private readonly notes = el("ul", { class: "plain notes" });
  private readonly heading = el("h1");
  private readonly problem = el("select", { change: () => this.connection.send("show", { problem: this.problem.value }) });
  private readonly sees = el("select", { change: () => this.connection.send("see", { level: this.sees.value }) });
  private readonly questions = el("details");
  private readonly trying = new Trying((call) => this.tryCall(call));
  private readonly changed = el("p", { class: "soft" });
  private checks: HTMLElement | null = null;

  constructor(
    root: HTMLElement,
    private readonly nonce: string,
    private readonly path: string,
  ) {
    filled(
      root,
      el("header", {}, el("div", { class: "what" }, this.heading, this.people), this.clock, this.stopping, this.button),
      this.status,
      el("main", {}, this.task, this.text, this.side),
    );
    this.side.append(this.said, this.controls, this.report, this.trying.element);
    this.connection = new Connection<Message>(
      `${path}/socket`,
      "room",
      () => this.connection.send("here", { versions: this.versions }),
      (message) => this.take(message),
      (open, why) => this.connected(open, why),
    );
    setInterval(() => this.tick(), 500);
    window.addEventListener("offline", () => this.connected(false, ""));
    window.addEventListener("online", () => this.connected(this.connection.isOpen, ""));
    for (const [kind, here] of [["blur", false], ["focus", true]] as const) {
      window.addEventListener(kind, () => {
        if (this.state?.role === "candidate") this.connection.send("focus", { here });
      });
    }
  }

  private get versions(): Record<string, number> {
    return Object.fromEntries([...this.editors].map(([problem, editor]) => [problem, editor.version]));
  }

  private connected(open: boolean, why: string): void {
    this.say(open ? "" : why || this.words.away);
    this.button.disabled = !open;
    if (open) {
      setTimeout(() => this.editors.forEach((editor) => editor.again()));
    } else {
      this.editors.forEach((editor) => editor.lost());
      this.trying.lost();
    }
  }

  private say(text: string): void {
    clearTimeout(this.passing);
    filled(this.status, text);
    this.status.hidden = !text;
  }

  private sayForNow(text: string): void {
    this.say(text);
    this.passing = setTimeout(() => this.say(""), PASSING_MS);
  }

  private take(message: Message): void {
    switch (message.kind) {
      case "room":
        return this.draw(message);
      case "changes":
        this.editors.get(message.problem)?.receive(message.version, message.changes);
        return this.compare();
      case "tried":
        return this.trying.answer(message.attempt);
      case "refused":
        if (message.what === "try") return this.trying.refuse(message.why);
        if (!message.why) return; // what was typed meanwhile is on its way, and is answered with a new push
        this.sayForNow(message.what === "run" && this.isRunning ? this.words.stillRunning : message.why);
        if (message.what === "push") {
          setTimeout(() => this.editors.forEach((editor) => editor.again()), AGAIN_MS);
        }
        return;
      case "cursor": {
        const label = `${this.words[message.who]} ${message.number}`;
        return this.editors.get(message.problem)?.moveCursor({ ...message, label });
      }
      case "people": {
        const named = message.people.map(
          ([number, role]) => `${this.words[role]} ${number}${number === message.you ? ` (${this.words.you})` : ""}`,
        );
        filled(this.people, `${this.words.people}: ${named.join(", ")}`);
        this.editors.forEach((editor) => editor.keepCursorsOf(message.people.map(([number]) => number)));
        return;
      }
      case "run":
        this.state?.runs.push(message);
        return this.drawRuns();
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
    filled(this.stopping, this.words.stopRun);
    this.stopping.title = this.words.stopTip;
    this.task.setAttribute("aria-label", this.words.task);
    this.side.setAttribute("aria-label", this.words.report);
    if (before?.task !== state.task) this.drawTask(state);
    this.trying.name(this.words);
    this.trying.element.hidden = state.role === "candidate" && !TOLD_THE_REFERENCE.has(state.sees);
    if (before?.problem !== state.problem) this.trying.clear();
    this.drawText(state);
    this.drawHints();
    this.drawRuns();
    if (state.role === "interviewer") this.drawControls(state, before);
    else this.controls.replaceChildren();
    this.tick();
  }

  private drawTask(state: RoomState): void {
    const task = el("div", { class: "prose" });
    task.innerHTML = state.task; // made by the server from the bank's Markdown, its HTML escaped
    const finePrint = el("div", { class: "prose" });
    finePrint.innerHTML = state.fine_print;
    filled(
      this.task,
      task,
      !!state.fine_print && el("details", {}, el("summary", {}, this.words.finePrint), finePrint),
    );
  }

  private drawText(state: RoomState): void {
    const { problem } = state;
    if (state.text !== undefined) {
      this.editors.get(problem)?.view.destroy();
      const made = new Editor(problem, state.text, state.version, this.nonce, this.words.editor, {
        push: (version, client, changes) => this.connection.send("push", { problem, version, client, changes }),
        cursor: (anchor, head) => this.connection.send("cursor", { problem, anchor, head }),
        pasted: (units, lines) => {
          if (this.state?.role === "candidate") this.connection.send("pasted", { problem, units, lines });
        },
        tooLong: () => this.sayForNow(this.words.tooLong),
        run: () => this.run(),
        stop: () => this.stop(),
      });
      this.editors.set(problem, made);
    }
    const shown = this.editors.get(problem);
    if (!shown || shown === this.editor) return;
    const isFree = document.activeElement === document.body || this.text.contains(document.activeElement);
    this.editor = shown;
    this.text.replaceChildren(shown.view.dom);
    shown.view.dispatch({ scrollIntoView: true });
    if (isFree) shown.view.focus();
  }

  private get isRunning(): boolean {
    return this.state?.runs.some((run) => !run.reason) ?? false;
  }

  private run(): void {
    const { editor, state } = this;
    if (!editor || !state || !this.connection.isOpen) return;
    if (this.isRunning) return this.sayForNow(this.words.stillRunning);
    if (editor.isBlank) return this.sayForNow(this.words.empty);
    this.say("");
    editor.whenSent(() => this.connection.send("run", { problem: editor.problem }));
  }

  private stop(): void {
    if (this.isRunning) this.connection.send("stop");
  }

  private tryCall(call: string): boolean {
    const { editor } = this;
    if (!editor || !this.connection.isOpen) return false;
    editor.whenSent(() => this.connection.send("try", { problem: editor.problem, call }));
    return true;
  }

  private begun(): void {
    this.checks = el("ul", { class: "plain" });
    this.button.disabled = true;
    filled(this.report, el("h2", {}, this.words.report), el("p", {}, this.words.running), this.checks);
  }

  private checked(check: Check): void {
    this.checks?.append(checkRow(check, this.words));
  }

  /** Those of the problem that is shown. */
  private get runs(): Run[] {
    return this.state?.runs.filter((run) => run.problem === this.state?.problem) ?? [];
  }

  private drawRuns(): void {
    const { runs } = this;
    const last = runs.at(-1);
    this.stopping.hidden = !this.isRunning;
    if (last && !last.reason) return this.begun();
    this.button.disabled = false;
    filled(
      this.report,
      el("h2", {}, this.words.report),
      this.changed,
      last ? runView(last, this.words) : el("p", { class: "soft" }, this.words.noReport),
      runs.length > 1 && el("ol", { class: "timeline" }, ...runs.map((run) => this.dot(run))),
      runs.length > 1 && runs.some((run) => !run.report) && el("p", { class: "soft" }, `–: ${this.words.noVerdict}`),
    );
    this.compare();
  }

  /** Say whether the text is still the one that was run. */
  private compare(): void {
    const last = this.runs.at(-1);
    filled(this.changed, this.words.changedSince);
    this.changed.hidden = !last || !this.editor || this.editor.version <= last.version;
  }

  private dot(run: Run): HTMLElement {
    const verdict = run.report?.verdict;
    const said = verdict ? (this.words[verdict as keyof Words] ?? verdict) : noVerdict(run, this.words);
    return el("li", { class: verdict ?? "none", title: `${timeOfDay(run.at)} ${said}` }, `${run.report?.score ?? "–"}`);
  }

  private drawHints(): void {
    const hints = this.state?.hints ?? [];
    drawHints(this.said, hints.map((hint) => el("p", { class: "hint" }, hint.text)), this.words);
  }

  private drawControls(state: RoomState, before: RoomState | null): void {
    const isFirst = !this.controls.hasChildNodes();
    if (isFirst) this.fillControls(state);
    this.problem.value = state.problem;
    this.sees.value = state.sees;
    filled(this.notes, ...(state.notes ?? []).map((note) => this.note(note)).reverse());
    if (isFirst || before?.problem !== state.problem) {
      const { questions } = this.words;
      filled(this.questions, el("summary", {}, questions), questionList(questions, state.questions ?? [], this.words));
    }
  }

  /** Made once: what is half typed in them stays. */
  private fillControls(state: RoomState): void {
    const { words } = this;
    const minutes = el("input", {
      type: "number", min: "1", max: "600", step: "any", required: true, value: "45", "aria-label": words.minutes,
    });
    const start = () => minutes.reportValidity() && this.connection.send("clock", { minutes: Number(minutes.value) });
    filled(this.problem, ...(state.problems ?? []).map(([id, title]) => el("option", { value: id }, title)));
    filled(this.sees, ...LEVELS.map((level) => el("option", { value: level }, words[`sees_${level}`])));
    filled(
      this.controls,
      el("h2", {}, words.forInterviewers),
      el("label", {}, words.problem, this.problem),
      el("label", {}, words.sees, this.sees),
      el(
        "div",
        { class: "row" },
        el("label", {}, words.clock, minutes),
        el("button", { click: start }, words.start),
        el("button", { click: () => this.connection.send("clock", { minutes: null }) }, words.takeAway),
      ),
      this.typed("hint", words.sendHint, words.send),
      this.typed("note", words.addNote, words.add),
      el("details", { open: true }, el("summary", {}, words.notes), this.notes),
      this.questions,
      el("p", {}, el("a", { href: `${this.path}/record`, target: "_blank" }, words.record)),
    );
  }

  private typed(kind: "hint" | "note", label: string, action: string): HTMLElement {
    const field = el("textarea", { rows: "2", "aria-label": label, placeholder: label, maxlength: "2000" });
    const send = () => {
      if (field.value.trim() && this.connection.send(kind, { text: field.value })) field.value = "";
    };
    return el("div", { class: "row" }, field, el("button", { click: send }, action));
  }

  private note(noted: Noted): HTMLElement {
    const { words } = this;
    const said: Record<string, string> = {
      note: noted.text ?? "",
      pasted: put(words.pasted, { lines: noted.lines ?? 0 }),
      focus: noted.here ? words.back : words.left,
    };
    return el("li", { class: noted.what }, el("time", {}, timeOfDay(noted.at)), ` ${said[noted.what] ?? ""}`);
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
