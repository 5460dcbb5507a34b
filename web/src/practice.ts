// The page of one who practises alone: the same session as the app in the terminal.

import { EditorState } from "@codemirror/state";
import { EditorView } from "@codemirror/view";

import { Connection } from "./connection";
import { el, filled, inline, time } from "./dom";
import { looks, writes } from "./editor";
import type { Check, Contents, DeskMessage, DeskState, MockInterview, Solution } from "./protocol";
import { checkRow, drawHints, runView } from "./report";
import { Trying } from "./trying";
import { type Words, put, wordsIn } from "./words";

const PASSING_MS = 8_000;
const KEEP_AFTER_MS = 400;
const SIGNS: Record<string, string> = { "✓": "solved", "●": "open", "↻": "due", "·": "new" };
const RATINGS = ["again", "hard", "good", "easy"] as const;

/** What was typed and is not in the file yet. The browser keeps it, should the page be closed. */
class Draft {
  private timer: ReturnType<typeof setTimeout> | undefined;

  constructor(
    private readonly path: string,
    readonly version: string, // of the file that it was made from
  ) {}

  private static key(path: string): string {
    return `mha-judge ${path}`;
  }

  static of(path: string): { version: string; text: string } | null {
    try {
      const kept = localStorage.getItem(Draft.key(path));
      return kept ? (JSON.parse(kept) as { version: string; text: string }) : null;
    } catch {
      return null; // a browser may keep nothing
    }
  }

  keep(text: string | null): void {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.put(text), KEEP_AFTER_MS);
  }

  put(text: string | null): void {
    clearTimeout(this.timer);
    try {
      if (text === null) localStorage.removeItem(Draft.key(this.path));
      else localStorage.setItem(Draft.key(this.path), JSON.stringify({ version: this.version, text }));
    } catch {
      return;
    }
  }
}

export class PracticePage {
  private words: Words = wordsIn("en");
  private said: Record<string, string> = {};
  private state: DeskState | null = null;
  private readonly connection: Connection<DeskMessage>;
  private view: EditorView | null = null;
  private shown = ""; // the path of the file in the editor
  private base = { text: "", version: "" }; // of the file, as the text was made from it
  private draft: Draft | null = null;
  private checks: HTMLElement | null = null;
  private passing: ReturnType<typeof setTimeout> | undefined;
  private noteTimer: ReturnType<typeof setTimeout> | undefined;
  private noteOf = "";
  private noteKept = ""; // as the server has it
  private endsAt: number | null = null; // of the interview, in this browser's time
  private readonly heading = el("h1");
  private readonly standing = el("span", { class: "people" });
  private readonly clock = el("span", { class: "clock", role: "timer", hidden: true });
  private readonly list = el("button", { click: () => this.contents.showModal() });
  private readonly button = el("button", { class: "run", click: () => this.run() });
  private readonly stopping = el("button", { hidden: true, click: () => this.stop() });
  private readonly status = el("div", { class: "status", role: "status", hidden: true });
  private readonly task = el("section", { class: "task", tabindex: "0" });
  private readonly text = el("section", { class: "text" });
  private readonly side = el("section", { class: "side", tabindex: "0" });
  private readonly conflict = el("div", { class: "conflict", role: "alert", hidden: true });
  private readonly asks = el("div", { class: "bar" });
  private readonly offer = el("div", { class: "offer", role: "alert", hidden: true });
  private readonly hints = el("div", { class: "hints", "aria-live": "polite", tabindex: "0", hidden: true });
  private readonly report = el("div", { "aria-live": "polite" });
  private readonly trying = new Trying((call) => this.tryCall(call));
  private readonly note = el("textarea", { class: "wide", rows: "4", input: () => this.keepNote(), blur: () => this.sendNote() });
  private readonly notes = el("details");
  private readonly answer = el("textarea", { class: "wide", rows: "8", maxlength: "20000" }); // to a question
  private readonly contents = el("dialog");
  private readonly reading = el("dialog");

