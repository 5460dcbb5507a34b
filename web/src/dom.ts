// Elements, made of text alone: nothing that anyone sent is ever read as HTML.

export type Child = Node | string | null | undefined | false;
type Attributes = Record<string, string | boolean | ((event: Event) => void)>;

export function el<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  attributes: Attributes = {},
  ...children: Child[]
): HTMLElementTagNameMap[K] {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === "function") made.addEventListener(name, value);
    else if (value === true) made.setAttribute(name, "");
    else if (value !== false) made.setAttribute(name, value);
  }
  made.append(...children.filter((child): child is Node | string => !!child));
  return made;
}

export function filled(parent: HTMLElement, ...children: Child[]): HTMLElement {
  parent.replaceChildren(...children.filter((child): child is Node | string => !!child));
  return parent;
}

export function time(seconds: number): string {
  const whole = Math.max(0, Math.floor(seconds));
  const parts = [Math.floor(whole / 60) % 60, whole % 60].map((part) => String(part).padStart(2, "0"));
  return whole < 3600 ? parts.join(":") : `${Math.floor(whole / 3600)}:${parts.join(":")}`;
}

/** The time of day where the reader is, of seconds since 1970. */
export function timeOfDay(at: number): string {
  return new Date(1000 * at).toLocaleTimeString("sv"); // 24 hours, as in ISO 8601
}

/** The same with its date. */
export function dateAndTime(at: number): string {
  return new Date(1000 * at).toLocaleString("sv");
}

/** A text of the bank, in which code stands between backticks. */
export function inline(text: string): (Node | string)[] {
  return text.split("`").map((part, number) => (number % 2 ? el("code", {}, part) : part));
}
