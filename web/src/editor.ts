// The text that all in a room edit: CodeMirror, its rebasing, and where the others' cursors are.

import { collab, getSyncedVersion, receiveUpdates, sendableUpdates } from "@codemirror/collab";
import { defaultKeymap, history, historyKeymap, indentWithTab } from "@codemirror/commands";
import { python } from "@codemirror/lang-python";
import { HighlightStyle, bracketMatching, indentOnInput, indentUnit, syntaxHighlighting } from "@codemirror/language";
import { ChangeSet, EditorState, type Extension, StateEffect, StateField } from "@codemirror/state";
import {
  Decoration,
  EditorView,
  WidgetType,
  drawSelection,
  highlightActiveLine,
  highlightSpecialChars,
  keymap,
  lineNumbers,
} from "@codemirror/view";
import { tags } from "@lezer/highlight";

import type { Changes, Role } from "./protocol";

const MAX_UNITS = 256 * 1024;
const CURSOR_EVERY_MS = 150;
const PUSH_EVERY_MS = 80; // a key that is held down would send more than the server takes

const LABEL_COLUMNS = 16; // about what a label is wide

interface Cursor {
  number: number;
  who: Role;
  label: string;
  anchor: number;
  head: number;
}

const moved = StateEffect.define<Cursor>();
const gone = StateEffect.define<number[]>();

const highlighting = HighlightStyle.define([
  { tag: tags.keyword, class: "tok-keyword" },
  { tag: [tags.string, tags.special(tags.string)], class: "tok-string" },
  { tag: tags.comment, class: "tok-comment" },
  { tag: [tags.number, tags.bool, tags.null], class: "tok-number" },
  { tag: [tags.function(tags.definition(tags.variableName)), tags.className], class: "tok-name" },
]);

/** What every editor and every playback shows a text with. */
export function looks(nonce: string): Extension[] {
  return [
    EditorView.cspNonce.of(nonce),
    lineNumbers(),
    highlightSpecialChars(), // one that turns the direction of writing could hide what a line does
    python(),
    indentUnit.of("    "),
    syntaxHighlighting(highlighting),
    drawSelection(),
    bracketMatching(),
  ];
}

/** What one writes a text with; Ctrl-Enter runs it, with Shift it is stopped. */
export function writes(label: string, run: () => void, stop: () => void): Extension[] {
  return [
    history(),
    indentOnInput(),
    highlightActiveLine(),
    EditorState.transactionFilter.of((transaction) =>
      transaction.newDoc.length > MAX_UNITS && transaction.newDoc.length > transaction.startState.doc.length
        ? []
        : transaction,
    ),
    keymap.of([
      { key: "Mod-Enter", run: () => (run(), true), shift: () => (stop(), true) },
      ...defaultKeymap,
      ...historyKeymap,
      indentWithTab,
    ]),
    EditorView.contentAttributes.of({ "aria-label": label }),
  ];
}

class Caret extends WidgetType {
  constructor(
    private readonly cursor: Cursor,
    private readonly below: number, // labels that stand above this one; the first stands above its line
  ) {
    super();
  }

  override eq(other: Caret): boolean {
    return other.cursor.label === this.cursor.label && other.below === this.below;
  }

  toDOM(): HTMLElement {
    const caret = document.createElement("span");
    caret.className = `caret caret-${this.cursor.who}`;
    caret.dataset["label"] = this.cursor.label;
    if (this.below) caret.style.setProperty("--below", String(this.below));
    caret.classList.toggle("caret-below", this.below > 0);
    caret.setAttribute("aria-hidden", "true");
    return caret;
  }
}

const cursors = StateField.define<Map<number, Cursor>>({
  create: () => new Map(),
  update(found, transaction) {
    let next = found;
    if (transaction.docChanged) {
      const at = (place: number) => transaction.changes.mapPos(place, 1);
      next = new Map([...next].map(([n, one]) => [n, { ...one, anchor: at(one.anchor), head: at(one.head) }]));
    }
    for (const effect of transaction.effects) {
      if (effect.is(moved)) next = new Map(next).set(effect.value.number, effect.value);
      if (effect.is(gone)) next = new Map([...next].filter(([number]) => !effect.value.includes(number)));
    }
    return next;
  },
  provide: (field) =>
    EditorView.decorations.compute([field], (state) => {
      const marks = [];
      let before: { head: number; below: number } | null = null;
      for (const cursor of [...state.field(field).values()].sort((one, other) => one.head - other.head)) {
        const [from, to] = [Math.min(cursor.anchor, cursor.head), Math.max(cursor.anchor, cursor.head)];
        const { head } = cursor;
        if (from < to) marks.push(Decoration.mark({ class: `chosen chosen-${cursor.who}` }).range(from, to));
        const isNear = before && head - before.head < LABEL_COLUMNS && before.head >= state.doc.lineAt(head).from;
        const below: number = before && isNear ? before.below + 1 : 0; // their labels would lie on each other
        marks.push(Decoration.widget({ widget: new Caret(cursor, below), side: 1 }).range(head));
        before = { head, below };
      }
      return Decoration.set(marks, true);
    }),
});

