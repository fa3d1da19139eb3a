/** The transcript: only what is in sight is in the document, however long it is, and the end is followed. */
import { elementScroll, measureElement, observeElementOffset, observeElementRect, Virtualizer } from "@tanstack/virtual-core";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import type { Entry, Terminal } from "../state";
import { memo, useView } from "./context";
import { EntrySlot } from "./entry_view";

/** What is known of the heights of entries before they are drawn, in pixels. */
const PADDING = 12;
const HEIGHTS = { call: 58, line: 21, around: 50, characters: 100 };

function estimate(entry: Entry | null | undefined): number {
  if (entry?.type === "tool_call") return HEIGHTS.call + (entry.content?.length ?? 0) * HEIGHTS.line * 3;
  if (entry?.type !== "message" || entry.speaker === "thought") return HEIGHTS.around;
  let characters = 0;
  for (const part of entry.parts) if (part.type === "text") for (const text of part.segments) characters += text.length;
  return HEIGHTS.around + Math.ceil(characters / HEIGHTS.characters) * HEIGHTS.line;
}

export const Transcript = memo(function Transcript(props: {
  entries: readonly (Entry | null)[];
  /** Position of the first entry. */
  first: number;
  terminals: { [id: string]: Terminal };
  busy: boolean;
  connected: boolean;
}) {
  const scroller = useRef<HTMLDivElement>(null);
  const { entries } = props;
  const list = useVirtualizer(scroller, entries, props.first);
  const items = list.getVirtualItems();
  const { following, follow } = useEnd(scroller, list);
  const missing = items.filter((item) => entries[item.index] === null).map((item) => props.first + item.index);
  useFetched(missing, props.connected);
  return (
    <div class="transcript-frame">
      <div
        ref={scroller}
        class="transcript"
        role="feed"
        aria-label="Conversation"
        aria-busy={props.busy}
        tabIndex={0}
        onKeyDown={(event) => {
          if (event.target !== event.currentTarget || (event.key !== "Home" && event.key !== "End")) return;
          // The browser's own way there would end where entries turn out to be of another height.
          event.preventDefault();
          if (event.key === "End") follow();
          else list.scrollToIndex(0, { align: "start" });
        }}
        data-area
      >
        <div class="sizer" style={{ height: `${list.getTotalSize()}px` }}>
          {items.map((item) => {
            const entry = entries[item.index];
            return (
              item.index < entries.length && (
                <article
                  key={item.key}
                  ref={list.measureElement}
                  data-index={item.index}
                  data-position={props.first + item.index}
                  aria-posinset={item.index + 1}
                  aria-setsize={entries.length}
                  style={{ transform: `translateY(${item.start}px)` }}
                >
                  <EntrySlot entry={entry ?? null} terminals={props.terminals} height={item.size - PADDING} />
                </article>
              )
            );
          })}
        </div>
      </div>
      {!following && entries.length > 0 && (
        <button type="button" class="to-end" onClick={follow}>
          To the end
        </button>
      )}
    </div>
  );
});

const MOST_FETCHED = 100;

/** Fetches entries that are in sight and that the feed has left out so far, some neighbours with them. */
function useFetched(missing: readonly number[], connected: boolean): void {
  const { store } = useView();
  const wanted = missing.length === 0 ? null : Math.floor(missing[missing.length - 1]! / MOST_FETCHED) * MOST_FETCHED;
  useEffect(() => {
    if (wanted !== null && connected) store.fetchEntries(wanted, wanted + MOST_FETCHED - 1);
  }, [wanted, connected]);
}

const NEAR = 48;

/** Stays at the end, whatever grows or shrinks, until the user scrolls away from it. */
function useEnd(scroller: { current: HTMLDivElement | null }, list: Virtualizer<HTMLDivElement, HTMLElement>) {
  const [following, setFollowing] = useState(true);
  const follows = useRef(true);
  const height = useRef(0);
  /** Where the end was when it was gone to last. */
  const end = useRef(0);
  const toEnd = () => {
    const element = scroller.current!;
    element.scrollTop = element.scrollHeight;
    end.current = element.scrollTop;
  };
  useLayoutEffect(() => {
    height.current = list.getTotalSize();
  });
  useLayoutEffect(() => {
    const element = scroller.current!;
    const onScroll = () => {
      // By what the list knows: to ask the browser would make it compute the layout at once.
      const offset = list.scrollOffset ?? 0;
      const isNear = height.current - offset - (list.scrollRect?.height ?? 0) < NEAR;
      // The browser tells late of the way to the end, which may be further down by now; only who goes up leaves it.
      follows.current = isNear || (follows.current && offset > end.current - 1);
      setFollowing(follows.current);
    };
    const sizes = new ResizeObserver(() => follows.current && toEnd());
    sizes.observe(element);
    sizes.observe(element.firstElementChild!);
    element.addEventListener("scroll", onScroll, { passive: true });
    return () => {
      sizes.disconnect();
      element.removeEventListener("scroll", onScroll);
    };
  }, []);
  const follow = () => {
    follows.current = true;
    setFollowing(true);
    toEnd();
  };
  return { following, follow };
}

function useVirtualizer(scroller: { current: HTMLDivElement | null }, entries: readonly (Entry | null)[], first: number) {
  const [, redraw] = useState(0);
  const firstPosition = useRef(first);
  firstPosition.current = first;
  const latest = useRef(entries);
  latest.current = entries;
  const kept = useRef<Virtualizer<HTMLDivElement, HTMLElement> | null>(null);
  const options = {
    count: entries.length,
    getScrollElement: () => scroller.current,
    estimateSize: (index: number) => estimate(latest.current[index]),
    getItemKey: (index: number) => firstPosition.current + index,
    scrollToFn: elementScroll,
    observeElementRect,
    observeElementOffset,
    measureElement,
    overscan: 4,
    onChange: () => redraw((count) => count + 1),
  };
  const list = (kept.current ??= new Virtualizer<HTMLDivElement, HTMLElement>(options));
  list.setOptions(options);
  useLayoutEffect(() => list._didMount(), [list]);
  useLayoutEffect(() => list._willUpdate());
  return list;
}
