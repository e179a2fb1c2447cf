/** What a VIEWER sees of a pipeline: its config with credentials masked, and what the checks say. */
import { stringify } from 'yaml';
import type { Pipeline } from '../../../../schemas/api/pipelines/pipelines.ts';
import type { Context } from '../../../platform/operation/context.ts';
import { compile, definitionOf, maskSensitiveIn, type Validity } from '../../index.ts';
import type { Section } from './sections.ts';

const CONFIG_BYTES = 40_000;
const CHECK_BYTES = 4_000;
const TYPES_BYTES = 6_000;
const OPTIONS_BYTES = 8_000;
const MOST_TYPES = 40;

export function pipelineSection(pipeline: Pipeline): Section {
  const { name, description, environment, isDraft, managedBy, deployedVersionNumber, git } = pipeline;
  const lines = [
    `Name: ${name}`,
    ...(description ? [`Description: ${description}`] : []),
    `Environment: ${environment.name}`,
    isDraft ? 'State: a draft, not deployed' : `State: version ${deployedVersionNumber} is deployed`,
    managedBy === 'git' && git
      ? `Described in git at ${git.path}; an accepted change becomes a commit or a pull request, or is refused, as the environment wants it`
      : 'Edited in Headgate; an accepted change is saved and waits for the next deploy',
  ];
  return { title: 'Pipeline', text: lines.join('\n'), maxBytes: 2_000 };
}

export function configSection(pipeline: Pipeline): Section {
  const { configYaml } = compile(definitionOf(pipeline));
  const omitted = pipeline.nodes.filter(({ disabled }) => disabled);
  const notes = omitted.map(
    ({ componentKey, componentType, config }) =>
      `# disabled: ${stringify({ [componentKey]: { type: componentType, ...config } })
        .trimEnd()
        .replaceAll('\n', '\n# ')}`,
  );
  return { title: 'Engine config', text: [configYaml, ...notes].join('\n'), maxBytes: CONFIG_BYTES };
}

export function checksSection({ errors, warnings }: Validity, masked: readonly unknown[]): Section {
  const say = (level: string) => (error: Validity['errors'][number]) =>
    `${level}${error.componentKey ? ` in "${error.componentKey}"` : ''}: ${error.message}`;
  const lines = [...errors.map(say('error')), ...warnings.map(say('warning'))];
  return {
    title: 'What the checks of a deploy say',
    text: lines.length === 0 ? 'Nothing is wrong.' : maskSensitiveIn(masked, lines.join('\n')),
    maxBytes: CHECK_BYTES,
  };
}

/** Names alone, which fit; the checks of a proposal report wrong values. */
export async function optionsSection(ctx: Context, { nodes }: Pipeline): Promise<Section> {
  const used = new Map(
    nodes.map(({ kind, componentType }) => [`${kind} ${componentType}`, { kind, componentType }]),
  );
  const lines: string[] = [];
  for (const { kind, componentType } of [...used.values()].slice(0, MOST_TYPES)) {
    const known = await ctx.services.engine.componentSchema(kind, componentType).catch(() => null);
    const names = Object.keys((known?.schema.properties as object | undefined) ?? {});
    if (names.length > 0) lines.push(`${kind.toLowerCase()} ${componentType}: ${names.join(', ')}`);
  }
  return { title: 'Options of the types in use', text: lines.join('\n'), maxBytes: OPTIONS_BYTES };
}

export async function typesSection(ctx: Context): Promise<Section> {
  const { engine, components } = await ctx.services.engine.catalogue();
  const of = (kind: string) =>
    components
      .filter((component) => component.kind === kind)
      .map(({ type }) => type)
      .join(', ');
  return {
    title: `Component types of ${engine}`,
    text: `sources: ${of('SOURCE')}\ntransforms: ${of('TRANSFORM')}\nsinks: ${of('SINK')}`,
    maxBytes: TYPES_BYTES,
  };
}
