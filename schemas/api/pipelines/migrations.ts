/** Migrations: configurations of another product that become pipelines, block by block. */
import Type, { type Static } from 'typebox';
import { GivenName, Id, Input, Nullable, Text, Timestamp } from '../common.ts';
import { Proposed } from '../delivery/git-words.ts';
import { ComponentKey, ComponentKind } from './graph.ts';
import { PipelineName } from './pipelines.ts';
import { ValidationError, ValidationLevel } from './validation.ts';

export const MIGRATION_PLATFORMS = ['FLUENTD'] as const;
export const MigrationPlatform = Type.Enum([...MIGRATION_PLATFORMS]);
/** How far it has come. An edit of a block brings it back to TRANSLATED. */
export const MIGRATION_STATUSES = ['CREATED', 'PARSED', 'TRANSLATED', 'VALIDATED', 'GENERATED'] as const;
export const MigrationStatus = Type.Enum([...MIGRATION_STATUSES]);
export type MigrationStatus = Static<typeof MigrationStatus>;

/** Bytes of the original configuration. */
export const MAX_ORIGINAL_BYTES = 500_000;
export const MAX_BLOCK_COMPONENTS = 50;
export const MAX_SAMPLE_LINES = 100;
export const MAX_SAMPLE_BYTES = 65_536;

export const MigratedComponent = Input({
  componentKey: ComponentKey,
  kind: ComponentKind,
  componentType: Type.String({ minLength: 1, maxLength: 100 }),
  config: Type.Record(Type.String({ maxLength: 200 }), Type.Unknown()),
  /** Component keys, with `.port` for named outputs. */
  inputs: Type.Array(Type.String({ minLength: 1, maxLength: 260 }), { maxItems: 500 }),
});
export type MigratedComponent = Static<typeof MigratedComponent>;

export const MigrationNote = Type.Object({
  /** `difference`: it behaves otherwise than the original. `action`: a user must do something first. */
  level: Type.Enum(['info', 'difference', 'action']),
  message: Type.String(),
  /** Line in the original configuration. */
  line: Nullable(Type.Integer()),
});
export type MigrationNote = Static<typeof MigrationNote>;

export const BlockTranslation = Type.Object({
  blockId: Type.String(),
  /** `open`: nothing stands for the block yet. */
  status: Type.Enum(['complete', 'partial', 'open']),
  /** 0 to 1: how sure the translation is to behave as the original. */
  confidence: Type.Number(),
  origin: Type.Enum(['rules', 'assistant', 'user']),
  components: Type.Array(MigratedComponent),
  notes: Type.Array(MigrationNote),
});

export const MigrationBlock = Type.Object({
  /** `b1`, `b2`, … in the order of the original. */
  id: Type.String(),
  directive: Type.Enum(['source', 'filter', 'match', 'system', 'unknown']),
  plugin: Nullable(Type.String()),
  pattern: Type.String(),
  label: Nullable(Type.String()),
  /** The lines of the original; for a VIEWER with masked credentials. */
  text: Type.String(),
  line: Type.Integer(),
  endLine: Type.Integer(),
  /** Null before `migration.translate`. */
  translation: Nullable(BlockTranslation),
  /** What the last validation found in its components. */
  errors: Type.Array(ValidationError),
  /** What the first component of the block reads, and the keys that other blocks read from it. */
  inputs: Type.Array(Type.String()),
  outputs: Type.Array(Type.String()),
});
export type MigrationBlock = Static<typeof MigrationBlock>;

export const MigrationProblem = Type.Object({
  severity: Type.Enum(['error', 'warning']),
  line: Type.Integer(),
  column: Type.Integer(),
  message: Type.String(),
});

export const MigrationValidation = Type.Object({
  valid: Type.Boolean(),
  /** Of which block a component is, by `componentKey`: see the blocks. */
  errors: Type.Array(ValidationError),
  warnings: Type.Array(ValidationError),
  levels: Type.Array(ValidationLevel),
  /** Variables of secrets that the components refer to, `SVC_SECRET_…`: an environment must have them before a deploy. */
  secrets: Type.Array(Type.String()),
  /** Blocks that nothing stands for. */
  openBlocks: Type.Array(Type.String()),
  at: Timestamp,
});
export type MigrationValidation = Static<typeof MigrationValidation>;

/** What `migration.generate` made. A pipeline or pull request that was deleted since is null. */
export const GeneratedResult = Type.Object({
  pipelineName: Type.String(),
  environmentId: Nullable(Id),
  pipelineId: Nullable(Id),
  pullRequest: Nullable(
    Type.Object({
      number: Type.Integer(),
      url: Type.String(),
      state: Type.Enum(['open', 'merged', 'closed']),
    }),
  ),
  at: Timestamp,
  by: Type.String(),
});

