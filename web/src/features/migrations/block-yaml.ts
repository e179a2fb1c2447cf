/** The components of a block as the YAML that a config of the engine has. Pure. */
import { parseDocument, stringify } from 'yaml';
import type { MigratedComponent, MigrationBlock } from '../../../../schemas/api/pipelines/migrations.ts';
import type { CodeProblem } from '../../ui/code/code-problem.ts';

const SECTIONS = [
  ['sources', 'SOURCE'],
  ['transforms', 'TRANSFORM'],
  ['sinks', 'SINK'],
] as const;

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

export function renderComponents(components: readonly MigratedComponent[]): string {
  const sections = SECTIONS.flatMap(([section, kind]) => {
    const members = components.filter((one) => one.kind === kind);
    return members.length === 0 ? [] : [[section, Object.fromEntries(members.map(written))] as const];
  });
  return sections.length === 0
    ? ''
    : stringify(Object.fromEntries(sections), { lineWidth: 0, aliasDuplicateObjects: false });
}

/** A beginning for a block that nothing stands for: it reads and is read as the block was. */
export function renderSkeleton({ id, directive, inputs, outputs, translation }: MigrationBlock): string {
  const routing = translation?.components ?? [];
  const key = outputs[0]?.split('.')[0] ?? `${id}_${directive}`;
  const around = { componentKey: key, inputs };
  const own: Readonly<Record<MigrationBlock['directive'], MigratedComponent | null>> = {
    source: {
      ...around,
      kind: 'SOURCE',
      componentType: 'file',
      inputs: [],
      config: { include: ['/var/log/any.log'] },
    },
    filter: { ...around, kind: 'TRANSFORM', componentType: 'remap', config: { source: '.\n' } },
    match: {
      ...{ ...around, kind: 'SINK', componentType: 'console' },
      config: { encoding: { codec: 'json', except_fields: ['_fluentd'] } },
    },
    system: null,
    unknown: null,
  };
  const component = own[directive];
  return component === null ? '' : renderComponents([...routing, component]);
}

const written = ({ componentKey, kind, componentType, inputs, config }: MigratedComponent) => [
  componentKey,
  { type: componentType, ...(kind === 'SOURCE' ? {} : { inputs }), ...config },
];

export type ReadComponents =
  | { components: MigratedComponent[]; problem: null }
  | { components: null; problem: CodeProblem };

/** What the server checks is left to it: here the text must only be of the form. */
export function readComponents(text: string): ReadComponents {
  const document = parseDocument(text);
  const [error] = document.errors;
  if (error)
    return wrong(error.message.split('\n')[0] ?? '', error.linePos?.[0].line, error.linePos?.[0].col);
  const value: unknown = document.toJS({ maxAliasCount: 100 });
  if (value === null || value === undefined) return { components: [], problem: null };
  if (!isRecord(value)) return wrong('Write sources, transforms and sinks with their components.');
  const strange = Object.keys(value).find((name) => !SECTIONS.some(([section]) => section === name));
  if (strange !== undefined)
    return wrong(`"${strange}" is not sources, transforms or sinks.`, lineOf(text, strange));
  const components: MigratedComponent[] = [];
  for (const [section, kind] of SECTIONS) {
    const members = value[section] ?? {};
    if (!isRecord(members))
      return wrong(`"${section}" needs components by their keys.`, lineOf(text, section));
    for (const [componentKey, component] of Object.entries(members)) {
      if (!isRecord(component) || typeof component.type !== 'string')
        return wrong(`"${componentKey}" lacks its type.`, lineOf(text, componentKey));
      const { type: componentType, inputs = [], ...config } = component;
      if (!Array.isArray(inputs) || inputs.some((input) => typeof input !== 'string'))
        return wrong(`The inputs of "${componentKey}" must be a list of names.`, lineOf(text, componentKey));
      components.push({
        componentKey,
        kind,
        componentType: String(componentType),
        inputs: inputs as string[],
        config,
      });
    }
  }
  return { components, problem: null };
}

const wrong = (message: string, line = 1, column = 1): ReadComponents => ({
  components: null,
  problem: { severity: 'error', message, line, column },
});

/** Where a key is written; the first line where it is not found. */
function lineOf(text: string, key: string): number {
  const at = text.split('\n').findIndex((line) =>
    line
      .trim()
      .replace(/^["']|["']$/g, '')
      .startsWith(`${key}:`),
  );
  return at < 0 ? 1 : at + 1;
}
