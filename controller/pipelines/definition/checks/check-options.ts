/** Checks options against the schema of the controller's engine, and asks the engine itself where the schema may be wrong. */
import { parseDocument } from 'yaml';
import { pointerTo } from '../../../platform/yaml/pointer.ts';
import type { EngineChecks, OptionFinding } from '../../engine/index.ts';
import { type Component, type Definition, SECTIONS } from '../definition.ts';
import type { Finding } from './finding.ts';

/** Unknown options per pipeline that are probed with the engine, one by one. */
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
 * `configFor` returns the config if the engine may be asked about it. A schema does not list every option: some have an alias.
 * An option that the engine accepts is not an error, unless the engine silently ignores it.
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
    const detail = 'no engine schema is available';
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

/** Only building the config finds these faults, so reading it neither confirms nor refutes them. */
const isForBuild = ({ kind }: OptionFinding) => kind === 'range' || kind === 'template';

interface Confirmed {
  refused: OptionFinding[];
  accepted: OptionFinding[];
}

/**
 * Confirms schema errors with the engine. `isWhole`: the schema lists every option that the nodes' engines may have, as far as
 * the controller can know.
 */
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
    // Components that this engine lacks are left to the nodes' engines; the engine level reports them.
    const isLacking = ({ path }: OptionFinding) =>
      result.unknown.some((what) => what.endsWith(`"${path[0] === 'global' ? 'global' : path[1]}"`));
    return { refused: errors.filter((error) => isForBuild(error) || !isLacking(error)), accepted: [] };
  }
  const confirmed: Confirmed = { refused: [], accepted: [] };
  let probes = 0;
  for (const error of errors) {
    if (isForBuild(error)) confirmed.refused.push(error);
    // The engine has found the option by an alias, or does not need it.
    else if (error.kind === 'missing') continue;
    else if (error.kind !== 'unknown') {
      const message = `${error.message}, by the schema of the engine, which accepts it`;
      confirmed.accepted.push({ ...error, message });
    } else if (probes >= MAX_PROBES) confirmed.refused.push(error);
    else {
      probes += 1;
      // If the engine rejects a wrong value here, it reads the option by an alias that the schema does not list.
      const probed = await engine.validateConfig(withProbe(config, error.path), signal);
      const isIgnored = probed.status !== 'checked' || probed.errors.length === 0;
      if (isIgnored) confirmed.refused.push(ignored(error));
    }
  }
  return confirmed;
}

const ignored = (error: OptionFinding): OptionFinding => ({
  ...error,
  message: `${error.message}: the engine would silently ignore it`,
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
  // A missing option has no position of its own.
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

/** For sinks that every Vector has. Without a schema it is unknown whether the nodes' engines reject such a template. */
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
