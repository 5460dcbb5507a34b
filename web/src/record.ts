// The playback of a room: its text at any moment, and what happened beside it.

import { ChangeSet, EditorState, Text } from "@codemirror/state";
import { EditorView } from "@codemirror/view";

import { dateAndTime, el, filled, time, timeOfDay } from "./dom";
import { looks } from "./editor";
import type { Report, Run } from "./protocol";
import { noVerdict, runView } from "./report";
import { type Words, put, wordsIn } from "./words";

export type Event = [at: number, who: string, kind: string, body: Record<string, unknown>];

interface Moment {
  at: number;
  problem: string;
  text: Text;
  run: Run | null;
}

const SPEEDS = [1, 2, 4, 8, 16];
const STEP_MS = 100;
const LONGEST_PAUSE_S = 20; // what nobody types in is passed over

/** Every moment of a recording; texts share what has not changed. */
export function moments(events: Event[]): Moment[] {
  const texts = new Map<string, Text>();
  const runs = new Map<string, Run>();
  let shown = "";
  let run: Run | null = null;
  let at = 0;
  let before = events[0]?.[0] ?? 0;
  return events.map(([when, , kind, body]) => {
    at += Math.min(when - before, LONGEST_PAUSE_S);
    before = when;
    const problem = body["problem"] as string;
    if (kind === "show") {
      shown = problem;
      run = null;
      if (body["text"] !== undefined) texts.set(problem, Text.of((body["text"] as string).split("\n")));
    } else if (kind === "change") {
      const text = texts.get(problem);
      if (text) texts.set(problem, ChangeSet.fromJSON(body["parts"]).apply(text));
    } else if (kind === "run") {
      runs.set(body["grade"] as string, { ...(body as unknown as Run), at: when, reason: "", message: "" });
    } else if (kind === "graded") {
      const begun = runs.get(body["grade"] as string);
      const report = body["report"] === null ? undefined : (JSON.parse(body["report"] as string) as Report);
      if (begun) run = { ...begun, reason: body["reason"] as string, message: body["message"] as string, report };
    }
    return { at, problem: shown, text: texts.get(shown) ?? Text.empty, run };
  });
}

/** Where a clock ran out there is an event as well, though nobody did anything. */
export function withTimeUp(events: Event[]): Event[] {
  let end = Infinity;
  return events.flatMap((event) => {
    const [at, , kind, body] = event;
    const isUp = end <= at;
    const up: Event = [end, "", "time is up", {}];
    if (isUp) end = Infinity;
    if (kind === "clock") end = (body["ends_at"] as number | null) ?? Infinity;
    return isUp ? [up, event] : [event];
  });
}

/** The roles in which several browsers were there: only they need numbers. */
function severalOf(events: Event[]): Set<string> {
  const came = new Set(events.filter(([, , kind]) => kind === "join").map(([, who, , body]) => `${who} ${String(body["number"])}`));
  const roles = [...came].map((one) => one.split(" ")[0] ?? "");
  return new Set(roles.filter((role, index) => roles.indexOf(role) !== index));
}

function cameOf(run: Run, words: Words): string {
  const { report } = run;
  if (!report) return noVerdict(run, words);
  const verdict = words[report.verdict as keyof Words] ?? report.verdict;
  return put(words.cameOfRun, { verdict, score: report.score, points: words.points });
}

function told(event: Event, run: Run | null, several: Set<string>, words: Words): string {
  const [, who, kind, body] = event;
  const number = several.has(who) && body["number"] !== undefined ? ` ${String(body["number"])}` : "";
  const by = who ? `${words[who as "candidate" | "interviewer"]}${number} ` : "";
  const said: Record<string, string> = {
    join: words.joined,
    leave: words.leaves,
    show: put(words.shows, { problem: body["problem"] as string }),
    run: words.ran,
    stop: words.stops,
    graded: run ? cameOf(run, words) : "",
    "time is up": words.timeUp,
    try: put(words.tried, { call: String(body["call"]) }),
    hint: put(words.tells, { text: body["text"] as string }),
    note: put(words.noted, { text: body["text"] as string }),
    clock: body["ends_at"] === null ? words.tookClock : put(words.setClock, { minutes: String(body["minutes"] ?? "") }),
    see: put(words.letSee, { level: words[`sees_${body["level"] as string}` as keyof Words] ?? "" }),
    pasted: put(words.pasted, { lines: body["lines"] as number }),
    focus: body["here"] ? words.back : words.left,
  };
  return said[kind] ? by + said[kind] : "";
}

export class RecordPage {
  private readonly moments: Moment[];
  private readonly words: Words;
  private readonly view: EditorView;
  private readonly side = el("section", { class: "side", tabindex: "0" });
  private readonly happened = el("ol", { class: "plain happened" });
  private readonly rows: { index: number; row: HTMLElement }[];
  private readonly slider: HTMLInputElement;
  private readonly shown = el("output");
  private readonly playing: HTMLButtonElement;
  private readonly speed: HTMLSelectElement;
  private at = 0;
  private timer: ReturnType<typeof setInterval> | null = null;

