/**
 * Makes a pipeline of a migration. It is a draft, so nothing runs before somebody deploys it. Where git describes the
 * environment, it is a pull request with the manifest of a draft, whatever the policy says about edits by hand.
 */
import { GeneratedMigration, GenerateMigration } from '../../../schemas/api/pipelines/migrations.ts';
import type { PlainManifest } from '../../delivery/bindings/index.ts';
import { findEnvironment } from '../../fleet/environments/index.ts';
import { environmentScope } from '../../identity/access/index.ts';
import { nameOfActor } from '../../platform/operation/actor-name.ts';
import type { Context, MutationContext } from '../../platform/operation/context.ts';
import { conflict, notFound, preconditionFailed } from '../../platform/operation/errors.ts';
import { mutation } from '../../platform/operation/operation.ts';
import { escaped } from '../../platform/text/markdown.ts';
import { configVariables } from '../../secrets/certificates/index.ts';
import { compile, type Definition, pipelineEditing, pipelineGraphs } from '../index.ts';
import { componentsOf, definitionOfComponents } from './migrated-definition.ts';
import { getMigration, lockFound, ofTeam, publishMigrationChange } from './operations.ts';
import { type MigrationRecord, pipelineExists, recordGeneration } from './store.ts';
import { assertTranslated } from './translate-operations.ts';

const OPERATION = 'migration.generate';
/** Listed in the text of a pull request. */
const MAX_LISTED = 50;

interface Target {
  environmentId: string;
  pipelineName: string;
  allowOpen?: boolean;
}

export const generate = mutation({
  name: OPERATION,
  summary: 'Make a draft of a migration, or a pull request where git describes the environment',
  role: 'EDITOR',
  audit: 'migration.generated',
  input: GenerateMigration,
  output: GeneratedMigration,
  async scope(ctx, { teamId, environmentId }) {
    const scope = await ofTeam(ctx, { teamId });
    const environment = await environmentScope(ctx, environmentId);
    if (environment.teamId !== teamId) throw notFound('Environment');
    return { ...scope, environmentId };
  },
  async prepare(ctx, { id, teamId, ...target }) {
    const record = await getMigration(ctx, { id, teamId });
    assertReady(record, target.allowOpen ?? false);
    const isOfGit = (await gitModeOf(ctx, target.environmentId)) === 'sync';
    return { revision: record.revision, written: isOfGit ? await propose(ctx, record, target) : null };
  },
  async run(ctx, { id, teamId, ...target }, { revision, written }) {
    const record = await lockFound(ctx, { id, teamId });
    const { environmentId, pipelineName } = target;
    const by = { by: nameOfActor(ctx.actor), at: new Date(ctx.clock.now()) };
    if (written) {
      const { proposed, pullRequestId, path } = written;
      await recordGeneration(ctx.db, id, {
        ...by,
        environmentId,
        pipelineName,
        pipelineId: null,
        pullRequestId,
      });
      const { number, branch } = proposed;
      await publishMigrationChange(ctx, record, { environmentId, pipelineName, number, branch, path });
      return { proposed };
    }
    if (record.revision !== revision)
      throw conflict('Somebody has changed this migration meanwhile; load it again and look at it before');
    if ((await gitModeOf(ctx, environmentId)) === 'sync')
      throw conflict('git took over the environment meanwhile; generate again');
    const definition = definitionOfComponents(componentsOf(record.translations));
    const pipelineId = await createDraft(ctx, record, target, definition);
    await recordGeneration(ctx.db, id, {
      ...by,
      environmentId,
      pipelineName,
      pipelineId,
      pullRequestId: null,
    });
    await publishMigrationChange(ctx, record, { environmentId, pipelineName, pipelineId });
    return {
      ...{ pipelineId, pipelineName, environmentId },
      missingSecrets: await missingSecrets(ctx, environmentId, record),
    };
  },
});

async function gitModeOf(ctx: Context, environmentId: string): Promise<string> {
  const environment = await findEnvironment(ctx.db, environmentId);
  if (!environment) throw notFound('Environment');
  return environment.gitMode;
}