  constructor(
    root: HTMLElement,
    private readonly nonce: string,
  ) {
    filled(
      root,
      el("header", {}, el("div", { class: "what" }, this.heading, this.standing), this.clock, this.list, this.stopping, this.button),
      this.status,
      el("main", {}, this.task, this.text, this.side),
      this.contents,
      this.reading,
    );
    this.side.append(this.asks, this.offer, this.hints, this.report, this.trying.element, this.notes);
    this.connection = new Connection<DeskMessage>(
      "/socket",
      "state",
      () => undefined,
      (message) => this.take(message),
      (open, why) => {
        this.say(open ? "" : why || this.said.away || this.words.away);
        if (open) this.sendNote();
        else this.trying.lost();
        this.draw();
      },
    );
    setInterval(() => this.tick(), 500);
    window.addEventListener("beforeunload", () => {
      this.sendNote();
      if (this.isChanged) this.draft?.put(this.typed);
    });
  }

  private say(text: string): void {
    clearTimeout(this.passing);
    filled(this.status, text);
    this.status.hidden = !text;
  }

  private sayForNow(text: string): void {
    this.say(text);
    this.passing = setTimeout(() => this.say(this.state?.trouble ?? ""), PASSING_MS);
  }

  private word(name: string, values: Record<string, string | number> = {}): string {
    return put(this.said[name] ?? name, values);
  }

  private take(message: DeskMessage): void {
    switch (message.kind) {
      case "words":
        this.words = wordsIn(message.language);
        this.said = message.words;
        document.documentElement.lang = message.language;
        return this.name();
      case "contents":
        return this.drawContents(message);
      case "state": {
        const before = this.state;
        this.state = message;
        if (message.trouble && message.trouble !== before?.trouble) this.say(message.trouble);
        return this.draw(before);
      }
      case "check":
        this.checks?.append(checkRow(message.check, this.words));
        return;
      case "offer":
        return this.ask(message.text, this.word("take it"), "take");
      case "solution":
        return this.read(message);
      case "tried":
        return this.trying.answer(message.attempt);
      case "said":
        return this.sayForNow(message.text);
      case "refused":
        if (message.what === "try") this.trying.refuse(message.why);
        else this.sayForNow(message.why);
        return;
    }
  }

  /** Names of what stays as it is while one works. */
  private name(): void {
    const { words } = this;
    filled(this.list, this.word("problems"));
    filled(this.button, words.run, el("kbd", {}, words.runTip));
    filled(this.stopping, words.stopRun);
    this.stopping.title = words.stopTip;
    this.task.setAttribute("aria-label", words.task);
    this.side.setAttribute("aria-label", words.report);
    this.contents.setAttribute("aria-label", this.word("problems"));
    this.reading.setAttribute("aria-label", this.word("solution"));
    this.answer.setAttribute("aria-label", this.word("your answer"));
    this.note.setAttribute("aria-label", this.word("your notes"));
    this.trying.name(words);
    filled(this.notes, el("summary", {}, this.word("your notes")), this.note);
    filled(this.asks); // drawn anew with the state
  }

  // the problem that is shown

  private draw(before: DeskState | null = this.state): void {
    const { state } = this;
    if (!state?.problem) return;
    document.title = `${state.title} · mha-judge`;
    filled(this.heading, state.title);
    const isNew = before?.problem !== state.problem;
    if (isNew || before.task !== state.task || !this.task.hasChildNodes()) this.drawTask(state);
    if (isNew) {
      this.offer.hidden = true;
      this.trying.clear();
      this.contents.close();
    }
    if (this.noteOf !== state.problem) {
      this.sendNote();
      this.noteOf = state.problem;
      this.note.value = this.noteKept = state.note;
    } else if (this.note.value === this.noteKept && document.activeElement !== this.note) {
      this.note.value = this.noteKept = state.note; // another page may have changed it
    }
    const { interview } = state;
    this.endsAt = interview?.task ? Date.now() + 1000 * interview.left_s : null;
    if (interview?.task && interview.left_s === 0 && before?.interview?.left_s !== 0) this.timeIsUp();
    if (interview && !interview.task) this.drawInterview(interview);
    else this.drawText(state);
    this.tick();
    this.list.hidden = !!interview && !interview.ended;
    this.drawStanding();
    this.drawAsks(state);
    this.drawHints(state);
    this.drawRun(state);
  }

