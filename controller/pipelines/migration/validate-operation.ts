/** Validates all components together, as a deploy would, but for secrets: which environment it will be is not known yet. */
import { Migration, MigrationId } from '../../../schemas/api/pipelines/migrations.ts';
import type { ValidationError } from '../../../schemas/api/pipelines/validation.ts';
import type { Context } from '../../platform/operation/context.ts';
import { conflict } from '../../platform/operation/errors.ts';
import { mutation } from '../../platform/operation/operation.ts';
import { secretReferences } from '../../secrets/index.ts';
import { checkPipeline, compile, maskSensitiveIn, validationError, variablesNamedIn } from '../index.ts';
import { componentsOf, definitionOfComponents } from './migrated-definition.ts';
import { getMigration, lockFound, ofTeam, publishMigrationChange } from './operations.ts';
import { presentMigration } from './presenter.ts';
import { type StoredValidation, updateMigration } from './store.ts';
import { assertTranslated } from './translate-operations.ts';
import type { BlockTranslation } from './translation.ts';

export const validate = mutation({
  name: 'migration.validate',
  summary: 'Validate what all blocks became: components, options, every program, and the whole by the engine',
  role: 'EDITOR',
  audit: 'migration.validated',
  input: MigrationId,
  output: Migration,
  scope: ofTeam,
  async prepare(ctx, input) {
    const record = await getMigration(ctx, input);
    assertTranslated(record);
    return { revision: record.revision, validation: await validateTranslations(ctx, record.translations) };
  },
  async run(ctx, input, { revision, validation }) {
    const record = await lockFound(ctx, input);
    if (record.revision !== revision)
      throw conflict('Somebody has changed this migration meanwhile; validate it again');
    const at = new Date(ctx.clock.now());
    const status = record.status === 'GENERATED' ? 'GENERATED' : 'VALIDATED';
    await updateMigration(ctx.db, record.id, { status, validation }, at);
    const { valid, errors } = validation;
    await publishMigrationChange(ctx, record, { valid, errors: errors.length });
    return presentMigration(ctx, await getMigration(ctx, input));
  },
});

async function validateTranslations(
  ctx: Context,
  translations: readonly BlockTranslation[],
): Promise<StoredValidation> {
  const components = componentsOf(translations);
  const definition = definitionOfComponents(components);
  const { configYaml } = compile(definition);
  const report = await checkPipeline(definition, {
    secrets: variablesNamedIn(configYaml),
    engine: ctx.services.engine,
    engineLevel: { configYaml },
    nodeEngines: [],
    signal: ctx.signal,
  });
  // A checker may quote what it refuses, and readers of this may be VIEWERs.
  const present = (finding: Parameters<typeof validationError>[0]): ValidationError => {
    const error = validationError(finding);
    return { ...error, message: maskSensitiveIn(components, error.message) };
  };
  return {
    valid: report.findings.length === 0,
    errors: report.findings.map(present),
    warnings: report.warnings.map(present),
    levels: report.levels,
    secrets: secretReferences(configYaml).map(({ variable }) => variable),
    openBlocks: translations.filter(({ status }) => status === 'open').map(({ blockId }) => blockId),
    at: new Date(ctx.clock.now()).toISOString(),
  };
}
