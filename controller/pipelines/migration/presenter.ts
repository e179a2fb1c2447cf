/** A stored migration as readers see it. Readers who may not change it see no credentials. */
import type {
  Migration,
  MigrationBlock,
  MigrationSummary,
} from '../../../schemas/api/pipelines/migrations.ts';
import type { ValidationError } from '../../../schemas/api/pipelines/validation.ts';
import { pullRequestUrl } from '../../delivery/pull-requests/index.ts';
import { sealingContext } from '../../platform/crypto/sealed-columns.ts';
import type { Context } from '../../platform/operation/context.ts';
import { allows } from '../../platform/operation/permissions.ts';
import { findAssistant } from '../assistant/index.ts';
import { maskSensitive } from '../index.ts';
import { withTexts } from './original/block-text.ts';
import { maskOriginal } from './original/mask-original.ts';
import type { MigrationRecord, StoredValidation, SummaryRecord } from './store.ts';
import type { BlockTranslation } from './translation.ts';

export const openOriginal = (
  { services }: Pick<Context, 'services'>,
  { id, sealedOriginal }: Pick<MigrationRecord, 'id' | 'sealedOriginal'>,
): string => services.keyring.open(sealedOriginal, sealingContext('config_migrations', id));

export function presentSummary(
  ctx: Pick<Context, 'services'>,
  { generated, ...record }: SummaryRecord,
): MigrationSummary {
  const { id, teamId, name, platform, status, bytes, blockCount, translatedCount, openCount } = record;
  const { createdBy, createdAt, updatedAt } = record;
  const environmentId = generated?.environmentId ?? '';
  return {
    ...{ id, teamId, name, platform, status, bytes, blockCount, translatedCount, openCount },
    ...{ createdBy, createdAt, updatedAt },
    generated: generated && {
      ...generated,
      pullRequest: generated.pullRequest && {
        ...generated.pullRequest,
        url: pullRequestUrl(ctx, environmentId, generated.pullRequest),
      },
    },
  };
}

export async function presentMigration(ctx: Context, record: MigrationRecord): Promise<Migration> {
  const { teamId, problems, translations, validation, revision } = record;
  const isEditor = allows(ctx.actor, { teamId }, { role: 'EDITOR' });
  const original = openOriginal(ctx, record);
  const text = isEditor ? original : maskOriginal(original);
  const byBlock = new Map(translations.map((one) => [one.blockId, one]));
  const blocks = withTexts(text, record.blocks).map((block): MigrationBlock => {
    const translation = byBlock.get(block.id) ?? null;
    const shown = translation && (isEditor ? translation : masked(translation));
    return {
      ...{ ...block, translation: shown && copied(shown), errors: errorsIn(translation, validation) },
      inputs: [...(translation?.connection.inputs ?? [])],
      outputs: [...(translation?.connection.outputs ?? [])],
    };
  });
  return {
    ...presentSummary(ctx, record),
    originalConfig: text,
    problems,
    blocks,
    validation: validation && { ...validation, at: new Date(validation.at) },
    revision,
    hasAssistant: (await findAssistant(ctx, teamId)) !== null,
  };
}

const masked = (translation: BlockTranslation): BlockTranslation => ({
  ...translation,
  components: translation.components.map((one) => ({ ...one, config: maskSensitive(one.config) })),
});

/** The schema has no readonly arrays. */
const copied = ({
  blockId,
  status,
  confidence,
  origin,
  components,
  notes,
}: BlockTranslation): MigrationBlock['translation'] => ({
  ...{ blockId, status, confidence, origin },
  components: components.map((one) => ({ ...one, inputs: [...one.inputs] })),
  notes: [...notes],
});

function errorsIn(
  translation: BlockTranslation | null,
  validation: StoredValidation | null,
): ValidationError[] {
  const keys = new Set(translation?.components.map(({ componentKey }) => componentKey));
  return (validation?.errors ?? []).filter(({ componentKey }) => keys.has(componentKey ?? ''));
}