/** @throws PRECONDITION_FAILED with what is to be done first */
function assertReady(record: MigrationRecord, allowOpen: boolean): void {
  assertTranslated(record);
  const { validation, name, generated } = record;
  if (!validation) throw preconditionFailed(`Validate the migration "${name}" first (migration.validate)`);
  if (generated?.pullRequest?.state === 'open')
    throw conflict(
      `Pull request #${generated.pullRequest.number} has a pipeline of this migration already; merge or close it first`,
    );
  if (componentsOf(record.translations).length === 0)
    throw preconditionFailed('Nothing of this migration is translated yet; translate a block first');
  if (allowOpen) return;
  const open = record.translations.filter(({ status }) => status === 'open').map(({ blockId }) => blockId);
  if (open.length > 0)
    throw preconditionFailed(
      `Nothing stands for ${open.length === 1 ? 'the block' : 'the blocks'} ${open.slice(0, 20).join(', ')} yet; translate ${open.length === 1 ? 'it' : 'them'}, leave ${open.length === 1 ? 'it' : 'them'} out, or generate with allowOpen`,
      { openBlocks: open },
    );
  const [error] = validation.errors;
  if (error)
    throw preconditionFailed(
      `The migration is not valid: ${error.message}; correct it and validate again, or generate with allowOpen`,
      { validationErrors: validation.errors },
    );
}

/** By the operations that the editor uses, with their audit rows. */
async function createDraft(
  ctx: MutationContext,
  { name, platform }: MigrationRecord,
  { environmentId, pipelineName }: Target,
  definition: Definition,
): Promise<string> {
  const description = descriptionOf(name, platform);
  const as = (action: string): MutationContext => ({
    ...ctx,
    audit: (entry) => ctx.audit({ action, ...entry }),
  });
  const created = await pipelineEditing.create.run(
    as(pipelineEditing.create.audit),
    { environmentId, name: pipelineName, description },
    undefined,
  );
  const { nodes, edges } = compile(definition);
  await pipelineGraphs.saveGraph.run(
    as(pipelineGraphs.saveGraph.audit),
    { pipelineId: created.id, nodes: nodes.map(({ id, ...node }) => node), edges },
    undefined,
  );
  return created.id;
}

const descriptionOf = (name: string, platform: string): string =>
  `Migrated from ${platform === 'FLUENTD' ? 'Fluentd' : platform}: ${name}`;

async function missingSecrets(
  ctx: Pick<Context, 'db'>,
  environmentId: string,
  { validation }: MigrationRecord,
): Promise<string[]> {
  const known = await configVariables(ctx.db, environmentId);
  return (validation?.secrets ?? []).filter((variable) => !known.has(variable));
}

async function propose(ctx: Context, record: MigrationRecord, { environmentId, pipelineName }: Target) {
  if (await pipelineExists(ctx.db, environmentId, pipelineName))
    throw conflict(
      `A pipeline named "${pipelineName}" exists already in this environment; choose another name`,
    );
  const { sources, transforms, sinks } = definitionOfComponents(componentsOf(record.translations));
  const sections = Object.entries({ sources, transforms, sinks });
  const manifest: PlainManifest = {
    ...{ kind: 'Pipeline', name: pipelineName, uid: null, labels: {} },
    spec: {
      ...{ description: descriptionOf(record.name, record.platform), deployed: false },
      ...Object.fromEntries(sections.filter(([, section]) => Object.keys(section).length > 0)),
    },
  };
  const missing = await missingSecrets(ctx, environmentId, record);
  return ctx.services.git.proposeManifest(ctx, environmentId, {
    ...{ objectId: record.id, operation: OPERATION, manifest },
    texts: { title: `Add the pipeline ${pipelineName}`, body: bodyOf(record, missing) },
  });
}

/** Markdown. What the notes say may quote the original, so they are not in it. */
function bodyOf(record: MigrationRecord, missing: readonly string[]): string {
  const { translations, validation } = record;
  const count = (status: string) => translations.filter((one) => one.status === status).length;
  const assisted = translations.filter(({ origin }) => origin === 'assistant').map(({ blockId }) => blockId);
  const listed = (names: readonly string[]) => names.slice(0, MAX_LISTED).join(', ');
  return [
    `${descriptionOf(escaped(record.name), record.platform)}.`,
    `Of ${translations.length} blocks, ${count('complete')} are translated in full, ${count('partial')} with differences, and ${count('open')} not at all.`,
    ...(assisted.length > 0 ? [`The assistant translated ${listed(assisted)}: review these.`] : []),
    ...(validation && !validation.valid
      ? [`It is not valid yet: ${escaped(validation.errors[0]?.message ?? '')}`]
      : []),
    ...(missing.length > 0
      ? [
          `Secrets that the environment lacks: ${listed(missing.map((one) => `\`${one}\``))}. Add them before a deploy.`,
        ]
      : []),
    'It comes as a draft (`deployed: false`). Set `deployed: true` when it is to run.',
  ].join('\n\n');
}
