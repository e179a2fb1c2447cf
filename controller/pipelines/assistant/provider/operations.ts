/** The provider of a team: who may see and change it, and a test of it. */

import { Deleted } from '../../../../schemas/api/common.ts';
import {
  AI_LIMITS,
  type AiProvider,
  AiProviderState,
  AiProviderTest,
  OfTeam,
  UpdateAiProvider,
} from '../../../../schemas/api/pipelines/assistant.ts';
import { teamScope } from '../../../identity/access/index.ts';
import { lockTeam } from '../../../identity/teams/index.ts';
import { OutgoingError } from '../../../platform/net/outgoing/index.ts';
import { diffOf } from '../../../platform/operation/audit-entry.ts';
import type { Context } from '../../../platform/operation/context.ts';
import { badRequest, DomainError, notFound } from '../../../platform/operation/errors.ts';
import { newId } from '../../../platform/operation/ids.ts';
import { mutation, query } from '../../../platform/operation/operation.ts';
import { askModel } from '../ask-model.ts';
import { addressOf, keyPlace } from './connect.ts';
import { deleteProvider, findProvider, lockProvider, type ProviderRecord, saveProvider } from './store.ts';

const ofTeam = (ctx: Context, { teamId }: { teamId: string }) => teamScope(ctx, teamId);

const present = ({ sealedApiKey, id, teamId, ...provider }: ProviderRecord): AiProvider => ({
  ...provider,
  hasApiKey: sealedApiKey !== null,
});

export const getProvider = query({
  name: 'ai.getProvider',
  summary: 'The AI provider of a team, without its key',
  role: 'VIEWER',
  input: OfTeam,
  output: AiProviderState,
  scope: ofTeam,
  async run(ctx, { teamId }) {
    const provider = await findProvider(ctx.db, teamId);
    return { provider: provider && present(provider) };
  },
});

/** `null` for an address of the vendor; without a slash at the end. @throws BAD_REQUEST */
function readBaseUrl(given: string | null | undefined): string | null {
  const text = given?.trim().replace(/\/+$/, '') ?? '';
  if (text === '') return null;
  const url = URL.parse(text);
  if (!url || !/^https?:$/.test(url.protocol) || url.username !== '' || url.password !== '')
    throw badRequest('baseUrl: give an address that begins with https:// and holds no user name');
  if (url.search !== '' || url.hash !== '')
    throw badRequest('baseUrl: leave out what follows ? or #; requests are sent to paths under the address');
  return text;
}

async function assertMayAsk({ services }: Context, address: string): Promise<void> {
  try {
    await services.outgoing.check(address);
  } catch (error) {
    if (error instanceof OutgoingError) throw badRequest(`baseUrl: ${error.message}`);
    throw error;
  }
}

/** A key goes to the address alone for which it was given, or a new address could collect it. */
const goesElsewhere = (before: ProviderRecord, after: Pick<ProviderRecord, 'kind' | 'baseUrl'>): boolean =>
  before.kind !== after.kind || new URL(addressOf(before)).origin !== new URL(addressOf(after)).origin;

