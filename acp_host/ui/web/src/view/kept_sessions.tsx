/** The sessions that the agent keeps: to open one again, or to delete it. */
import { useEffect, useState } from "preact/hooks";
import type { Offers, SessionName } from "../feed";
import { oneLine } from "../plain_text";
import { memo, useView } from "./context";

interface Kept {
  sessionId: string;
  title?: string | null;
  cwd?: string;
  updatedAt?: string | null;
}

export const KeptSessions = memo(function KeptSessions(props: {
  offers: Offers;
  /** Those that are open or were, which are in the list of the header. */
  sessions: readonly SessionName[];
  /** Where sessions are opened from here. */
  cwd: string;
}) {
  const { store, controls, failed } = useView();
  const [kept, setKept] = useState<readonly Kept[]>([]);
  const [cursor, setCursor] = useState<string | null>(null);
  const [loading, setLoading] = useState(false);

  async function read(from: string | null) {
    setLoading(true);
    try {
      const page = (await store.command("list_sessions", from === null ? {} : { cursor: from })) as unknown as {
        sessions?: Kept[];
        nextCursor?: string | null;
      };
      const before = from === null ? [] : kept;
      const listed = new Set(before.map((one) => one.sessionId));
      setKept([...before, ...(page.sessions ?? []).filter((one) => !listed.has(one.sessionId))]);
      setCursor(page.nextCursor || null);
    } catch (error) {
      failed((error as Error).message);
    }
    setLoading(false);
  }
  // Subagents come and go by themselves, and are in no list of the agent's.
  const known = props.sessions.filter((session) => session.parent == null).length;
  useEffect(() => {
    if (controls) void read(null);
  }, [controls, known]);

  async function open(one: Kept) {
    try {
      const opened = await store.command("open_session", { session: one.sessionId, steps: ["load", "resume"] });
      store.show((opened as { session: string }).session);
    } catch (error) {
      failed((error as Error).message);
    }
  }

  async function remove(one: Kept) {
    try {
      await store.command("delete_session", { session: one.sessionId });
      setKept(kept.filter((other) => other !== one));
    } catch (error) {
      failed((error as Error).message);
    }
  }

  if (!controls) return <p class="note">Who controls the agent can open its sessions.</p>;
  return (
    <>
      <ul class="cards" aria-label="Sessions of the agent">
        {kept.map((one) => (
          <li key={one.sessionId} class="card">
            <strong>{oneLine(one.title || one.sessionId, 120)}</strong>
            <p class="note">
              {[one.updatedAt, one.cwd].filter(Boolean).map((text) => oneLine(text!, 120)).join(" · ")}
            </p>
            <Deeds one={one} {...props} open={open} remove={remove} />
          </li>
        ))}
      </ul>
      {kept.length === 0 && !loading && <p class="note">The agent keeps no session.</p>}
      {cursor !== null && (
        <button type="button" class="quiet" disabled={loading} onClick={() => read(cursor)}>
          More
        </button>
      )}
    </>
  );
});

function Deeds(props: {
  one: Kept;
  offers: Offers;
  sessions: readonly SessionName[];
  cwd: string;
  open: (one: Kept) => Promise<void>;
  remove: (one: Kept) => Promise<void>;
}) {
  const { one, offers } = props;
  const { store } = useView();
  const [sure, setSure] = useState(false);
  const isOpen = props.sessions.some((session) => session.id === one.sessionId && session.open !== false);
  const elsewhere = one.cwd !== undefined && one.cwd !== props.cwd;
  return (
    <div class="answers">
      {isOpen ? (
        <button type="button" class="quiet" onClick={() => store.show(one.sessionId)}>
          Show
        </button>
      ) : (
        (offers.load || offers.resume) && (
          <button type="button" class="quiet" disabled={elsewhere} onClick={() => props.open(one)}>
            Open
          </button>
        )
      )}
      {offers.delete && !sure && (
        <button type="button" class="quiet" onClick={() => setSure(true)}>
          Delete
        </button>
      )}
      {sure && (
        <>
          <button type="button" class="quiet danger" onClick={() => props.remove(one)}>
            Delete for good
          </button>
          <button type="button" class="quiet" onClick={() => setSure(false)}>
            Keep
          </button>
        </>
      )}
      {elsewhere && !isOpen && <span class="note">It works in another directory than this page.</span>}
    </div>
  );
}
