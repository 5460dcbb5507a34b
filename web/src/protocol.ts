// What the servers say: the other half of `hub.py` of rooms and of `desk.py` of practice.

export type Role = "candidate" | "interviewer";
export type Changes = [client: string, parts: unknown][];

export interface Check {
  id?: string;
  title: string;
  outcome: string;
  points: number;
  max_points: number;
  message?: string;
  explanation?: string;
  advisory: boolean;
  sample?: Sample | null;
}

type Grid = (number | null)[][];

/** A part of what was expected and of what came; null is NaN or infinite. */
export interface Sample {
  label: string;
  place: string;
  expected: Grid;
  actual: Grid;
}

export interface Diagnosis {
  title?: string;
  explanation?: string;
  hint?: string;
  severity?: string;
  cost: number;
}

export interface Report {
  verdict: string;
  score: number;
  strict_score: number;
  max_score: number;
  load_problem: { message: string; line: number | null } | null;
  checks?: Check[];
  diagnoses?: Diagnosis[];
  failing_call?: {
    code: string;
    fault?: string;
    expected?: string;
    got: string;
  } | null;
  wrong_where?: string;
  policy?: { line: number | null; message: string }[];
  notes?: string[];
  no_gpu?: string;
  output?: { text: string };
  unnamed?: number; // mistakes that no hint has told yet
  first?: string; // where to look first
}

export interface Question {
  question: string;
  good_answer: string[];
  about?: string;
}

export interface Run {
  grade: string;
  problem: string;
  version: number;
  at: number;
  reason: string;
  message: string;
  report?: Report;
  questions?: { mistakes: Question[]; near_misses: Question[] };
}

export interface Said {
  text: string;
  at: number;
}

export interface Noted {
  what: string;
  who: Role;
  at: number;
  text?: string;
  lines?: number;
  here?: boolean;
}

export interface RoomState {
  kind: "room";
  role: Role;
  now: number;
  language: "en" | "zh";
  problem: string;
  title: string;
  task: string;
  fine_print: string;
  version: number;
  text?: string;
  sees: string;
  ends_at: number | null;
  hints: Said[];
  runs: Run[];
  problems?: [string, string][];
  notes?: Noted[];
  questions?: Question[];
}

export type Message =
  | RoomState
  | { kind: "changes"; problem: string; version: number; changes: Changes }
  | { kind: "refused"; what: string; why: string }
  | { kind: "cursor"; who: Role; number: number; problem: string; anchor: number; head: number }
  | { kind: "people"; people: [number, Role][]; you: number }
  | ({ kind: "run" | "graded" } & Run)
  | { kind: "check"; grade: string; check: Check }
  | ({ kind: "hint" } & Said)
  | { kind: "clock"; ends_at: number | null }
  | { kind: "tried"; attempt: Attempt }
  | ({ kind: "noted" } & Noted);

// practice

export interface DeskState {
  kind: "state";
  problem: string; // empty while nothing is shown
  title: string;
  level: number;
  minutes: number;
  task: string;
  fine_print: string;
  folder: string;
  path: string;
  file: { text?: string; version?: string; why?: string } | null;
  is_open: boolean;
  end: string | null;
  attempts: number;
  worked_s: number;
  points: number | null;
  price: number;
  may_rate: boolean;
  may_see: boolean;
  hints: [title: string, text: string][];
  note: string;
  trouble: string;
  run: { reason: string; message: string; report?: Report; checks?: Check[]; due?: string } | null;
  interview: MockInterview | null;
}

export interface MockInterview {
  left_s: number;
  task: { number: number; of: number; tries: number; points: number; file: string } | null;
  said: { question: string; right: boolean; why: string; told: string } | null;
  question: {
    number: number;
    of: number;
    text: string;
    choices?: [letter: string, text: string][];
    answer?: string | null;
    good?: string[];
  } | null;
  ended: { lines: string[]; paths: string[] } | null;
}

export interface Contents {
  kind: "contents";
  tracks: [track: string, name: string, problems: [id: string, title: string, mark: string][]][];
  next: [id: string, title: string, why: string][];
  looked: boolean;
  interview: { left: number } | null; // one that could be gone on with
}

export interface Attempt {
  call: string;
  inputs: string[];
  results: { name: string; expected: string; got: string; fault: string }[];
  expected_error: string;
  got_error: string;
  where: string;
  weights: [name: string, numbers: string][];
  printed: string;
  wrong: boolean;
}

export interface Solution {
  kind: "solution";
  given_up: boolean;
  source: string;
  slips: { title: string; explanation: string; difference: string }[];
  styles: string[];
}

export type DeskMessage =
  | { kind: "words"; language: "en" | "zh"; words: Record<string, string> }
  | Contents
  | DeskState
  | Solution
  | { kind: "check"; check: Check }
  | { kind: "offer"; text: string }
  | { kind: "tried"; attempt: Attempt }
  | { kind: "said"; text: string }
  | { kind: "refused"; what: string; why: string };