export const updateProvider = mutation({
  name: 'ai.updateProvider',
  summary: 'Set the AI provider of a team, with the limits of users and the budget of the team',
  role: 'ADMIN',
  audit: 'ai.providerUpdated',
  input: UpdateAiProvider,
  output: AiProviderState,
  scope: ofTeam,
  async prepare(ctx, { kind, baseUrl }) {
    const read = readBaseUrl(baseUrl);
    await assertMayAsk(ctx, addressOf({ kind, baseUrl: read }));
    return read;
  },
  async run(ctx, input, baseUrl) {
    const { teamId, kind, model, apiKey } = input;
    await lockTeam(ctx.db, teamId);
    const before = await lockProvider(ctx.db, teamId);
    const id = before?.id ?? newId();
    const keptKey = before?.sealedApiKey ?? null;
    if (apiKey === undefined && keptKey !== null && before && goesElsewhere(before, { kind, baseUrl }))
      throw badRequest(
        'apiKey: the stored key was given for another address; enter the key of this one, or null for none',
      );
    const sealedApiKey =
      apiKey === undefined ? keptKey : apiKey && ctx.services.keyring.seal(apiKey, keyPlace(id));
    if (sealedApiKey === null && baseUrl === null)
      throw badRequest(`apiKey: ${new URL(addressOf({ kind, baseUrl })).host} needs a key; enter it`);
    const limitOf = (name: keyof typeof AI_LIMITS) =>
      input[name] ?? before?.[name] ?? AI_LIMITS[name].default;
    const provider: ProviderRecord = {
      ...{ id, teamId, kind, baseUrl, model, sealedApiKey, updatedAt: new Date(ctx.clock.now()) },
      requestsPerUserPerHour: limitOf('requestsPerUserPerHour'),
      tokensPerDay: limitOf('tokensPerDay'),
      tokensPerMonth: limitOf('tokensPerMonth'),
      timeoutSeconds: limitOf('timeoutSeconds'),
    };
    await saveProvider(ctx.db, provider);
    const settings = ({ updatedAt, ...shown }: AiProvider) => shown;
    ctx.audit({
      ...{ entityType: 'AiProvider', entityId: id },
      diff: diffOf(before && settings(present(before)), settings(present(provider))),
      metadata: { apiKeyChanged: apiKey !== undefined },
    });
    return { provider: present(provider) };
  },
});

export const removeProvider = mutation({
  name: 'ai.deleteProvider',
  summary: 'Delete the AI provider of a team with its key; conversations stay',
  role: 'ADMIN',
  audit: 'ai.providerDeleted',
  input: OfTeam,
  output: Deleted,
  scope: ofTeam,
  async run(ctx, { teamId }) {
    const provider = await lockProvider(ctx.db, teamId);
    if (!provider) throw notFound('AI provider');
    await deleteProvider(ctx.db, teamId);
    ctx.audit({
      ...{ entityType: 'AiProvider', entityId: provider.id },
      metadata: { kind: provider.kind, model: provider.model },
    });
    return { deleted: true as const };
  },
});

const TEST_TOKENS = 64;

export const testProvider = mutation({
  name: 'ai.testProvider',
  summary: 'Ask the AI provider of a team one short question',
  role: 'ADMIN',
  audit: 'ai.providerTested',
  input: OfTeam,
  output: AiProviderTest,
  scope: ofTeam,
  async prepare(ctx, { teamId }): Promise<{ id: string; result: AiProviderTest }> {
    const provider = await findProvider(ctx.db, teamId);
    if (!provider) throw notFound('AI provider');
    const { id } = provider;
    const from = ctx.clock.monotonic();
    const took = () => Math.round(ctx.clock.monotonic() - from);
    try {
      let text = '';
      const question = {
        ...{ purpose: 'test', system: 'Answer with the word ready.', maxTokens: TEST_TOKENS, tools: [] },
        ...{
          messages: [{ author: 'user' as const, text: 'Are you ready?' }],
          signal: ctx.signal,
          retries: 0,
        },
      };
      for await (const event of askModel(ctx, provider, question))
        if (event.type === 'text') text += event.text;
      const message =
        text === ''
          ? 'The provider answered, with no text in its first tokens'
          : `The model ${provider.model} answered`;
      return { id, result: { ok: true, message, milliseconds: took() } };
    } catch (error) {
      if (!(error instanceof DomainError) || error.code === 'TOO_MANY_REQUESTS') throw error;
      return { id, result: { ok: false, message: error.message, milliseconds: took() } };
    }
  },
  async run(ctx, _, { id, result }) {
    ctx.audit({ entityType: 'AiProvider', entityId: id, metadata: { ok: result.ok } });
    return result;
  },
});
