/** Loads the page again where it is of an older version than the controller; a page that has just been loaded stays. */
const KEY = 'headgate.reloadedAt';
const AGAIN_AFTER_MS = 60_000;

export function reloadOnce(): void {
  const now = Date.now();
  try {
    if (now - Number(sessionStorage.getItem(KEY) ?? 0) < AGAIN_AFTER_MS) return;
    sessionStorage.setItem(KEY, String(now));
  } catch {
    return; // Without storage it might be loaded for ever.
  }
  window.location.reload();
}
