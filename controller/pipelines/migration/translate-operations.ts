/** Operations that decide what stands for a block: rules, the assistant, or a user. Each brings the migration back to TRANSLATED. */
import {
  Migration,
  MigrationId,
  RetranslateBlock,
  UpdateBlock,
} from '../../../schemas/api/pipelines/migrations.ts';
import { type AuditDiff, diffOf } from '../../platform/operation/audit-entry.ts';
import type { Context, MutationContext } from '../../platform/operation/context.ts';
import {
  badRequest,
  conflict,
  DomainError,
  notFound,
  preconditionFailed,
} from '../../platform/operation/errors.ts';
import { mutation } from '../../platform/operation/operation.ts';
import { findAssistant } from '../assistant/index.ts';
import { analyzeOriginal } from './analyze-original.ts';
import { notAssisted, translateByAssistant } from './assistant-translation.ts';
import { checkBlock } from './check-block.ts';
import { componentsOf } from './migrated-definition.ts';
import { getMigration, lockFound, ofTeam, publishMigrationChange } from './operations.ts';
import { openOriginal, presentMigration } from './presenter.ts';
import { type MigrationRecord, type StoredTranslation, updateMigration } from './store.ts';
import type { MigrationBlock, TranslatedComponent } from './translation.ts';

/** Blocks that the assistant is asked about at a time: a user waits for it. */
const MAX_ASSISTED = 12;
const ASSISTED_MS = 100_000;

/** @throws PRECONDITION_FAILED before the blocks are known */
function assertParsed({ status, name }: MigrationRecord): void {
  if (status === 'CREATED') throw preconditionFailed(`Parse the migration "${name}" first (migration.parse)`);
}

/** @throws PRECONDITION_FAILED before anything stands for the blocks */
export function assertTranslated(record: MigrationRecord): void {
  assertParsed(record);
  if (record.status === 'PARSED')
    throw preconditionFailed(`Translate the migration "${record.name}" first (migration.translate)`);
}

/** What the rules make of all blocks. */
const translateByRules = (ctx: Context, record: MigrationRecord) =>
  analyzeOriginal(openOriginal(ctx, record), ctx.signal);

export const translate = mutation({
  name: 'migration.translate',
  summary: 'Translate every block by rules, then by the assistant of the team; what a user has edited stays',
  role: 'EDITOR',
  audit: 'migration.translated',
  input: MigrationId,
  output: Migration,
  scope: ofTeam,
  async prepare(ctx, input) {
    const record = await getMigration(ctx, input);
    assertParsed(record);
    const { blocks, translations } = await translateByRules(ctx, record);
    const edited = new Map(
      record.translations.filter(({ origin }) => origin === 'user').map((one) => [one.blockId, one]),
    );
    const merged = translations.map((one) => edited.get(one.blockId) ?? one);
    return { revision: record.revision, translations: await assistOpen(ctx, input.teamId, blocks, merged) };
  },
  run: (ctx, input, { revision, translations }) => saveTranslations(ctx, input, revision, translations),
});

/** The blocks that are open, one after the other: each answer may feed the next. */
async function assistOpen(
  ctx: Context,
  teamId: string,
  blocks: readonly MigrationBlock[],
  translations: readonly StoredTranslation[],
): Promise<StoredTranslation[]> {
  const all = [...translations];
  const assistant = await findAssistant(ctx, teamId);
  if (!assistant) return all;
  const late = AbortSignal.timeout(ASSISTED_MS);
  const within = { ...ctx, signal: AbortSignal.any([ctx.signal, late]) };
  let asked = 0;
  for (const [index, present] of all.entries()) {
    const block = blocks.find(({ id }) => id === present.blockId);
    if (!block || present.status !== 'open' || present.origin === 'user') continue;
    if (asked >= MAX_ASSISTED) {
      all[index] = notAssisted(
        present,
        new DomainError(
          'TOO_MANY_REQUESTS',
          `it translates ${MAX_ASSISTED} blocks at a time; ask for this one alone`,
        ),
      );
      continue;
    }
    asked += 1;
    try {
      all[index] = {
        ...present,
        ...(await translateByAssistant(within, assistant, { block, present, translations: all })),
      };
    } catch (error) {
      ctx.signal.throwIfAborted();
      const reason = late.aborted
        ? new DomainError('UNAVAILABLE', 'its time was over; ask for this block alone')
        : error;
      all[index] = { ...present, ...notAssisted(present, reason) };
      // Without a budget or an answer, the next block gets none either.
      asked = MAX_ASSISTED;
    }
  }
  return all;
}

/** @throws CONFLICT where the migration has changed since it was read */
async function saveTranslations(
  ctx: MutationContext,
  input: MigrationId,
  revision: number,
  translations: readonly StoredTranslation[],
  metadata: Record<string, unknown> = {},
  diff?: AuditDiff,
) {
  const record = await lockFound(ctx, input);
  if (record.revision !== revision)
    throw conflict('Somebody has changed this migration meanwhile; load it again and repeat your change');
  await updateMigration(
    ctx.db,
    record.id,
    { status: 'TRANSLATED', translations: [...translations], validation: null },
    new Date(ctx.clock.now()),
  );
  const open = translations.filter(({ status }) => status === 'open').length;
  await publishMigrationChange(ctx, record, { open, ...metadata }, diff);
  return presentMigration(ctx, await getMigration(ctx, input));
}

