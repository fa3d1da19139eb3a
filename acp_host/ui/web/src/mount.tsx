/** The view of a connection, for whatever page or widget has a place for it. */
import { render } from "preact";
import type { Transport } from "./feed";
import { Store } from "./store";
import { App } from "./view/app";
import { warmUp } from "./warm_up";

/** A frame that takes longer to draw than this, in milliseconds, is followed by a pause: the user comes first. */
const LONG = 16;
/** How long the pause is, in times of what was drawn. */
const PAUSE = 3;

let mounted = 0;

/**
 * Shows what comes through `transport` in `place`, and draws at most once per frame.
 *
 * @param place an element or a shadow root; it has to have a height, or say how high the view is by `--acp-height`.
 * @param options.focus the view has a window to itself: the keyboard is its at once, and what asks for the user takes it.
 * @returns a function that ends it and closes the transport.
 */
export function mount(place: HTMLElement | ShadowRoot, transport: Transport, options: { focus?: boolean } = {}): () => void {
  const store = new Store(transport);
  const name = `acp-view-${++mounted}`;
  const alone = options.focus === true;
  let frame = 0;
  let pause = 0;
  let changed = false;
  const draw = () => {
    frame = 0;
    changed = false;
    const began = performance.now();
    render(<App store={store} view={store.view} name={name} alone={alone} />, place);
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
  warmUp();
  store.watch(drawSoon);
  draw();
  if (alone) (place.firstElementChild as HTMLElement | null)?.focus();
  return () => {
    cancelAnimationFrame(frame);
    clearTimeout(pause);
    store.close();
    render(null, place);
  };
}
