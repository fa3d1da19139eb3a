/** The view of a connection, for whatever page or widget has a place for it. */
import { render } from "preact";
import type { Transport } from "./feed";
import { Store } from "./store";
import { App } from "./view/app";

export { connectFeed } from "./socket";
export type { Transport } from "./feed";

/** A frame that takes longer to draw than this, in milliseconds, is followed by a pause: the user comes first. */
const LONG = 16;
/** How long the pause is, in times of what was drawn. */
const PAUSE = 3;

/**
 * Shows what comes through `transport` in `place`, and draws at most once per frame.
 *
 * @param options.focus the keyboard is the view's at once, as is right for one that has a window to itself.
 * @returns a function that ends it and closes the transport.
 */
export function mount(place: HTMLElement, transport: Transport, options: { focus?: boolean } = {}): () => void {
  const store = new Store(transport);
  let frame = 0;
  let pause = 0;
  let changed = false;
  const draw = () => {
    frame = 0;
    changed = false;
    const began = performance.now();
    render(<App store={store} view={store.view} />, place);
    const cost = performance.now() - began;
    if (cost > LONG) pause = window.setTimeout(resume, cost * PAUSE);
  };
  const drawSoon = () => {
    changed = true;
    if (frame === 0 && pause === 0) frame = requestAnimationFrame(draw);
  };
  const resume = () => {
    pause = 0;
    if (changed) drawSoon();
  };
  store.watch(drawSoon);
  draw();
  if (options.focus) (place.firstElementChild as HTMLElement | null)?.focus();
  return () => {
    cancelAnimationFrame(frame);
    clearTimeout(pause);
    store.close();
    render(null, place);
  };
}
