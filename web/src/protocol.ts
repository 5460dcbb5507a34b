// What the server says: the other half of `hub.py`.

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
  output?: { text: string };
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
  | { kind: "clock"; ends_at: number | null; at: number }
  | ({ kind: "noted" } & Noted);
