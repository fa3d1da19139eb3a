/** The view of a connection, for whatever page or widget has a place for it. */
import { render } from "preact";
import type { Transport } from "./feed";
import { Store } from "./store";
import { App } from "./view/app";

export { connectFeed } from "./socket";
export type { Transport } from "./feed";

/**
 * Shows what comes through `transport` in `place`, and draws at most once per frame.
 *
 * @param options.focus the keyboard is the view's at once, as is right for one that has a window to itself.
 * @returns a function that ends it and closes the transport.
 */
export function mount(place: HTMLElement, transport: Transport, options: { focus?: boolean } = {}): () => void {
  const store = new Store(transport);
  let frame = 0;
  const draw = () => {
    frame = 0;
    render(<App store={store} view={store.view} />, place);
  };
  store.watch(() => {
    if (frame === 0) frame = requestAnimationFrame(draw);
  });
  draw();
  if (options.focus) (place.firstElementChild as HTMLElement | null)?.focus();
  return () => {
    cancelAnimationFrame(frame);
    store.close();
    render(null, place);
  };
}
