/** Requests whose client goes away early. */
import { send } from '../clients/http.ts';
import { untilWaiting } from '../harness/lock-waiters.ts';
import type { TestDb } from '../harness/test-db.ts';

/** Sends a GET by session, and goes away while the controller waits for the database to know whose session it is. */
export async function leftWhileAsked(
  { db, url }: { db: TestDb; url: string },
  address: string,
  cookie: string,
): Promise<void> {
  const blocker = await db.transaction();
  try {
    await blocker.raw('LOCK TABLE sessions IN ACCESS EXCLUSIVE MODE');
    const leaving = new AbortController();
    const asked = fetch(address, { headers: { cookie }, signal: leaving.signal }).catch(() => null);
    await untilWaiting(db);
    leaving.abort();
    await asked;
    // What came before is known to the controller by the time it answers this.
    await send(`${url}/api/health`);
  } finally {
    await blocker.rollback();
  }
}