  private drawTask(state: DeskState): void {
    const task = el("div", { class: "prose" });
    task.innerHTML = state.task; // made by the server from the bank's Markdown, its HTML escaped
    const finePrint = el("div", { class: "prose" });
    finePrint.innerHTML = state.fine_print;
    filled(
      this.task,
      task,
      !!state.fine_print && el("details", {}, el("summary", {}, this.words.finePrint), finePrint),
    );
    this.task.scrollTop = 0;
  }

  private get typed(): string {
    return this.view?.state.doc.toString() ?? "";
  }

  /** Whether the keys are not in use elsewhere on the page. */
  private get isFree(): boolean {
    return document.activeElement === document.body || this.text.contains(document.activeElement);
  }

  private get isChanged(): boolean {
    return this.view !== null && this.typed !== this.base.text;
  }

  private drawText(state: DeskState): void {
    const { file } = state;
    if (!file || file.text === undefined || file.version === undefined) {
      this.put(null);
      const why = file?.why ? this.word("unreadable", { path: state.path, why: file.why }) : "";
      const gone = state.is_open && state.path ? this.word("file gone", { path: state.path }) : "";
      const begin = el("button", { class: "run", click: () => this.connection.send("begin") }, this.word("begin"));
      const told = why || gone || this.word("not begun", { folder: state.folder });
      filled(this.text, el("div", { class: "begin" }, el("p", {}, told), !why && begin));
      return;
    }
    const found = { text: file.text, version: file.version };
    if (this.shown !== state.path || !this.view) {
      const draft = Draft.of(state.path);
      const isOlder = draft !== null && draft.text !== found.text;
      this.put(state.path, isOlder ? draft.text : found.text);
      this.base = found;
      this.draft = new Draft(state.path, isOlder ? draft.version : found.version);
      if (isOlder && draft.version !== found.version) this.disagree(found);
      else if (isOlder) this.sayForNow(this.word("restored"));
    } else if (found.version !== this.base.version) {
      if (this.typed === found.text || !this.isChanged) this.agree(found, found.text);
      else this.disagree(found);
    }
    if (this.isChanged) this.draft?.keep(this.typed);
    else this.draft?.put(null);
  }

  /** Show the text of a file, or none. */
  private put(path: string | null, text = ""): void {
    if (this.isChanged) this.draft?.put(this.typed);
    this.view?.destroy();
    this.view = null;
    this.draft = null;
    this.conflict.hidden = true;
    this.shown = path ?? "";
    if (path === null) return;
    const state = EditorState.create({
      doc: text,
      extensions: [
        looks(this.nonce),
        writes(this.words.editor, () => this.run(), () => this.stop()),
        EditorView.updateListener.of((update) => {
          if (!update.docChanged) return;
          this.draft?.keep(this.isChanged ? this.typed : null);
          this.drawStanding();
        }),
      ],
    });
    const { isFree } = this;
    this.view = new EditorView({ state });
    filled(this.text, el("div", { class: "written" }, this.conflict, this.view.dom));
    if (isFree) this.view.focus();
  }

  private agree(found: { text: string; version: string }, text: string): void {
    this.base = found;
    this.draft?.put(null);
    this.draft = new Draft(this.shown, found.version);
    if (this.view && this.typed !== text) {
      this.view.dispatch({ changes: { from: 0, to: this.view.state.doc.length, insert: text } });
    }
    this.conflict.hidden = true;
    this.drawStanding();
  }

  /** The file was changed elsewhere, and the text here as well: one of both goes on. */
  private disagree(found: { text: string; version: string }): void {
    const mine = this.typed;
    filled(
      this.conflict,
      this.word("changed", { path: this.shown }),
      el(
        "div",
        { class: "bar" },
        el("button", { click: () => this.agree(found, found.text) }, this.word("take file")),
        el("button", { click: () => this.agree(found, this.typed) }, this.word("keep mine")),
      ),
    );
    this.draft?.put(mine);
    this.conflict.hidden = false;
  }

