/** Operations on streams, which only super admins have: an audit log tells of every team. */
import { Deleted, NoInput } from '../../../schemas/api/common.ts';
import {
  CreateStream,
  type EventStream,
  EventStreams,
  SavedStream,
  StreamId,
  StreamTest,
  UpdateStream,
} from '../../../schemas/api/insight/event-streams.ts';
import { OutgoingError } from '../../platform/net/outgoing/index.ts';
import { diffOf } from '../../platform/operation/audit-entry.ts';
import type { Context, MutationContext } from '../../platform/operation/context.ts';
import { badRequest, messageOf, notFound, preconditionFailed } from '../../platform/operation/errors.ts';
import { newId } from '../../platform/operation/ids.ts';
import { mutation, ownScope, query } from '../../platform/operation/operation.ts';
import { headersPlace, secretPlace, send } from './send.ts';
import { SOURCES, type SourceEntry } from './source.ts';
import {
  countStreams,
  deleteStream,
  findStream,
  insertStream,
  listStreams,
  lockStream,
  type StreamRecord,
  updateStream,
} from './store.ts';
import { newSigningSecret } from './webhook-request.ts';

/** The loop that delivers: a key of it is the id of a stream. */
export const STREAMS_LOOP = 'streams';
const MAX_STREAMS = 20;
const HEADER_NAME = /^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,100}$/;
/** What Headgate and HTTP decide. */
const RESERVED =
  /^(host|connection|content-.*|transfer-encoding|te|trailer|upgrade|expect|user-agent|accept-encoding|webhook-.*)$/i;

async function present(ctx: Pick<Context, 'db'>, streams: readonly StreamRecord[]): Promise<EventStream[]> {
  const heads = new Map<StreamRecord['source'], number>();
  for (const source of new Set(streams.map((stream) => stream.source)))
    heads.set(source, await SOURCES[source].readHead(ctx.db));
  return streams.map(
    ({ sealedHeaders, sealedSigningSecret, batchEnd, missed, missedReason, missedAt, ...stream }) => ({
      ...stream,
      isSigned: sealedSigningSecret !== null,
      waiting: Math.max(0, (heads.get(stream.source) ?? 0) - stream.cursor),
      missed:
        missedReason === null || missedAt === null
          ? null
          : { entries: missed, reason: missedReason, at: missedAt },
    }),
  );
}

async function presentOne(ctx: Pick<Context, 'db'>, id: string): Promise<EventStream> {
  const stream = await findStream(ctx.db, id);
  const [presented] = stream ? await present(ctx, [stream]) : [];
  if (!presented) throw notFound('Stream');
  return presented;
}

/** @throws BAD_REQUEST for an address that Headgate may not connect to */
async function assertMayAsk({ services }: Context, url: string): Promise<void> {
  try {
    await services.outgoing.check(url);
  } catch (error) {
    if (error instanceof OutgoingError) throw badRequest(`url: ${messageOf(error)}`);
    throw error;
  }
}

/** @throws BAD_REQUEST */
function assertHeaders(headers: Readonly<Record<string, string>>): void {
  const seen = new Set<string>();
  for (const name of Object.keys(headers)) {
    const shown = name.slice(0, 100);
    if (!HEADER_NAME.test(name)) throw badRequest(`headers: "${shown}" is not a name of a header`);
    if (RESERVED.test(name)) throw badRequest(`headers: "${shown}" is set by Headgate itself; leave it out`);
    if (seen.has(name.toLowerCase())) throw badRequest(`headers: "${shown}" is there twice`);
    seen.add(name.toLowerCase());
  }
}

function sealHeaders({ services }: Context, id: string, headers: Readonly<Record<string, string>> | null) {
  const names = Object.keys(headers ?? {});
  return {
    headerNames: names,
    sealedHeaders:
      names.length === 0 ? null : services.keyring.seal(JSON.stringify(headers), headersPlace(id)),
  };
}

/** An address may hold a token in its path: the audit log has its origin only. */
const audited = ({
  name,
  url,
  headerNames,
  enabled,
}: Pick<StreamRecord, 'name' | 'url' | 'headerNames' | 'enabled'>) => ({
  ...{ name, url: new URL(url).origin, headers: headerNames, enabled },
});

async function publish({ db, services }: MutationContext, id: string): Promise<void> {
  await services.bus.publish(db, { type: 'wake', loop: STREAMS_LOOP, key: id, trigger: 'changed' });
  await services.bus.publish(db, { type: 'ui', environmentId: null, topics: ['settings'] });
}

export const list = query({
  name: 'stream.list',
  summary: 'Streams of the audit log to other systems, and how far each has come',
  role: 'SUPER_ADMIN',
  input: NoInput,
  output: EventStreams,
  scope: () => ownScope,
  run: async (ctx) => present(ctx, await listStreams(ctx.db)),
});

