/**
 * Carries preferences between the browsers of a person. The server keeps text by key; each value goes with the time at
 * which it was chosen, and the newer one wins.
 */
import { api } from '../../api/client.ts';
import { type Kept, keptText, mergeChoices, parseKept } from './preference-merge.ts';
import {
  chosenAt,
  type FollowingKey,
  followingKeys,
  isFollowing,
  onPreference,
  readOwner,
  readPreference,
  takePreference,
  writeOwner,
} from './preferences.ts';

/** Set apart from what other programs keep for the person. */
const PREFIX = 'ui.';
/** Someone who tries both themes makes one change of it. */
const GATHER_MS = 1_000;

const chosenHere = (key: FollowingKey): Kept => ({ value: readPreference(key) ?? '', at: chosenAt(key) });

/** Reads the person's choices once and sends those that are made here, until the returned function is called. */
export function followPreferences(userId: string): () => void {
  const changed = new Set<FollowingKey>();
  let timer: ReturnType<typeof setTimeout> | undefined;
  let closed = false;

  const send = async (): Promise<void> => {
    timer = undefined;
    const keys = [...changed];
    changed.clear();
    for (const key of keys) {
      try {
        await api.userPreference.set.mutate({ key: PREFIX + key, value: keptText(chosenHere(key)) });
      } catch {
        // It is newer than what the server has, so the next opening of the page sends it.
      }
    }
  };
  const note = (key: FollowingKey): void => {
    changed.add(key);
    timer ??= setTimeout(() => void send(), GATHER_MS);
  };
  const stop = onPreference((key) => {
    if (key !== null && isFollowing(key)) note(key);
  });

  const merge = (answer: Record<string, string>): void => {
    const server = new Map<FollowingKey, Kept>();
    for (const [name, text] of Object.entries(answer)) {
      const key = name.startsWith(PREFIX) ? name.slice(PREFIX.length) : '';
      const kept = parseKept(text);
      if (kept && isFollowing(key)) server.set(key, kept);
    }
    // What was chosen before this browser was anybody's is taken along; what somebody else chose in it is not.
    const isOwn = readOwner() === null || readOwner() === userId;
    const own = (isOwn ? followingKeys() : [...changed]).map((key) => [key, chosenHere(key)] as const);
    const { take, send: later } = mergeChoices(new Map(own), server);
    for (const [key, { value, at }] of take) takePreference(key, value, at);
    for (const key of later) note(key);
    writeOwner(userId);
  };
  // Without an answer the choices stay this browser's own until the page is opened again.
  void api.userPreference.get.query({}).then(
    (answer) => closed || merge(answer),
    () => undefined,
  );

  return () => {
    closed = true;
    stop();
    if (timer === undefined) return;
    clearTimeout(timer);
    void send();
  };
}
