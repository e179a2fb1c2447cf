/** A pipeline: components, where they run, and how a change reaches the nodes. */
import Type, { type Static } from 'typebox';
import { byComponent, labels, manifest, Strict, text, type WithDefaults } from './common.ts';

const Options = Type.Unknown({ description: 'An option of the engine for this type of component.' });
const ComponentType = Type.String({
  description: 'The type of component, as the engine names it.',
  minLength: 1,
  maxLength: 100,
});
const Inputs = Type.Array(Type.String({ minLength: 1, maxLength: 260 }), {
  description:
    'Where the events come from: component keys, or key.output for a named output such as split.errors. At least one.',
  minItems: 1,
  maxItems: 500,
});

/** A component as written: what the engine calls its type, and the options of that type. */
export interface SourceConfig {
  type: string;
  [option: string]: unknown;
}
export interface TransformConfig extends SourceConfig {
  inputs: string[];
}
export type SinkConfig = TransformConfig;

const Source = Type.Unsafe<SourceConfig>(
  Type.Object(
    { type: ComponentType },
    { description: 'Where events come in.', additionalProperties: Options },
  ),
);
const Transform = Type.Unsafe<TransformConfig>(
  Type.Object(
    { type: ComponentType, inputs: Inputs },
    { description: 'What happens to events on the way.', additionalProperties: Options },
  ),
);
const Sink = Type.Unsafe<SinkConfig>(
  Type.Object(
    { type: ComponentType, inputs: Inputs },
    { description: 'Where events go.', additionalProperties: Options },
  ),
);

const EditorData = Strict('How the editor draws a component, and whether it takes part.', {
  displayName: Type.Optional(text('The title shown in the editor.', 200)),
  position: Type.Optional(
    Type.Array(Type.Number(), {
      description: 'Where the editor draws the component: [x, y].',
      minItems: 2,
      maxItems: 2,
    }),
  ),
  disabled: Type.Optional(
    Type.Boolean({ description: 'Leaves the component out of the generated config.', default: false }),
  ),
});

const Rollout = Strict('How a new version reaches the nodes. Without it, every node gets it at once.', {
  strategy: Type.Enum(['canary'], { description: 'canary: some nodes first, the others after a verdict.' }),
  canarySelector: labels('Labels of the nodes that get the version first.'),
  healthCheckWindowMinutes: Type.Integer({
    description: 'How long the canary nodes are watched before the verdict, in minutes.',
    minimum: 1,
    maximum: 10_080,
  }),
  onPass: Type.Optional(
    Type.Enum(['broaden', 'hold'], {
      description: 'After a healthy window: go on to all nodes, or wait for a person.',
      default: 'broaden',
    }),
  ),
  onFail: Type.Optional(
    Type.Enum(['rollback', 'hold'], {
      description: 'After an unhealthy window: put the version before back, or wait for a person.',
      default: 'rollback',
    }),
  ),
});

const Test = Strict('A test of one transform: an event goes in, a condition must hold for what comes out.', {
  name: Type.String({ description: 'What the test shows.', minLength: 1, maxLength: 200 }),
  component: Type.String({
    description: 'The transform under test, or one of its outputs, as in split.errors.',
    minLength: 1,
    maxLength: 128,
  }),
  input: Type.Unknown({ description: 'The event, or a list of events; often { $file: … }.' }),
  expect: Type.String({
    description:
      'A VRL condition that every outgoing event must fulfil, and at least one must come out. false: none may come out.',
    minLength: 1,
    maxLength: 65_536,
  }),
});

export const PipelineName = Type.String({
  description:
    'Letters, digits, spaces, _ and -, beginning with a letter or a digit, 1 to 100 characters. Unique in its environment, whatever the case.',
  minLength: 1,
  maxLength: 100,
  pattern: '^[a-zA-Z0-9][a-zA-Z0-9 _-]*$',
});

export const PipelineSpecSchema = Strict('What should run.', {
  description: Type.Optional(text('What the pipeline is for.', 2000)),
  deployed: Type.Optional(
    Type.Boolean({ description: 'false keeps the pipeline a draft that runs nowhere.', default: true }),
  ),
  nodeSelector: Type.Optional(labels('Labels of the nodes that run it. Absent: every node.')),
  logLevel: Type.Optional(
    Type.Enum(['trace', 'debug', 'info', 'warn', 'error'], {
      description: 'How much the engine logs.',
      default: 'info',
    }),
  ),
  drainSeconds: Type.Optional(
    Type.Integer({
      description:
        'Seconds that an engine gets to deliver what it holds when it is stopped, before a change as much as at the end. What is in memory then is lost. Absent: 25.',
      minimum: 1,
      maximum: 600,
    }),
  ),
  values: Type.Optional(
    Type.Record(
      Type.String({ pattern: '^[a-zA-Z_][a-zA-Z0-9_.-]*$' }),
      Type.Union([Type.String({ maxLength: 65_536 }), Type.Number(), Type.Boolean()]),
      {
        description:
          // biome-ignore lint/suspicious/noTemplateCurlyInString: the placeholder as it is written in a manifest
          'Values of this environment. ${value.name} in a string of the components or of global is replaced by one.',
        maxProperties: 500,
        additionalProperties: false,
        default: {},
      },
    ),
  ),
  sources: Type.Optional(byComponent('Where events come in, by component key.', Source)),
  transforms: Type.Optional(byComponent('What happens to them on the way, by component key.', Transform)),
  sinks: Type.Optional(byComponent('Where they go, by component key.', Sink)),
  global: Type.Optional(
    Type.Record(Type.String(), Type.Unknown(), {
      description: 'Other top-level sections of the engine config, such as enrichment_tables.',
      default: {},
    }),
  ),
  components: Type.Optional(byComponent('Editor data, by component key.', EditorData)),
  rollout: Type.Optional(Rollout),
  autoRevert: Type.Optional(
    Type.Boolean({
      description:
        'false leaves a new version on nodes where it does not run; true serves them the version before. Absent: as the environment has it.',
    }),
  ),
  tests: Type.Optional(
    Type.Array(Test, {
      description: 'Tests of transforms, run before a change is applied.',
      maxItems: 500,
      default: [],
    }),
  ),
  dependsOn: Type.Optional(
    Type.Array(Type.String({ minLength: 1, maxLength: 100 }), {
      description: 'Names of pipelines that are applied before this one.',
      maxItems: 100,
      default: [],
    }),
  ),
  suspend: Type.Optional(
    Type.Boolean({ description: 'true: git leaves this pipeline alone until it is false.', default: false }),
  ),
});

export const PipelineManifest = manifest(
  'Pipeline',
  'A data pipeline: what should run, and where.',
  PipelineName,
  PipelineSpecSchema,
);

export type PipelineSpec = WithDefaults<
  Static<typeof PipelineSpecSchema>,
  | 'deployed'
  | 'logLevel'
  | 'values'
  | 'sources'
  | 'transforms'
  | 'sinks'
  | 'global'
  | 'components'
  | 'tests'
  | 'dependsOn'
  | 'suspend'
>;
