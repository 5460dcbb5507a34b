// What came of a run, as far as the server tells it.

import { el } from "./dom";
import type { Check, Diagnosis, Question, Report, Run } from "./protocol";
import type { Words } from "./words";

const SIGNS: Record<string, string> = { passed: "✓", not_assessed: "–" };

export function checkRow(check: Check, words: Words): HTMLElement {
  const said = words[check.outcome as keyof Words] ?? check.outcome;
  const message = check.outcome === "passed" ? "" : (check.message ?? "");
  return el(
    "li",
    { class: `check ${check.outcome}` },
    el("span", { class: "sign", "aria-label": said, title: said }, SIGNS[check.outcome] ?? "✗"),
    el(
      "span",
      {},
      check.title,
      check.advisory && el("small", {}, ` (${words.advisory})`),
      !!message && el("span", { class: "message" }, message),
      !!check.explanation && el("span", { class: "message" }, check.explanation),
    ),
  );
}

function diagnosis(one: Diagnosis, words: Words): HTMLElement | null {
  if (!one.title && !one.hint) return null;
  return el(
    "li",
    { class: "mistake" },
    !!one.title && el("b", {}, one.title),
    !!one.explanation && el("p", {}, one.explanation),
    !!one.hint && el("p", { class: "soft" }, `${words.hint}: ${one.hint}`),
  );
}

function failingCall(call: NonNullable<Report["failing_call"]>, words: Words): HTMLElement {
  return el(
    "details",
    { open: true },
    el("summary", {}, words.smallest),
    el("pre", {}, call.code),
    !!call.fault && el("p", {}, call.fault),
    !!call.expected && el("p", {}, `${words.expected}: `, el("code", {}, call.expected)),
    el("p", {}, `${words.got}: `, el("code", {}, call.got)),
  );
}

export function questionList(heading: string, asked: Question[], words: Words): HTMLElement | null {
  if (!asked.length) return null;
  const items = asked.map((one) =>
    el(
      "details",
      { class: "question" },
      el("summary", {}, one.question),
      !!one.about && el("p", { class: "soft" }, one.about),
      el("p", { class: "soft" }, words.goodAnswer),
      el("ul", {}, ...one.good_answer.map((point) => el("li", {}, point))),
    ),
  );
  return el("section", {}, el("h3", {}, heading), ...items);
}

/** One run: the verdict first, as a word beside its colour, then why. */
export function runView(run: Run, words: Words): HTMLElement {
  const report = run.report;
  if (!report) {
    return el("p", { class: "none" }, `${words.noVerdict}: ${run.message}`);
  }
  const checks = report.checks ?? [];
  const failed = checks.filter((check) => !["passed", "not_assessed"].includes(check.outcome));
  const others = checks.filter((check) => !failed.includes(check));
  const passed = others.filter((check) => check.outcome === "passed").length;
  const strict = report.strict_score !== report.score;
  const load = report.load_problem;
  return el(
    "div",
    { class: "report" },
    el(
      "p",
      { class: `verdict ${report.verdict}` },
      el("b", {}, words[report.verdict as keyof Words] ?? report.verdict),
      ` ${report.score} ${words.points}`,
      strict && el("small", {}, ` (${report.strict_score} ${words.strict})`),
    ),
    load && el("p", { class: "mistake" }, load.line === null ? load.message : `${words.line} ${load.line}: ${load.message}`),
    el("ul", { class: "plain" }, ...(report.diagnoses ?? []).map((one) => diagnosis(one, words))),
    report.failing_call ? failingCall(report.failing_call, words) : null,
    failed.length > 0 && el("ul", { class: "plain" }, ...failed.map((check) => checkRow(check, words))),
    others.length > 0 &&
      el(
        "details",
        {},
        el("summary", {}, `${words.checks}: ${passed} ✓${passed < others.length ? `, ${others.length - passed} –` : ""}`),
        el("ul", { class: "plain" }, ...others.map((check) => checkRow(check, words))),
      ),
    !!report.output?.text &&
      el("details", {}, el("summary", {}, words.printed), el("pre", {}, report.output.text)),
    run.questions ? questionList(words.onMistakes, run.questions.mistakes, words) : null,
    run.questions ? questionList(words.nearMisses, run.questions.near_misses, words) : null,
  );
}
