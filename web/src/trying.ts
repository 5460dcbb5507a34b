// A call of one's own, and what came of it beside the reference.

import { type Child, el, filled } from "./dom";
import type { Attempt } from "./protocol";
import { type Words, put, wordsIn } from "./words";

export class Trying {
  readonly element = el("details", { class: "try" });
  private words: Words = wordsIn("en");
  private isAsking = false;
  private waiting = ""; // the call that is made after the one that is asked
  private readonly call = el("textarea", { class: "wide", rows: "2", spellcheck: "false", maxlength: "10000" });
  private readonly came = el("div", { "aria-live": "polite" });

  /** `ask` sends a call, and says whether it could. */
  constructor(private readonly ask: (call: string) => boolean) {}

  /** Say all in a language; what is typed stays. */
  name(words: Words): void {
    this.words = words;
    this.call.placeholder = words.call;
    this.call.setAttribute("aria-label", words.call);
    const button = el("button", { click: () => this.send() }, words.tryIt);
    filled(this.element, el("summary", {}, words.try), this.call, button, this.came);
  }

  /** Forget what was asked, and what came. */
  clear(): void {
    this.isAsking = false;
    this.waiting = "";
    filled(this.came);
  }

  /** The connection is away: what was asked is not answered. */
  lost(): void {
    if (this.isAsking) this.clear();
  }

  refuse(why: string): void {
    this.show(el("p", { class: "none" }, why));
  }

  private send(): void {
    const call = this.call.value.trim();
    if (!call) return;
    if (!this.isAsking) return this.begin(call);
    this.waiting = call;
    filled(this.came, this.isGoingOn(this.words.trying), this.isGoingOn(put(this.words.triedNext, { call })));
  }

  private begin(call: string): void {
    this.isAsking = this.ask(call);
    if (this.isAsking) filled(this.came, this.isGoingOn(this.words.trying));
  }

  private isGoingOn(text: string): HTMLElement {
    return el("p", { class: "soft" }, text);
  }

  /** Show what came, and go on with the call that waits. */
  private show(...came: Child[]): void {
    const call = this.waiting;
    this.clear();
    if (call) this.begin(call);
    this.came.prepend(el("div", {}, ...came));
  }

  answer(attempt: Attempt): void {
    const { words } = this;
    const line = (name: string, text: string) => el("div", {}, el("span", { class: "soft" }, `${name}:`), el("pre", {}, text));
    const hasError = !!attempt.expected_error || !!attempt.got_error;
    this.show(
      el("p", {}, el("code", {}, attempt.call)),
      attempt.inputs.length > 0 && el("p", { class: "soft" }, attempt.inputs.join(", ")),
      hasError && !attempt.wrong && el("p", { class: "accepted" }, `✓ ${words.bothRefuse}`),
      !!attempt.expected_error && line(words.reference, attempt.expected_error),
      !!attempt.got_error && line(words.yours, [attempt.got_error, attempt.where].filter(Boolean).join("\n")),
      ...attempt.results.flatMap((one) => [
        one.fault
          ? el("p", { class: "rejected" }, `✗ ${one.fault}`)
          : !attempt.got_error && el("p", { class: "accepted" }, `✓ ${put(words.isRight, { name: one.name })}`),
        !!one.expected && line(words.expected, one.expected),
        !!one.fault && !!one.got && line(words.yours, one.got),
      ]),
      attempt.weights.length > 0 &&
        el("details", {}, el("summary", {}, words.weights), ...attempt.weights.map(([name, text]) => line(name, text))),
      !!attempt.printed.trim() && line(words.printed, attempt.printed.trim()),
    );
  }
}
