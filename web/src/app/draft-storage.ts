/**
 * What is being tried in the playground, kept in this browser alone: it may hold secrets, so that neither the address nor
 * the server gets it. Signing out forgets it, and so does another user who signs in after a session has ended by itself.
 */
const PREFIX = 'headgate.draft.';
const OWNER = `${PREFIX}owner`;
const MAX_LENGTH = 262_144;

export type DraftKey = 'vrl-source' | 'vrl-event' | 'config';

export function readDraft(key: DraftKey): string | null {
  try {
    return localStorage.getItem(PREFIX + key);
  } catch {
    return null;
  }
}

export function writeDraft(key: DraftKey, text: string): void {
  if (text.length > MAX_LENGTH) return;
  try {
    localStorage.setItem(PREFIX + key, text);
  } catch {
    // Blocked or full: the page still has it.
  }
}

/** Forgets what another user has tried in this browser. */
export function keepDraftsOf(userId: string): void {
  try {
    if (localStorage.getItem(OWNER) === userId) return;
    forgetDrafts();
    localStorage.setItem(OWNER, userId);
  } catch {
    // Blocked: nothing was kept.
  }
}

export function forgetDrafts(): void {
  try {
    for (const name of Object.keys(localStorage)) if (name.startsWith(PREFIX)) localStorage.removeItem(name);
  } catch {
    // Blocked: nothing was kept.
  }
}
