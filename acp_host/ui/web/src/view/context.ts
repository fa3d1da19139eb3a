/** What every part of the view can use: the host, and what the user has opened and closed. */
import { Component, createContext, type FunctionComponent, h } from "preact";
import { useContext, useState } from "preact/hooks";
import type { Store } from "../store";
import type { DrawBudget } from "./draw_budget";

export interface ViewContext {
  store: Store;
  /** The name that host-drawn frames call the agent by. */
  agent: string;
  /** The session that is shown. */
  session: string | null;
  /** Whether this viewer may act; an observer looks on. */
  controls: boolean;
  /** What the user has set for parts that come and go as the list scrolls, by name. */
  kept: Map<string, unknown>;
  /** Makes an `id` that no other view of the document has. */
  id: (name: string) => string;
  /** Whether the view has a window of its own, so that the keyboard is its by right. */
  alone: boolean;
  /** Decides which entries are drawn in this frame. */
  budget: DrawBudget;
  /** Shows that a command failed. */
  failed: (problem: string) => void;
}

export const Context = createContext<ViewContext | null>(null);

export function useView(): ViewContext {
  const context = useContext(Context);
  if (context === null) throw new Error("the view is not mounted");
  return context;
}

/** Returns the element that has the keyboard, as the document or the shadow root that `element` is in sees it. */
export function focusedBeside(element: Element): Element | null {
  const root = element.getRootNode() as Document | ShadowRoot;
  return root.activeElement === document.body ? null : root.activeElement;
}

/** State that survives the part that shows it. */
export function useKept<T>(name: string, initial: T): [T, (value: T) => void] {
  const { kept } = useView();
  const [, redraw] = useState(0);
  const value = kept.has(name) ? (kept.get(name) as T) : initial;
  return [
    value,
    (next: T) => {
      kept.set(name, next);
      redraw((count) => count + 1);
    },
  ];
}

/** The same, for each session by itself. */
export function useKeptOfSession<T>(name: string, initial: T): [T, (value: T) => void] {
  const { session } = useView();
  return useKept(`${name} of ${session}`, initial);
}

/** Returns a function that asks the host for something and shows why it failed, if it does. */
export function useCommand(): (name: string, parameters?: { [name: string]: unknown }) => Promise<boolean> {
  const { store, failed } = useView();
  return (name, parameters) =>
    store.command(name, parameters).then(
      () => true,
      (error: Error) => {
        failed(error.message);
        return false;
      },
    );
}

/** A part that is drawn again only when one of its properties is another value. */
export function memo<P extends object>(part: FunctionComponent<P>): FunctionComponent<P> {
  class Memo extends Component<P> {
    override shouldComponentUpdate(next: Readonly<P>): boolean {
      const before = this.props as { [name: string]: unknown };
      const after = next as { [name: string]: unknown };
      return Object.keys({ ...before, ...after }).some((name) => before[name] !== after[name]);
    }
    render() {
      return h(part, this.props as P & { children?: never });
    }
  }
  return Memo as unknown as FunctionComponent<P>;
}
