/** The caller's own sessions. */
import { NoInput } from '../../../../schemas/api/common.ts';
import { Done, SessionId, SessionList, SessionsEnded } from '../../../../schemas/api/identity/people.ts';
import { notFound } from '../../../platform/operation/errors.ts';
import { mutation, ownScope, query } from '../../../platform/operation/operation.ts';
import { caller } from '../users/caller.ts';
import { endSessions } from './sessions.ts';
import { deleteSessionOf, listSessions as readSessions } from './sessions-store.ts';

export const listSessions = query({
  name: 'user.listSessions',
  summary: 'Where you are signed in, the newest first',
  role: 'VIEWER',
  input: NoInput,
  output: SessionList,
  scope: () => ownScope,
  async run(ctx) {
    const { userId, sessionId } = caller(ctx);
    const sessions = await readSessions(ctx.db, userId);
    return sessions.map((session) => ({ ...session, current: session.id === sessionId }));
  },
});

export const endSession = mutation({
  name: 'user.endSession',
  summary: 'Sign out elsewhere',
  role: 'VIEWER',
  audit: 'user.sessionEnded',
  input: SessionId,
  output: Done,
  scope: () => ownScope,
  async run(ctx, input) {
    const { userId } = caller(ctx);
    const ended = await deleteSessionOf(ctx.db, { userId, id: input.id });
    if (!ended) throw notFound('Session');
    await ctx.services.bus.publish(ctx.db, { type: 'user', userId });
    ctx.audit({ entityType: 'Session', entityId: input.id, metadata: ended });
    return { ok: true as const };
  },
});

export const endOtherSessions = mutation({
  name: 'user.endOtherSessions',
  summary: 'Sign out everywhere else',
  role: 'VIEWER',
  audit: 'user.otherSessionsEnded',
  input: NoInput,
  output: SessionsEnded,
  scope: () => ownScope,
  async run(ctx) {
    const { userId, sessionId } = caller(ctx);
    const ended = await endSessions(ctx, [userId], sessionId);
    ctx.audit({ entityType: 'User', entityId: userId, metadata: { ended } });
    return { ended };
  },
});