  // a mock interview

  /** Hand in what was typed until now. */
  private timeIsUp(): void {
    this.sayForNow(this.word("time is up"));
    if (this.isChanged && this.conflict.hidden) this.run();
  }

  private tick(): void {
    this.clock.hidden = this.endsAt === null;
    if (this.endsAt === null) return;
    const left = (this.endsAt - Date.now()) / 1000;
    filled(this.clock, left > 0 ? `${this.words.timeLeft} ${time(left)}` : this.words.timeUp);
    this.clock.classList.toggle("up", left <= 0);
  }

  private drawInterview(interview: MockInterview): void {
    const { isFree } = this;
    const isAnswering = document.activeElement === this.answer;
    this.put(null);
    const shown = el("div", { class: "begin asked", tabindex: "-1" }, ...this.asked(interview));
    filled(this.text, shown);
    if (isAnswering && shown.contains(this.answer)) this.answer.focus();
    else if (isFree) shown.focus();
  }

  private asked({ question, said, ended }: MockInterview): (Node | string | false)[] {
    if (ended) {
      return [
        el("h2", {}, this.word("over")),
        ...ended.lines.map((line) => el("p", {}, line)),
        ...ended.paths.map((path) => el("p", { class: "soft" }, this.word("wrote file", { path }))),
      ];
    }
    if (said) {
      return [
        el("h2", {}, ...inline(said.question)),
        said.right
          ? el("p", { class: "accepted" }, this.word("right answer"))
          : el("p", { class: "rejected" }, ...inline(this.word("wrong answer", { why: said.why }))),
        el("p", {}, ...inline(this.word("right is", { told: said.told }))),
        el("button", { class: "run", click: () => this.connection.send("next") }, this.word("next question")),
      ];
    }
    if (!question) return [];
    const heading = [el("p", { class: "soft" }, this.word("asked", { number: question.number, of: question.of })), el("h2", {}, ...inline(question.text))];
    if (question.choices) {
      const choices = question.choices.map(([letter, text]) =>
        el("button", { class: "next", click: () => this.connection.send("choose", { letter }) }, `${letter}) `, ...inline(text)),
      );
      return [...heading, ...choices];
    }
    if (question.answer === null || question.answer === undefined) {
      const send = () => {
        if (this.connection.send("answer", { text: this.answer.value })) this.answer.value = "";
      };
      return [...heading, this.answer, el("p", {}, el("button", { class: "run", click: send }, this.word("compare")))];
    }
    const marks = [0, 1, 2, 3, 4, 5].map((mark) => el("button", { click: () => this.connection.send("mark", { mark }) }, `${mark}`));
    return [
      ...heading,
      el("p", { class: "hint" }, question.answer || "—"),
      el("p", {}, this.word("good answer")),
      el("ul", {}, ...(question.good ?? []).map((point) => el("li", {}, ...inline(point)))),
      el("div", { class: "bar" }, this.word("mark"), ...marks),
    ];
  }

  private interviewAsks(state: DeskState, task: MockInterview["task"]): (Node | false)[] {
    const handIn = () => {
      if (this.isChanged) this.ask(this.word("not run"), "", "hand in");
      else if (!task?.points) this.ask(this.word("no points"), "", "hand in");
      else this.connection.send("hand in");
    };
    return [
      !!task && state.is_open && el("button", { click: () => this.connection.send("hint") }, this.word("hint")),
      !!task && el("button", { click: handIn }, this.word("hand in")),
      el("button", { click: () => this.connection.send("leave") }, this.word("leave")),
    ];
  }