export const create = mutation({
  name: 'stream.create',
  summary: 'Create a stream to a webhook or an OTLP endpoint',
  role: 'SUPER_ADMIN',
  audit: 'stream.created',
  input: CreateStream,
  output: SavedStream,
  scope: () => ownScope,
  async prepare(ctx, { url, headers = {} }) {
    assertHeaders(headers);
    await assertMayAsk(ctx, url);
  },
  async run(ctx, { source, kind, url, headers = {}, startAt = 'now', enabled = true, ...input }) {
    if ((await countStreams(ctx.db)) >= MAX_STREAMS)
      throw preconditionFailed(`There are ${MAX_STREAMS} streams already; delete one first`);
    const id = newId();
    const signingSecret = kind === 'webhook' ? newSigningSecret() : null;
    const settings = {
      ...{ name: input.name.trim(), url, enabled },
      ...sealHeaders(ctx, id, headers),
      sealedSigningSecret: signingSecret && ctx.services.keyring.seal(signingSecret, secretPlace(id)),
    };
    const cursor = startAt === 'oldest' ? await oldest(ctx, source) : await SOURCES[source].readHead(ctx.db);
    await insertStream(ctx.db, { id, source, kind, cursor, ...settings });
    ctx.audit({
      entityType: 'EventStream',
      entityId: id,
      metadata: { ...audited(settings), source, kind, startAt },
    });
    await publish(ctx, id);
    return { stream: await presentOne(ctx, id), signingSecret };
  },
});

/** Before the first entry that is kept: what was deleted before is no gap of this stream. */
async function oldest(ctx: Context, source: StreamRecord['source']): Promise<number> {
  const [first] = await SOURCES[source].read(ctx.db, 0, 1, null);
  return first ? first.position - 1 : 0;
}

async function lockExisting(ctx: MutationContext, id: string): Promise<StreamRecord> {
  const stream = await lockStream(ctx.db, id);
  if (!stream) throw notFound('Stream');
  return stream;
}

export const update = mutation({
  name: 'stream.update',
  summary: 'Change a stream; it goes on where it is',
  role: 'SUPER_ADMIN',
  audit: 'stream.updated',
  input: UpdateStream,
  output: SavedStream,
  scope: () => ownScope,
  async prepare(ctx, { url, headers }) {
    if (headers) assertHeaders(headers);
    if (url !== undefined) await assertMayAsk(ctx, url);
  },
  async run(ctx, { id, headers, renewSigningSecret = false, ...change }) {
    const before = await lockExisting(ctx, id);
    if (renewSigningSecret && before.kind !== 'webhook')
      throw badRequest('renewSigningSecret: only a webhook is signed; give headers for an OTLP endpoint');
    // Credentials are for the address that they were given for.
    if (change.url !== undefined && headers === undefined && before.headerNames.length > 0) {
      if (new URL(change.url).origin !== new URL(before.url).origin)
        throw badRequest('headers: another address needs its headers again; give them, or null for none');
    }
    const signingSecret = renewSigningSecret ? newSigningSecret() : null;
    const after = {
      name: change.name?.trim() ?? before.name,
      url: change.url ?? before.url,
      enabled: change.enabled ?? before.enabled,
      ...(headers === undefined
        ? { headerNames: before.headerNames, sealedHeaders: before.sealedHeaders }
        : sealHeaders(ctx, id, headers)),
      sealedSigningSecret: signingSecret
        ? ctx.services.keyring.seal(signingSecret, secretPlace(id))
        : before.sealedSigningSecret,
    };
    await updateStream(ctx.db, id, after);
    ctx.audit({
      entityType: 'EventStream',
      entityId: id,
      diff: diffOf(audited(before), audited(after)),
      metadata: {
        name: after.name,
        ...(headers === undefined ? {} : { headersChanged: true }),
        ...(renewSigningSecret ? { signingSecretRenewed: true } : {}),
      },
    });
    await publish(ctx, id);
    return { stream: await presentOne(ctx, id), signingSecret };
  },
});

export const remove = mutation({
  name: 'stream.delete',
  summary: 'Delete a stream; what waits is not sent',
  role: 'SUPER_ADMIN',
  audit: 'stream.deleted',
  input: StreamId,
  output: Deleted,
  scope: () => ownScope,
  async run(ctx, { id }) {
    const { name } = await lockExisting(ctx, id);
    await deleteStream(ctx.db, id);
    ctx.audit({ entityType: 'EventStream', entityId: id, metadata: { name } });
    await publish(ctx, id);
    return { deleted: true as const };
  },
});

const TEST_TYPE = 'test';

function testEntry(now: number, { id, name }: StreamRecord): SourceEntry {
  const text = `Headgate tests the stream ${name}`;
  return {
    ...{
      position: 0,
      at: new Date(now),
      json: { stream: id, message: text },
      eventName: 'stream.tested',
      text,
    },
    attributes: { 'stream.id': id },
  };
}

/** The test goes past the queue: it moves no cursor, and comes while a delivery fails. */
export const test = mutation({
  name: 'stream.test',
  summary: 'Send a test to the endpoint of a stream',
  role: 'SUPER_ADMIN',
  audit: 'stream.tested',
  input: StreamId,
  output: StreamTest,
  scope: () => ownScope,
  async prepare(ctx, { id }) {
    const stream = await findStream(ctx.db, id);
    if (!stream) throw notFound('Stream');
    const entries = [testEntry(ctx.clock.now(), stream)];
    return {
      stream,
      sent: await send(ctx, stream, entries, { id: `${id}-test-${newId()}`, type: TEST_TYPE }),
    };
  },
  async run(ctx, { id }, { stream, sent }) {
    const { status, taken } = sent;
    const message = !taken
      ? sent.error
      : sent.partial
        ? `The endpoint answered with status ${status} and took nothing${sent.partial.message ? `: ${sent.partial.message}` : ''}`
        : `The endpoint took it, with status ${status}`;
    const delivered = taken && sent.partial === null;
    ctx.audit({
      entityType: 'EventStream',
      entityId: id,
      metadata: { name: stream.name, delivered, status },
    });
    return { delivered, status, message };
  },
});
