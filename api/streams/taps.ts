/**
 * GET /api/taps/<tapId>: the events of a live tap, as server-sent events `events` and, once, `ended`. By session cookie;
 * a tap is its starter's own, and to anybody else it is not there.
 */
import type Router from '@koa/router';
import { findTap, type TapRecord, type Taps } from '../../controller/fleet/samples/index.ts';
import { actorOfSession } from '../../controller/identity/access/index.ts';
import { notFound, unauthorized } from '../../controller/platform/operation/errors.ts';
import { allows, assertNoRequiredAction } from '../../controller/platform/operation/permissions.ts';
import type { RequestHandler } from '../handler.ts';
import { openEventStream } from '../http/sse.ts';

const CHECK_SESSION_MS = 30_000;
const ID = /^[0-9a-z]{1,64}$/;

export function tapRoutes(router: Router, handler: RequestHandler, taps: Taps): void {
  /** Whether the session is still that of somebody who may watch; true where that is unknown. */
  async function mayWatch(token: string, tap: TapRecord): Promise<boolean> {
    const actor = await actorOfSession(handler.essential, token).catch(() => undefined);
    if (actor === undefined) return true;
    return actor !== null && actor.requiredAction === null && allows(actor, tap, { role: 'EDITOR' });
  }

  router.get('/api/taps/:tapId', async (ctx) => {
    const token = handler.cookie.read(ctx);
    const actor = await handler.actor(ctx);
    if (!token || actor.type !== 'user') throw unauthorized();
    assertNoRequiredAction(actor);
    const tapId = String(ctx.params.tapId);
    const tap = ID.test(tapId) ? await findTap(handler.db, tapId) : null;
    if (!tap || tap.userId !== actor.userId || !allows(actor, tap, { role: 'EDITOR' })) throw notFound('Tap');
    if (!(await taps.claim(tap))) throw notFound('Tap');
    const stream = openEventStream(ctx);
    const recheck = async () => {
      if (!(await mayWatch(token, tap))) await taps.end(tapId, 'You may not watch it any longer');
    };
    const offUser = handler.services.bus.on('user', ({ userId }) => {
      if (userId === tap.userId) recheck().catch(() => stream.close());
    });
    // What becomes of many at once, as of a team that asks for a second factor from now on.
    const offTeams = handler.services.bus.on('ui', ({ environmentId, topics }) => {
      if (environmentId === null && topics.includes('teams')) recheck().catch(() => stream.close());
    });
    const check = setInterval(() => void recheck().catch(() => stream.close()), CHECK_SESSION_MS);
    const detach = taps.attach(tap, stream);
    stream.onClose(() => {
      clearInterval(check);
      offUser();
      offTeams();
      detach();
    });
  });
}