  /** What begins an interview, or goes on with the one that is open. */
  private interviewForm(contents: Contents): HTMLElement {
    const minutes = el("input", {
      type: "number", min: "10", max: "240", value: "45", required: true, "aria-label": this.word("interview minutes"),
    });
    const track = el("select", { "aria-label": this.word("interview track") });
    filled(
      track,
      el("option", { value: "" }, this.word("any track")),
      ...contents.tracks.map(([track, name]) => el("option", { value: track }, name)),
    );
    const begin = () => {
      if (!minutes.reportValidity()) return;
      this.contents.close();
      this.connection.send("interview", { minutes: Math.round(Number(minutes.value)), track: track.value || null });
    };
    const resume = () => {
      this.contents.close();
      this.connection.send("resume");
    };
    const left = contents.interview?.left ?? 0;
    return el(
      "details",
      {},
      el("summary", {}, this.word("interview")),
      el("p", {}, this.word("interview is")),
      !!contents.interview && el("p", {}, el("button", { class: "next", click: resume }, this.word("resume", { left }))),
      el(
        "div",
        { class: "bar" },
        el("label", {}, `${this.word("interview minutes")} `, minutes),
        el("label", {}, `${this.word("interview track")} `, track),
        el("button", { click: begin }, this.word("begin interview")),
      ),
    );
  }

  private drawStanding(): void {
    const { state } = this;
    if (!state) return;
    const task = state.interview?.task;
    const parts = [this.word("level", { level: state.level, minutes: state.minutes })];
    if (task) parts.unshift(this.word("task of", { number: task.number, of: task.of }));
    if (task?.tries) parts.push(this.word("best", { points: task.points }));
    if (state.attempts) parts.push(this.word("attempt", { number: state.attempts }));
    if (state.path) parts.push(this.word("minutes", { minutes: Math.floor(state.worked_s / 60) }));
    if (state.interview) {
      if (state.price) parts.push(this.word("hints cost", { price: state.price }));
    } else if (state.points !== null) {
      parts.push(this.word(state.price ? "after hints" : "points", { points: state.points, price: state.price }));
    } else if (state.price) parts.push(this.word("hints cost", { price: state.price }));
    if (state.end === "solved" || state.end === "given up") parts.push(this.word(state.end));
    if (this.isChanged) parts.push(this.word("unsaved"));
    filled(this.standing, parts.join(" · "));
    this.button.disabled = !this.connection.isOpen || !this.view;
  }

  // what one does

  private run(): void {
    const { state } = this;
    if (!state || !this.view || !this.connection.isOpen) return;
    if (!this.conflict.hidden) return this.sayForNow(this.word("changed", { path: this.shown }));
    if (!this.typed.trim()) return this.sayForNow(this.words.empty);
    this.connection.send("run", { problem: state.problem, text: this.typed, over: this.base.version });
  }

  private stop(): void {
    if (this.isRunning) this.connection.send("stop");
  }

  private get isRunning(): boolean {
    return this.state?.run?.reason === "";
  }

  private tryCall(call: string): boolean {
    const { state } = this;
    return !!state && !!this.view && this.connection.send("try", { problem: state.problem, text: this.typed, call });
  }

  private keepNote(): void {
    clearTimeout(this.noteTimer);
    this.noteTimer = setTimeout(() => this.sendNote(), KEEP_AFTER_MS);
  }

  private sendNote(): void {
    clearTimeout(this.noteTimer);
    if (this.note.value === this.noteKept) return;
    if (this.connection.send("note", { problem: this.noteOf, text: this.note.value })) this.noteKept = this.note.value;
  }

  private ask(text: string, question: string, kind: "take" | "give up" | "hand in"): void {
    const answer = (yes: boolean) => () => {
      this.offer.hidden = true;
      this.side.focus();
      if (yes) this.connection.send(kind);
    };
    const yes = el("button", { click: answer(true) }, this.word("yes"));
    const no = el("button", { click: answer(false) }, this.word("no"));
    filled(
      this.offer,
      text,
      !!question && ` ${question}`,
      el("div", { class: "bar" }, yes, no),
    );
    this.offer.hidden = false;
    (kind === "take" ? yes : no).focus(); // the others cannot be taken back
  }

