/**
 * How much of a frame may go into entries that come into sight: {@link DrawBudget}. Scrolling far brings many at once, some
 * of which take long; those that do not fit wait for the next frame, and until then the user scrolls and writes.
 */

/** Milliseconds for new entries before the browser has its turn; the one that goes beyond is still finished. */
const BUDGET = 8;

export class DrawBudget {
  private began: number | null = null;
  private readonly waiting = new Set<() => void>();

  /** Tells whether there is time to draw something now; if not, `redraw` is called in another frame. */
  allows(redraw: () => void): boolean {
    if (this.began === null) {
      this.began = performance.now();
      setTimeout(() => this.taskIsOver());
    }
    if (performance.now() - this.began < BUDGET) return true;
    this.waiting.add(redraw);
    return false;
  }

  private taskIsOver(): void {
    this.began = null;
    if (this.waiting.size === 0) return;
    requestAnimationFrame(() => {
      const waiting = [...this.waiting];
      this.waiting.clear();
      for (const redraw of waiting) redraw();
    });
  }
}