  private readonly events: Event[];

  constructor(root: HTMLElement, nonce: string, happened: Event[]) {
    const events = (this.events = withTimeUp(happened));
    const several = severalOf(events);
    const opened = events.find(([, , kind]) => kind === "open")?.[3];
    this.words = wordsIn((opened?.["language"] as string) ?? "en");
    const { words } = this;
    this.side.setAttribute("aria-label", words.report);
    this.moments = moments(events);
    this.rows = events.flatMap((event, index) => {
      const moment = this.moments[index];
      const said = told(event, moment?.run ?? null, several, words);
      if (!said) return [];
      const of = event[2] === "graded" ? (moment?.run?.report?.verdict ?? "none") : event[2];
      const elapsed = el("time", {}, time(moment?.at ?? 0));
      const day = el("time", { title: dateAndTime(event[0]) }, timeOfDay(event[0]));
      return [{ index, row: el("li", { class: of }, elapsed, " ", day, ` ${said}`) }];
    });
    const end = this.moments.at(-1)?.at ?? 0;
    this.slider = el("input", {
      type: "range", min: "0", max: String(end), step: "0.1", value: "0", "aria-label": words.place,
      input: () => this.go(Number(this.slider.value)),
    });
    this.playing = el("button", { click: () => this.toggle() }, words.play);
    this.speed = el(
      "select",
      { "aria-label": words.speed },
      ...SPEEDS.map((speed) => el("option", { value: String(speed) }, `${speed} ×`)),
    );
    const text = el("section", { class: "text" });
    const marks = el("div", { class: "marks" }, ...this.marks(end));
    filled(
      root,
      el(
        "header",
        {},
        el("h1", {}, words.record),
        this.playing,
        el("button", { click: () => this.jump(-1) }, words.lastRun),
        el("button", { click: () => this.jump(1) }, words.nextRun),
        this.speed,
        this.shown,
      ),
      el("div", { class: "place" }, marks, this.slider),
      el("main", { class: "recording" }, this.happened, text, this.side),
    );
    const state = EditorState.create({ extensions: [looks(nonce), EditorState.readOnly.of(true), EditorView.editable.of(false)] });
    this.view = new EditorView({ state, parent: text });
    if (events.length) this.go(0);
    else filled(this.side, words.noEvents);
  }

  private marks(end: number): HTMLElement[] {
    return this.moments.flatMap((moment, index) => {
      if (this.events[index]?.[2] !== "graded" || !moment.run) return [];
      const report = moment.run.report;
      const verdict = report?.verdict ?? "none";
      const mistakes = (report?.diagnoses ?? []).map((one) => one.title).join("; ");
      const mark = el("button", {
        class: `mark ${verdict}`,
        title: [this.words[verdict as keyof Words] ?? verdict, report?.score, mistakes].filter(Boolean).join(" · "),
        click: () => this.go(moment.at),
      });
      mark.style.left = `${end ? (100 * moment.at) / end : 0}%`;
      return [mark];
    });
  }

  private go(at: number): void {
    this.at = at;
    this.draw(Math.max(0, this.moments.findLastIndex((moment) => moment.at <= at + STEP_MS / 1000)));
  }

  private draw(index: number): void {
    const moment = this.moments[index];
    if (!moment) return;
    this.slider.value = String(this.at);
    const now = (this.events[index]?.[0] ?? 0) + Math.max(0, this.at - moment.at);
    filled(this.shown, `${time(this.at)} / ${time(this.moments.at(-1)?.at ?? 0)} · ${dateAndTime(now)}`);
    if (!moment.text.eq(this.view.state.doc)) {
      this.view.dispatch({ changes: { from: 0, to: this.view.state.doc.length, insert: moment.text } });
    }
    filled(this.side, el("h2", {}, this.words.report), moment.run && runView(moment.run, this.words));
    const before = this.rows.filter((one) => one.index <= index).map((one) => one.row);
    filled(this.happened, ...before.reverse());
  }

  private jump(direction: 1 | -1): void {
    const runs = this.moments.filter((_, index) => this.events[index]?.[2] === "graded").map((moment) => moment.at);
    const next = direction > 0 ? runs.find((at) => at > this.at) : runs.findLast((at) => at < this.at);
    if (next !== undefined) this.go(next);
  }

  private toggle(): void {
    if (this.timer !== null) {
      clearInterval(this.timer);
      this.timer = null;
    } else {
      const end = this.moments.at(-1)?.at ?? 0;
      if (this.at >= end) this.go(0);
      this.timer = setInterval(() => {
        this.go(Math.min(end, this.at + (Number(this.speed.value) * STEP_MS) / 1000));
        if (this.at >= end) this.toggle();
      }, STEP_MS);
    }
    filled(this.playing, this.timer === null ? this.words.play : this.words.pause);
  }
}