/** @throws NOT_FOUND */
function presentOf(record: MigrationRecord, blockId: string): StoredTranslation {
  const found = record.translations.find((one) => one.blockId === blockId);
  if (!found) throw notFound('Block');
  return found;
}

/** What stands for a block, as the audit log has it: options may hold what is nobody else's to read. */
const auditedBlock = ({ origin, status, components }: StoredTranslation) => ({
  ...{ origin, status },
  components: components.map(({ componentKey }) => componentKey).join(', '),
});

function saveBlock(
  ctx: MutationContext,
  { blockId, ...input }: MigrationId & { blockId: string },
  record: MigrationRecord,
  translation: StoredTranslation,
) {
  const all = record.translations.map((one) => (one.blockId === blockId ? translation : one));
  const diff = diffOf(auditedBlock(presentOf(record, blockId)), auditedBlock(translation));
  return saveTranslations(ctx, input, record.revision, all, { blockId }, diff);
}

export const retranslateBlock = mutation({
  name: 'migration.retranslateBlock',
  summary: 'Translate one block again, by rules or by the assistant; an edit of it is replaced',
  role: 'EDITOR',
  audit: 'migration.blockTranslated',
  input: RetranslateBlock,
  output: Migration,
  scope: ofTeam,
  async prepare(ctx, { id, teamId, blockId, by = 'auto' }) {
    const record = await getMigration(ctx, { id, teamId });
    assertTranslated(record);
    presentOf(record, blockId);
    const { blocks, translations } = await translateByRules(ctx, record);
    const block = blocks.find((one) => one.id === blockId);
    const present = translations.find((one) => one.blockId === blockId);
    if (!block || !present) throw notFound('Block');
    if (by === 'rules' || (by === 'auto' && present.status !== 'open'))
      return { record, translation: present };
    const assistant = await findAssistant(ctx, teamId);
    if (!assistant && by === 'assistant')
      throw preconditionFailed('This team has no assistant; an ADMIN sets one up in its settings');
    if (!assistant) return { record, translation: present };
    const others = record.translations;
    const assisted = await translateByAssistant(ctx, assistant, { block, present, translations: others });
    return { record, translation: { ...present, ...assisted } };
  },
  run: (ctx, { id, teamId, blockId }, { record, translation }) =>
    saveBlock(ctx, { id, teamId, blockId }, record, translation),
});

export const updateBlockConfig = mutation({
  name: 'migration.updateBlockConfig',
  summary: 'Replace the components of one block; without any the block is left out on purpose',
  role: 'EDITOR',
  audit: 'migration.blockUpdated',
  input: UpdateBlock,
  output: Migration,
  scope: ofTeam,
  async prepare(ctx, { id, teamId, blockId, config: { components } }) {
    const record = await getMigration(ctx, { id, teamId });
    assertTranslated(record);
    const present = presentOf(record, blockId);
    const block = record.blocks.find((one) => one.id === blockId);
    const others = componentsOf(record.translations.filter((one) => one.blockId !== blockId));
    const wanted = components.length > 0 ? components : passingOn(block?.directive, present);
    const errors = await checkBlock(ctx, wanted, others);
    const [first] = errors;
    if (first) {
      const more = errors.length > 1 ? ` (and ${errors.length - 1} more)` : '';
      throw badRequest(`The block is not saved: ${first.message}${more}`, { validationErrors: errors });
    }
    const translation = userTranslation(present, wanted, components.length === 0);
    return { record, translation };
  },
  run: (ctx, { id, teamId, blockId }, { record, translation }) =>
    saveBlock(ctx, { id, teamId, blockId }, record, translation),
});

const userTranslation = (
  { blockId, connection }: StoredTranslation,
  components: readonly TranslatedComponent[],
  isLeftOut: boolean,
): StoredTranslation => ({
  ...{ blockId, connection, status: 'complete', confidence: 1, origin: 'user', components },
  notes: isLeftOut
    ? [{ level: 'info', message: 'A user has left this block out: events pass it unchanged.', line: null }]
    : [],
});

/** What stands for a block that is left out: other blocks go on reading from where it was. */
function passingOn(
  directive: MigrationBlock['directive'] | undefined,
  { connection: { routing, inputs, outputs } }: StoredTranslation,
): TranslatedComponent[] {
  const [output] = outputs;
  if (directive !== 'filter' || output === undefined || inputs.length === 0) return [...routing];
  const through: TranslatedComponent = {
    ...{ componentKey: output.split('.')[0] ?? output, kind: 'TRANSFORM', componentType: 'remap' },
    ...{ config: { source: '.' }, inputs },
  };
  return [...routing, through];
}