const SUMMARY = {
  id: Id,
  teamId: Id,
  name: Type.String(),
  platform: MigrationPlatform,
  status: MigrationStatus,
  /** Of the original. */
  bytes: Type.Integer(),
  blockCount: Type.Integer(),
  /** Blocks that are translated, and those that nothing stands for. */
  translatedCount: Type.Integer(),
  openCount: Type.Integer(),
  createdBy: Type.String(),
  createdAt: Timestamp,
  updatedAt: Timestamp,
  generated: Nullable(GeneratedResult),
};
export const MigrationSummary = Type.Object(SUMMARY);
export type MigrationSummary = Static<typeof MigrationSummary>;
/** The newest first. */
export const MigrationList = Type.Array(MigrationSummary);

export const Migration = Type.Object({
  ...SUMMARY,
  /** For a VIEWER with masked credentials. */
  originalConfig: Type.String(),
  problems: Type.Array(MigrationProblem),
  blocks: Type.Array(MigrationBlock),
  /** Null before `migration.validate`, and after any edit since. */
  validation: Nullable(MigrationValidation),
  /** Grows with every change. */
  revision: Type.Integer(),
  /** Whether the team has an assistant for blocks that no rule knows. */
  hasAssistant: Type.Boolean(),
});
export type Migration = Static<typeof Migration>;

export const ListMigrations = Input({ teamId: Id });
export const MigrationId = Input({ id: Id, teamId: Id });
export type MigrationId = Static<typeof MigrationId>;
export const CreateMigration = Input({
  teamId: Id,
  name: GivenName,
  platform: MigrationPlatform,
  originalConfig: Type.String({ minLength: 1, maxLength: MAX_ORIGINAL_BYTES }),
});

const BlockId = Type.String({ minLength: 1, maxLength: 20 });
export const RetranslateBlock = Input({
  id: Id,
  teamId: Id,
  blockId: BlockId,
  /** `auto`, as without it: the rules, and the assistant where they leave the block open. */
  by: Type.Optional(Type.Enum(['auto', 'rules', 'assistant'])),
});
export const UpdateBlock = Input({
  id: Id,
  teamId: Id,
  blockId: BlockId,
  /** Without components the block is left out on purpose. */
  config: Input({ components: Type.Array(MigratedComponent, { maxItems: MAX_BLOCK_COMPONENTS }) }),
});
export const GenerateMigration = Input({
  id: Id,
  teamId: Id,
  environmentId: Id,
  pipelineName: PipelineName,
  /** Also with blocks that nothing stands for, and with errors: the draft is finished in the editor. */
  allowOpen: Type.Optional(Type.Boolean()),
});
/** A draft; where git describes the environment, a pull request with its manifest. */
export const GeneratedMigration = Type.Union([
  Type.Object({
    pipelineId: Id,
    pipelineName: Type.String(),
    environmentId: Id,
    /** Variables of secrets that the environment lacks. */
    missingSecrets: Type.Array(Type.String()),
  }),
  Proposed,
]);

export const RunSamples = Input({
  id: Id,
  teamId: Id,
  /** At most 64 KB together. */
  lines: Type.Array(Text(MAX_SAMPLE_BYTES), { minItems: 1, maxItems: MAX_SAMPLE_LINES }),
  /** The source that reads them; the first that reads text where absent. */
  blockId: Type.Optional(BlockId),
  /** For a source whose events bring their tag. */
  tag: Type.Optional(Type.String({ minLength: 1, maxLength: 500 })),
});

const Event = Type.Record(Type.String(), Type.Unknown());
/** A field in which the two events differ. Values are JSON texts; null where the field is not there. */
export const SampleDifference = Type.Object({
  field: Type.String(),
  original: Nullable(Type.String()),
  translated: Nullable(Type.String()),
});
export type SampleDifference = Static<typeof SampleDifference>;

/** What one output got of one line. */
export const SampleOutput = Type.Object({
  /** The block of the output. */
  blockId: Type.String(),
  /** The output on either side: the plugin of the block, the key of the sink. Null where it got nothing. */
  original: Nullable(Type.Object({ output: Type.String(), tag: Type.String(), event: Event })),
  translated: Nullable(Type.Object({ output: Type.String(), event: Event })),
  verdict: Type.Enum(['equal', 'different', 'onlyOriginal', 'onlyTranslated']),
  differences: Type.Array(SampleDifference),
});
export type SampleOutput = Static<typeof SampleOutput>;

export const SampleLine = Type.Object({
  line: Type.String(),
  outputs: Type.Array(SampleOutput),
  /** What either side cannot run here, and why: nothing is guessed, and outputs behind it are not compared. */
  unknown: Type.Array(
    Type.Object({ side: Type.Enum(['original', 'translated']), at: Type.String(), reason: Type.String() }),
  ),
  /** `unknown` where something on the way could not be run. */
  verdict: Type.Enum(['equal', 'different', 'unknown']),
});
export type SampleLine = Static<typeof SampleLine>;

export const SampleRun = Type.Object({
  /** The source that read the lines, and the tag that its events began with. */
  blockId: Type.String(),
  tag: Type.String(),
  lines: Type.Array(SampleLine),
  counts: Type.Object({ equal: Type.Integer(), different: Type.Integer(), unknown: Type.Integer() }),
});
export type SampleRun = Static<typeof SampleRun>;