export interface Outside {
  push(version: number, client: string, changes: unknown[]): boolean;
  cursor(anchor: number, head: number): void;
  pasted(units: number, lines: number): void;
  tooLong(): void;
  run(): void;
  stop(): void;
}

/** The text of one problem. One that is not shown goes on with what is still to be sent. */
export class Editor {
  readonly view: EditorView;
  private isPushing = false;
  private pushedAt = -PUSH_EVERY_MS;
  private pushTimer: ReturnType<typeof setTimeout> | null = null;
  private onceSent: (() => void)[] = [];
  private cursorTimer: ReturnType<typeof setTimeout> | null = null;
  private ownText = ""; // copied or cut here: moving it is no paste from elsewhere

  constructor(
    readonly problem: string,
    text: string,
    version: number,
    nonce: string,
    label: string,
    private readonly outside: Outside,
  ) {
    const state = EditorState.create({
      doc: text,
      extensions: [
        looks(nonce),
        writes(label, () => outside.run(), () => outside.stop()),
        collab({ startVersion: version }),
        cursors,
        EditorView.updateListener.of((update) => {
          if (update.docChanged) this.push();
          if (update.docChanged || update.selectionSet) this.tellCursor();
        }),
        EditorView.domEventHandlers({
          paste: (event, view) => {
            const pasted = event.clipboardData?.getData("text/plain") ?? "";
            const { from, to } = view.state.selection.main;
            if (view.state.doc.length - (to - from) + pasted.length > MAX_UNITS) {
              outside.tooLong();
              event.preventDefault();
              return true;
            }
            const lines = pasted.replace(/(\r\n?|\n)$/, "").split(/\r\n?|\n/).length;
            if (lines > 1 && pasted !== this.ownText) outside.pasted(pasted.length, lines);
            return false;
          },
          copy: (_, view) => this.keep(view),
          cut: (_, view) => this.keep(view),
        }),
      ],
    });
    this.view = new EditorView({ state });
  }

  private keep(view: EditorView): boolean {
    const { from, to } = view.state.selection.main;
    this.ownText = view.state.sliceDoc(from, to);
    return false;
  }

  get isBlank(): boolean {
    return !this.view.state.doc.toString().trim();
  }

  get version(): number {
    return getSyncedVersion(this.view.state);
  }

  /** Take changes that the server has, our own among them. */
  receive(version: number, changes: Changes): void {
    const known = this.version;
    const fresh = changes.slice(changes.length - (version - known));
    if (version - known > changes.length) throw new Error("changes are missing");
    if (version > known) {
      const updates = fresh.map(([clientID, parts]) => ({ clientID, changes: ChangeSet.fromJSON(parts) }));
      this.view.dispatch(receiveUpdates(this.view.state, updates));
    }
    this.isPushing = false;
    this.push();
    this.settle();
  }

  /** Send what is not sent yet, once what was sent has been answered. */
  push(): void {
    if (this.isPushing || this.pushTimer !== null) return;
    const wait = this.pushedAt + PUSH_EVERY_MS - performance.now();
    if (wait > 0) {
      this.pushTimer = setTimeout(() => {
        this.pushTimer = null;
        this.push();
      }, wait);
      return;
    }
    const updates = sendableUpdates(this.view.state).slice(0, 200);
    const client = updates[0]?.clientID;
    if (client === undefined) return;
    const changes: unknown[] = [];
    let size = 0;
    for (const update of updates) {
      const parts = update.changes.toJSON() as unknown;
      size += JSON.stringify(parts).length;
      if (changes.length && size > MAX_UNITS) break; // the server takes no message of any length
      changes.push(parts);
    }
    this.pushedAt = performance.now();
    this.isPushing = this.outside.push(this.version, client, changes);
  }

  /** Start again after the connection was away, or the server said no. */
  again(): void {
    this.isPushing = false;
    this.push();
  }

  /** The connection is away: what was to be done once all is sent is not done. */
  lost(): void {
    this.onceSent = [];
  }

  /** Do something once the server has all that was typed here. */
  whenSent(then: () => void): void {
    this.onceSent.push(then);
    this.settle();
  }

  private settle(): void {
    if (sendableUpdates(this.view.state).length) return;
    for (const then of this.onceSent.splice(0)) then();
  }

  moveCursor(cursor: Cursor): void {
    const within = (place: number) => Math.min(place, this.view.state.doc.length);
    const kept = { ...cursor, anchor: within(cursor.anchor), head: within(cursor.head) };
    this.view.dispatch({ effects: moved.of(kept) });
  }

  keepCursorsOf(numbers: number[]): void {
    const left = [...this.view.state.field(cursors).keys()].filter((number) => !numbers.includes(number));
    if (left.length) this.view.dispatch({ effects: gone.of(left) });
  }

  private tellCursor(): void {
    this.cursorTimer ??= setTimeout(() => {
      this.cursorTimer = null;
      const { anchor, head } = this.view.state.selection.main;
      this.outside.cursor(anchor, head);
    }, CURSOR_EVERY_MS);
  }
}
