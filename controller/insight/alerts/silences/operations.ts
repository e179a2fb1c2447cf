import { OrGit } from '../../../../schemas/api/delivery/git-words.ts';
import {
  AlertSilence,
  AlertSilenceList,
  CreateSilence,
  ListSilences,
  SilenceId,
} from '../../../../schemas/api/insight/alerts.ts';
import { SILENCE_MAX_DAYS } from '../../../../schemas/manifests/silence.ts';
import { lockEditable } from '../../../delivery/ownership/index.ts';
import { lockEnvironment } from '../../../fleet/environments/index.ts';
import { environmentScope, objectScope } from '../../../identity/access/index.ts';
import type { Context } from '../../../platform/operation/context.ts';
import { badRequest, notFound, preconditionFailed } from '../../../platform/operation/errors.ts';
import { mutation, query } from '../../../platform/operation/operation.ts';
import { publishChange } from '../rules/publish-change.ts';
import {
  countUnended,
  findSilence,
  insertSilence,
  listSilences as readSilences,
  endSilence as writeEnd,
} from './store.ts';

/** Per environment, active and scheduled ones. */
const MAX_SILENCES = 200;
const DAY_MS = 86_400_000;

const nowOf = ({ clock }: Context): Date => new Date(clock.now());

async function getExisting(ctx: Context, id: string): Promise<AlertSilence> {
  const silence = await findSilence(ctx.db, id, nowOf(ctx));
  if (!silence) throw notFound('Silence');
  return silence;
}

export const listSilences = query({
  name: 'alert.listSilences',
  summary: 'Silences of an environment: active and scheduled ones first, then ended ones',
  role: 'VIEWER',
  permission: 'alerts.read',
  input: ListSilences,
  output: AlertSilenceList,
  scope: (ctx, input) => environmentScope(ctx, input.environmentId),
  run: (ctx, { environmentId }) => readSilences(ctx.db, environmentId, nowOf(ctx)),
});

export const createSilence = mutation({
  name: 'alert.createSilence',
  summary: 'Mute the alerts that carry some labels, for a time',
  role: 'EDITOR',
  permission: 'alerts.manage',
  audit: 'silence.created',
  input: CreateSilence,
  output: AlertSilence,
  scope: (ctx, input) => environmentScope(ctx, input.environmentId),
  async run(ctx, { environmentId, matchers, reason, ...period }) {
    const now = nowOf(ctx);
    const startsAt = new Date(period.startsAt ?? now);
    const endsAt = new Date(period.endsAt);
    if (endsAt <= startsAt) throw badRequest('endsAt must be after startsAt');
    if (endsAt <= now) throw badRequest('endsAt lies in the past; give a time in the future');
    if (endsAt.getTime() - now.getTime() > SILENCE_MAX_DAYS * DAY_MS)
      throw badRequest(`A silence ends within ${SILENCE_MAX_DAYS} days; disable the rule instead`);
    await lockEnvironment(ctx.db, environmentId);
    if ((await countUnended(ctx.db, environmentId, now)) >= MAX_SILENCES)
      throw preconditionFailed(
        `This environment has ${MAX_SILENCES} silences that have not ended; end some first`,
      );
    const createdBy = ctx.actor.type === 'user' ? ctx.actor.email : null;
    const id = await insertSilence(ctx.db, environmentId, {
      ...{ matchers, reason: reason.trim(), startsAt, endsAt, createdBy },
    });
    ctx.audit({
      entityType: 'Silence',
      entityId: id,
      metadata: { name: reason.trim().slice(0, 100), matchers, startsAt, endsAt },
    });
    await publishChange(ctx, environmentId);
    return getExisting(ctx, id);
  },
});

export const endSilence = mutation({
  name: 'alert.endSilence',
  summary: 'End a silence now; one that has not begun is deleted',
  role: 'EDITOR',
  permission: 'alerts.manage',
  audit: 'silence.ended',
  input: SilenceId,
  output: OrGit(AlertSilence),
  scope: (ctx, { id }) => objectScope(ctx, 'Silence', id),
  async run(ctx, { id }) {
    const silence = await getExisting(ctx, id);
    if (silence.status === 'ended') {
      ctx.unchanged();
      return silence;
    }
    await lockEditable(ctx, 'alert_silences', id);
    const now = nowOf(ctx);
    await writeEnd(ctx.db, id, now);
    ctx.audit({ entityType: 'Silence', entityId: id, metadata: { name: silence.reason.slice(0, 100) } });
    await publishChange(ctx, silence.environmentId);
    return { ...silence, status: 'ended' as const, endsAt: now, muted: 0 };
  },
});
