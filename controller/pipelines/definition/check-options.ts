/** Options against the schema of the controller's engine, and the engine's own word where the two could differ. */
import { parseDocument } from 'yaml';
import { pointerTo } from '../../platform/yaml/pointer.ts';
import type { EngineChecks, OptionFinding } from '../engine/index.ts';
import type { Finding } from './checks.ts';
import { type Component, type Definition, SECTIONS } from './definition.ts';

/** The engine is asked about so many unknown options of a pipeline, one by one. */
const MAX_PROBES = 5;
/** A value that no option of any engine takes. */
const PROBE = [[[]]];

export interface OptionResult {
  findings: Finding[];
  warnings: Finding[];
  detail: string;
  skipped?: boolean;
}

/**
 * `configFor` gives the config, where the engine may be asked about it. A schema does not name every option: some have a
 * second name. What the engine accepts although its schema does not is no fault, unless the engine ignores it.
 */
export async function checkOptions(
  definition: Definition,
  components: readonly Component[],
  engine: EngineChecks,
  configFor: () => string | null,
  signal?: AbortSignal,
): Promise<OptionResult> {
  const known = await engine.optionSchema();
  if (!known) {
    const detail = 'the schema of no engine is at hand';
    return { findings: [], warnings: components.flatMap(bareTemplates), detail, skipped: true };
  }
  const found = components
    .filter(({ disabled }) => !disabled)
    .flatMap(({ section, key }) => known.schema.component(section, key, definition[section][key] ?? {}));
  found.push(...known.schema.global(definition.global, ['global']));
  const warnings = found.filter(({ severity }) => severity === 'warning');
  const errors = found.filter(({ severity }) => severity === 'error');
  const { refused, accepted } = await confirm(
    errors,
    known.engine.startsWith('vector '),
    engine,
    configFor,
    signal,
  );
  return {
    findings: refused.map(toFinding),
    warnings: [...warnings, ...accepted].map(toFinding),
    detail: `by the schema of ${known.engine}`,
  };
}

/** Building alone finds these, so reading the config is no word on them. */
const isForBuild = ({ kind }: OptionFinding) => kind === 'range' || kind === 'template';

interface Confirmed {
  refused: OptionFinding[];
  accepted: OptionFinding[];
}

/** `isWhole`: the schema has every option that the nodes' engines may have, as far as anybody can know here. */
async function confirm(
  errors: readonly OptionFinding[],
  isWhole: boolean,
  engine: EngineChecks,
  configFor: () => string | null,
  signal: AbortSignal | undefined,
): Promise<Confirmed> {
  const unconfirmed: Confirmed = isWhole
    ? { refused: [...errors], accepted: [] }
    : { refused: errors.filter(isForBuild), accepted: errors.filter((error) => !isForBuild(error)) };
  if (errors.every(isForBuild)) return unconfirmed;
  const config = configFor();
  if (config === null) return unconfirmed;
  const result = await engine.validateConfig(config, signal);
  if (result.status !== 'checked') return unconfirmed;
  if (result.unknown.length > 0 || result.errors.length > 0) {
    // What it has not is left to the nodes' engines, and named when the engine is asked about the whole.
    const isLacking = ({ path }: OptionFinding) =>
      result.unknown.some((what) => what.endsWith(`"${path[0] === 'global' ? 'global' : path[1]}"`));
    return { refused: errors.filter((error) => isForBuild(error) || !isLacking(error)), accepted: [] };
  }
  const confirmed: Confirmed = { refused: [], accepted: [] };
  let probes = 0;
  for (const error of errors) {
    if (isForBuild(error)) confirmed.refused.push(error);
    // It has found the option by another name, or does without.
    else if (error.kind === 'missing') continue;
    else if (error.kind !== 'unknown') {
      const message = `${error.message}, by the schema of the engine, which accepts it`;
      confirmed.accepted.push({ ...error, message });
    } else if (probes >= MAX_PROBES) confirmed.refused.push(error);
    else {
      probes += 1;
      // It reads the option, by a name that its schema does not tell, if it minds what is written there.
      const probed = await engine.validateConfig(withProbe(config, error.path), signal);
      const isIgnored = probed.status !== 'checked' || probed.errors.length === 0;
      if (isIgnored) confirmed.refused.push(ignored(error));
    }
  }
  return confirmed;
}

const ignored = (error: OptionFinding): OptionFinding => ({
  ...error,
  message: `${error.message}: the engine would ignore it in silence`,
});

function withProbe(config: string, path: readonly string[]): string {
  const document = parseDocument(config);
  const at = path[0] === 'global' ? path.slice(1) : path;
  document.setIn(
    at.map((name) => (/^\d+$/.test(name) ? Number(name) : name)),
    PROBE,
  );
  return document.toString({ lineWidth: 0 });
}

function toFinding({ path, message, hint, kind }: OptionFinding): Finding {
  // What is missing has no place of its own.
  const at = kind === 'missing' ? path.slice(0, -1) : path;
  const [section, key] = path;
  const isComponent = (SECTIONS as readonly string[]).includes(section ?? '');
  return {
    level: 'options',
    pointer: at.reduce((pointer, name) => pointerTo(pointer, name), ''),
    ...(isComponent && key !== undefined && { componentKey: key }),
    message,
    hint,
  };
}

/** Of sinks that every Vector has. Without a schema nobody knows whether the nodes' engines mind. */
function bareTemplates({ section, key, options, disabled }: Component): Finding[] {
  if (section !== 'sinks' || disabled || options.base_dir !== undefined) return [];
  if (options.dangerously_allow_unconfined_template_resolution === true) return [];
  return ['path', 'topic', 'subject', 'key_prefix', 'table', 'database'].flatMap((name): Finding[] => {
    const value = options[name];
    if (typeof value !== 'string' || !value.startsWith('{{')) return [];
    return [
      {
        level: 'options',
        pointer: `/sinks/${key}/${name}`,
        componentKey: key,
        message: `the template in \`sinks.${key}.${name}\` has no literal prefix: since Vector 0.57 an engine does not start with it`,
        hint: 'begin it with fixed text',
      },
    ];
  });
}
