/** Checks whether the engines of a pipeline's target nodes have its component types. Pure. */
import { closest, distance } from 'fastest-levenshtein';
import type { LabelMap } from '../../../schemas/api/common.ts';
import { matchesSelector } from '../../../schemas/pipelines/selector.ts';
import type { NodeEngine } from './node-engines.ts';

const NODES_NAMED = 5;
const VERSIONS_NAMED = 3;

/** Vector's renamed component types: old name to new name. */
const RENAMED: ReadonlyMap<string, string> = new Map([
  ['SINK azure_monitor_logs', 'azure_logs_ingestion'],
  ['SINK logdna', 'mezmo'],
  ['SINK greptimedb', 'greptimedb_metrics'],
]);

export interface UsedType {
  kind: 'SOURCE' | 'TRANSFORM' | 'SINK';
  type: string;
  componentKey: string;
}

interface TypeFinding {
  used: UsedType;
  message: string;
  hint: string;
}

export interface TypeReport {
  rejected: TypeFinding[];
  warnings: TypeFinding[];
  /** Keys of components whose type every target node has. */
  confirmed: ReadonlySet<string>;
}

/**
 * Rejects a type that every target node lacks, or that no known engine has. Warns when only some nodes lack it, or when some
 * have not reported their types. Finds nothing when no node has reported its types.
 */
export async function checkTypes(
  used: readonly UsedType[],
  selector: LabelMap | null,
  nodes: readonly NodeEngine[],
  isKnownElsewhere: (used: UsedType) => Promise<boolean>,
): Promise<TypeReport> {
  const report = {
    rejected: [] as TypeFinding[],
    warnings: [] as TypeFinding[],
    confirmed: new Set<string>(),
  };
  const reporting = nodes.filter(({ types }) => types !== null);
  if (reporting.length === 0) return report;
  const targets = nodes.filter(({ labels }) => matchesSelector(selector, labels));
  for (const component of used) {
    const key = `${component.kind} ${component.type}`;
    const lacking = targets.filter(({ types }) => types !== null && !types.has(key));
    const unreported = targets.filter(({ types }) => types === null);
    if (targets.length > 0 && lacking.length === 0 && unreported.length === 0) {
      report.confirmed.add(component.componentKey);
      continue;
    }
    const what = `the ${component.kind.toLowerCase()} type "${component.type}" of "${component.componentKey}"`;
    const hint = hintFor(component, lacking.length > 0 ? lacking : reporting);
    if (lacking.length > 0 && lacking.length === targets.length) {
      report.rejected.push({ used: component, message: lackText(what, lacking, targets), hint });
    } else if (!reporting.some(({ types }) => types?.has(key)) && !(await isKnownElsewhere(component))) {
      report.rejected.push({ used: component, message: `no known engine has ${what}`, hint });
    } else if (lacking.length > 0) {
      const rest = unreported.length > 0 ? `; ${unreportedText(unreported.length)}` : '';
      const message = `${lackText(what, lacking, targets)}${rest}. The pipeline cannot start there`;
      report.warnings.push({ used: component, message, hint });
    }
  }
  return report;
}

const unreportedText = (count: number): string =>
  count === 1 ? '1 more has not reported its types' : `${count} more have not reported their types`;

/** `2 of 30 nodes lack the transform type "window" of "w" (0.40.0; edge-1, edge-2)`. */
function lackText(what: string, lacking: readonly NodeEngine[], targets: readonly NodeEngine[]): string {
  const versions = [...new Set(lacking.flatMap(({ version }) => version ?? []))].sort();
  const names = lacking.map(({ name }) => name);
  const details = [joinFirst(versions, VERSIONS_NAMED), joinFirst(names, NODES_NAMED)].filter(
    (text) => text !== '',
  );
  const verb = lacking.length === 1 ? 'lacks' : 'lack';
  return `${lacking.length} of ${targets.length} node${targets.length === 1 ? '' : 's'} ${verb} ${what} (${details.join('; ')})`;
}

function joinFirst(texts: readonly string[], most: number): string {
  const more = texts.length > most ? [`${texts.length - most} more`] : [];
  return [...texts.slice(0, most), ...more].join(', ');
}

function hintFor({ kind, type }: UsedType, nodes: readonly NodeEngine[]): string {
  const names = [...(nodes.find(({ types }) => types !== null)?.types ?? [])].flatMap((key) =>
    key.startsWith(`${kind} `) ? [key.slice(kind.length + 1)] : [],
  );
  const renamed = RENAMED.get(`${kind} ${type}`);
  if (renamed !== undefined && names.includes(renamed)) return `it is called "${renamed}" in newer engines`;
  const older = names.find((name) => RENAMED.get(`${kind} ${name}`) === type);
  if (older !== undefined) return `it is called "${older}" in the engine of these nodes`;
  const near = names.length > 0 ? closest(type, names) : '';
  if (near !== '' && distance(type, near) <= Math.max(2, type.length / 4)) return `did you mean "${near}"?`;
  return 'update Vector on these nodes, or give the pipeline a nodeSelector that leaves them out';
}
