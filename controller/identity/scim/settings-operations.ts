/** Super admins turn SCIM on and off, create its token, and read rejected requests. */
import { randomBytes } from 'node:crypto';
import { NoInput } from '../../../schemas/api/common.ts';
import { ScimRefusals, ScimToken, ScimView, UpdateScim } from '../../../schemas/api/settings.ts';
import { sealingContext } from '../../platform/crypto/sealed-columns.ts';
import type { MutationContext } from '../../platform/operation/context.ts';
import { preconditionFailed } from '../../platform/operation/errors.ts';
import { mutation, ownScope, query } from '../../platform/operation/operation.ts';
import { scimBaseUrl } from './base-url.ts';
import { listRefusals } from './refusals-store.ts';
import { lockScimSettings, readScimSettings, writeScimEnabled, writeScimToken } from './settings-store.ts';
import { SCIM_TOKEN_PREFIX } from './token.ts';

const notifyUi = (ctx: MutationContext) =>
  ctx.services.bus.publish(ctx.db, { type: 'ui', environmentId: null, topics: ['settings'] });

export const updateScim = mutation({
  name: 'settings.updateScim',
  summary: 'Turn SCIM provisioning of users and groups on or off; off ends its token',
  role: 'SUPER_ADMIN',
  audit: 'settings.scimUpdated',
  input: UpdateScim,
  output: ScimView,
  scope: () => ownScope,
  async run(ctx, { enabled }) {
    await lockScimSettings(ctx.db);
    const before = await readScimSettings(ctx.db);
    await writeScimEnabled(ctx.db, enabled);
    ctx.audit({
      entityType: 'Settings',
      entityId: 'scim',
      ...(before.enabled === enabled ? {} : { diff: { enabled: [before.enabled, enabled] } }),
      ...(before.sealedToken !== null && !enabled ? { metadata: { tokenEnded: true } } : {}),
    });
    await notifyUi(ctx);
    const { tokenCreatedAt, lastUsedAt } = await readScimSettings(ctx.db);
    return { enabled, baseUrl: scimBaseUrl(ctx.services.baseUrl), tokenCreatedAt, lastUsedAt };
  },
});

export const generateScimToken = mutation({
  name: 'settings.generateScimToken',
  summary: 'Create the token for SCIM; shown once, and the previous one ends at once',
  role: 'SUPER_ADMIN',
  audit: 'settings.scimTokenGenerated',
  input: NoInput,
  output: ScimToken,
  scope: () => ownScope,
  async run(ctx) {
    await lockScimSettings(ctx.db);
    const before = await readScimSettings(ctx.db);
    if (!before.enabled) throw preconditionFailed('SCIM is off; turn it on first');
    const token = `${SCIM_TOKEN_PREFIX}${randomBytes(32).toString('hex')}`;
    await writeScimToken(ctx.db, {
      sealedToken: ctx.services.keyring.seal(token, sealingContext('scim_settings', 'scim')),
      createdAt: new Date(ctx.clock.now()),
    });
    ctx.audit({
      entityType: 'Settings',
      entityId: 'scim',
      metadata: { replaced: before.sealedToken !== null },
    });
    await notifyUi(ctx);
    return { token };
  },
});

export const scimRefusals = query({
  name: 'settings.scimRefusals',
  summary: 'Rejected requests of SCIM, newest first, with the reason that the provider got',
  role: 'SUPER_ADMIN',
  input: NoInput,
  output: ScimRefusals,
  scope: () => ownScope,
  run: (ctx) => listRefusals(ctx.db),
});