  private drawAsks(state: DeskState): void {
    const language = el("button", { click: () => this.connection.send("language") }, this.word("key language"));
    if (state.interview && !state.interview.ended) {
      filled(this.asks, ...this.interviewAsks(state, state.interview.task), language);
      return;
    }
    const isOver = state.end === "solved" || state.end === "given up";
    const solution = () =>
      state.may_see ? this.connection.send("solution") : this.ask(this.word("give up"), "", "give up");
    const rating = el("select", {
      "aria-label": this.word("rating"),
      change: () => rating.value && this.connection.send("rate", { rating: rating.value }),
    });
    filled(
      rating,
      el("option", { value: "" }, this.word("rating")),
      ...RATINGS.map((one) => el("option", { value: one }, this.word(one))),
    );
    filled(
      this.asks,
      state.is_open && el("button", { click: () => this.connection.send("hint") }, this.word("hint")),
      (state.is_open || isOver || state.may_see) && el("button", { click: solution }, this.word("solution")),
      isOver && !state.is_open && el("button", { click: () => this.connection.send("begin") }, this.word("begin anew")),
      state.may_rate && rating,
      language,
    );
  }

  private drawHints(state: DeskState): void {
    const hint = ([title, text]: [string, string]) => el("p", { class: "hint" }, !!title && el("b", {}, `${title}\n`), text);
    drawHints(this.hints, state.hints.map(hint), this.words);
  }

  private drawRun(state: DeskState): void {
    const { run } = state;
    const heading = el("h2", {}, this.words.report);
    this.checks = null;
    this.stopping.hidden = !this.isRunning;
    if (!run) return void filled(this.report, heading, el("p", { class: "soft" }, this.word("no checks")));
    if (run.reason === "") {
      this.checks = el("ul", { class: "plain" }, ...(run.checks ?? []).map((one: Check) => checkRow(one, this.words)));
      return void filled(this.report, heading, el("p", {}, this.words.running), this.checks);
    }
    const told = { grade: "", problem: state.problem, version: 0, at: 0, ...run };
    const due = run.due ? el("p", {}, this.word("comes back", { day: run.due })) : null;
    filled(this.report, heading, runView(told, this.words), due);
  }

  private read(found: Solution): void {
    const difference = (text: string) =>
      el(
        "pre",
        { class: "diff" },
        ...text.split("\n").map((row) =>
          el("span", { class: row.startsWith("+") ? "added" : row.startsWith("-") ? "removed" : "soft" }, `${row}\n`),
        ),
      );
    filled(
      this.reading,
      el("h2", { tabindex: "-1", autofocus: true }, this.word("solution of", { title: this.state?.title ?? "" })),
      found.given_up && el("p", { class: "none" }, this.word("is given up")),
      el("pre", {}, found.source),
      found.slips.length > 0 && el("h3", {}, this.word("slips")),
      ...found.slips.flatMap((slip) => [el("b", {}, slip.title), el("p", {}, slip.explanation), difference(slip.difference)]),
      found.styles.length > 0 && el("h3", {}, this.word("styles")),
      ...found.styles.map((style) => el("p", {}, style)),
      el("button", { click: () => this.reading.close() }, this.word("close")),
    );
    this.reading.showModal();
  }

  private drawContents(contents: Contents): void {
    const open = (problem: string) => () => {
      this.contents.close();
      this.connection.send("open", { problem });
    };
    const entry = ([id, title, mark]: [string, string, string]) =>
      el(
        "button",
        { click: open(id), ...(id === this.state?.problem && { "aria-current": "true" }) },
        el("span", { class: `sign-${SIGNS[mark] ?? "new"}` }, `${mark} `),
        title,
      );
    filled(
      this.contents,
      el("h2", {}, this.word("next")),
      ...contents.next.map(([id, title, why]) =>
        el("button", { class: "next", click: open(id) }, el("b", {}, title), el("br"), why),
      ),
      contents.next.length === 0 && el("p", {}, this.word(contents.looked ? "all done" : "looking")),
      el("p", { class: "soft" }, this.word("by track", { solved: "✓", open: "●", due: "↻" })),
      el(
        "div",
        { class: "tracks" },
        ...contents.tracks.map(([, name, problems]) => el("section", {}, el("h3", {}, name), ...problems.map(entry))),
      ),
      this.interviewForm(contents),
      el("p", {}, el("a", { href: "/progress", target: "_blank" }, this.word("progress"))),
      el("p", {}, el("button", { click: () => this.contents.close() }, this.word("close"))),
    );
  }
}
