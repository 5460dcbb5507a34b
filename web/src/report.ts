// What came of a run, as far as the server tells it.

import { el, filled, inline } from "./dom";
import type { Check, Diagnosis, Question, Report, Run, Sample } from "./protocol";
import { type Words, put } from "./words";

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
    !!one.title && one.cost > 0 && el("small", {}, `  −${one.cost}`),
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

/** Both grids side by side, under one scale: the darker, the higher. */
function picture(sample: Sample, title: string, words: Words): HTMLElement {
  const all = [...sample.expected, ...sample.actual].flat();
  const numbers = all.filter((one): one is number => one !== null);
  const [low, high] = numbers.length ? [Math.min(...numbers), Math.max(...numbers)] : [0, 0];
  const shade = (one: number) => (high > low ? (one - low) / (high - low) : 0.5);
  const grid = (name: string, rows: Sample["expected"]) =>
    el(
      "table",
      { class: "grid" },
      el("caption", {}, name),
      ...rows.map((row) =>
        el(
          "tr",
          {},
          ...row.map((one) => {
            const told = one === null ? "?" : one.toPrecision(3);
            return el("td", { class: `shade-${one === null ? "none" : Math.round(9 * shade(one))}`, title: told }, one === null ? "?" : "");
          }),
        ),
      ),
    );
  const scale = put(words.scale, { low: low.toPrecision(3), high: high.toPrecision(3) });
  return el(
    "figure",
    {},
    el("figcaption", { class: "soft" }, `${words.howItShows}: ${title}: ${sample.label}${sample.place}`),
    el("div", { class: "grids" }, grid(words.expected, sample.expected), grid(words.got, sample.actual)),
    el("p", { class: "soft" }, scale),
  );
}

export function questionList(heading: string, asked: Question[], words: Words): HTMLElement | null {
  if (!asked.length) return null;
  const items = asked.map((one) =>
    el(
      "details",
      { class: "question" },
      el("summary", {}, ...inline(one.question)),
      !!one.about && el("p", { class: "soft" }, one.about),
      el("p", { class: "soft" }, words.goodAnswer),
      el("ul", {}, ...one.good_answer.map((point) => el("li", {}, ...inline(point)))),
    ),
  );
  return el("section", {}, el("h3", {}, heading), ...items);
}

/** All hints, in an element of bounded height; a new one is scrolled to. */
export function drawHints(element: HTMLElement, hints: HTMLElement[], words: Words): void {
  const isMore = hints.length >= element.childElementCount;
  filled(element, el("h2", {}, words.hints), ...hints);
  element.setAttribute("aria-label", words.hints);
  element.hidden = hints.length === 0;
  if (isMore) element.scrollTop = element.scrollHeight;
}

/** Why there is no report of a run. */
export function noVerdict(run: Run, words: Words): string {
  return run.reason === "cancelled" ? words.stopped : `${words.noVerdict}: ${run.message}`;
}

/** One run: the verdict first, as a word beside its colour, then why. */
export function runView(run: Run, words: Words): HTMLElement {
  const report = run.report;
  if (!report) return el("p", { class: "none" }, noVerdict(run, words));
  const checks = report.checks ?? [];
  const failed = checks.filter((check) => !["passed", "not_assessed"].includes(check.outcome));
  const others = checks.filter((check) => !failed.includes(check));
  const passed = others.filter((check) => check.outcome === "passed").length;
  const strict = report.strict_score !== report.score;
  const load = report.load_problem;
  const drawn = [...failed.filter((check) => check.title === report.first), ...failed].find((check) => check.sample);
  const place = (line: number | null) => (line === null ? "" : `${words.line} ${line}: `);
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
    load && el("p", { class: "mistake" }, `${place(load.line)}${load.message}`),
    el("ul", { class: "plain" }, ...(report.diagnoses ?? []).map((one) => diagnosis(one, words))),
    !!report.unnamed && el("p", { class: "soft" }, words.notNamed),
    report.failing_call ? failingCall(report.failing_call, words) : null,
    !!report.wrong_where && el("p", {}, put(words.wrongWhere, { where: report.wrong_where })),
    !!report.first && failed.length > 1 && el("p", {}, el("b", {}, `${words.mendFirst}: `), report.first),
    drawn?.sample ? picture(drawn.sample, drawn.title, words) : null,
    failed.length > 0 && el("ul", { class: "plain" }, ...failed.map((check) => checkRow(check, words))),
    others.length > 0 &&
      el(
        "details",
        {},
        el(
          "summary",
          {},
          `${words.checks}: ${passed} ✓${passed < others.length ? `, ${others.length - passed} – (${words.not_assessed})` : ""}`,
        ),
        el("ul", { class: "plain" }, ...others.map((check) => checkRow(check, words))),
      ),
    ...(report.policy ?? []).map((one) => el("p", { class: "mistake" }, `${words.rule}: ${place(one.line)}${one.message}`)),
    ...(report.notes ?? []).map((note) => el("p", { class: "soft" }, `${words.remark}: ${note}`)),
    !!report.no_gpu && el("p", { class: "soft" }, `– ${words.not_assessed}: ${report.no_gpu.split(": ")[0]}`),
    !!report.output?.text &&
      el("details", {}, el("summary", {}, words.printed), el("pre", {}, report.output.text)),
    run.questions ? questionList(words.onMistakes, run.questions.mistakes, words) : null,
    run.questions ? questionList(words.nearMisses, run.questions.near_misses, words) : null,
  );
}
