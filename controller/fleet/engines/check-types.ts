/** Whether the engines of the nodes that a pipeline is meant for have its component types. Pure. */
import { closest, distance } from 'fastest-levenshtein';
import type { LabelMap } from '../../../schemas/api/common.ts';
import { matchesSelector } from '../../../schemas/pipelines/selector.ts';
import type { NodeEngine } from './node-engines.ts';

const NODES_NAMED = 5;
const VERSIONS_NAMED = 3;

/** Of Vector: what a type is called now that has another name or is gone. */
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
  refused: TypeFinding[];
  warnings: TypeFinding[];
  /** Keys of components whose type all of these nodes have. */
  confirmed: ReadonlySet<string>;
}

/**
 * Refused is a type that every node lacks, and one that no engine is known to have. Where only some lack it, or some have
 * not reported their types, that is a warning. Without any report nothing is said.
 */
export async function checkTypes(
  used: readonly UsedType[],
  selector: LabelMap | null,
  nodes: readonly NodeEngine[],
  isKnownElsewhere: (used: UsedType) => Promise<boolean>,
): Promise<TypeReport> {
  const report = {
    refused: [] as TypeFinding[],
    warnings: [] as TypeFinding[],
    confirmed: new Set<string>(),
  };
  const told = nodes.filter(({ types }) => types !== null);
  if (told.length === 0) return report;
  const meant = nodes.filter(({ labels }) => matchesSelector(selector, labels));
  for (const one of used) {
    const key = `${one.kind} ${one.type}`;
    const lacking = meant.filter(({ types }) => types !== null && !types.has(key));
    const silent = meant.filter(({ types }) => types === null);
    if (meant.length > 0 && lacking.length === 0 && silent.length === 0) {
      report.confirmed.add(one.componentKey);
      continue;
    }
    const what = `the ${one.kind.toLowerCase()} type "${one.type}" of "${one.componentKey}"`;
    const hint = hintFor(one, lacking.length > 0 ? lacking : told);
    if (lacking.length > 0 && lacking.length === meant.length) {
      report.refused.push({ used: one, message: lackText(what, lacking, meant), hint });
    } else if (!told.some(({ types }) => types?.has(key)) && !(await isKnownElsewhere(one))) {
      report.refused.push({ used: one, message: `no engine that is known here has ${what}`, hint });
    } else if (lacking.length > 0) {
      const rest = silent.length > 0 ? `; ${silentText(silent.length)}` : '';
      const message = `${lackText(what, lacking, meant)}${rest}. The pipeline cannot start there`;
      report.warnings.push({ used: one, message, hint });
    }
  }
  return report;
}

const silentText = (count: number): string =>
  count === 1 ? '1 more has not reported its types' : `${count} more have not reported their types`;

/** `2 of 30 nodes lack the transform type "window" of "w" (0.40.0; edge-1, edge-2)`. */
function lackText(what: string, lacking: readonly NodeEngine[], meant: readonly NodeEngine[]): string {
  const versions = [...new Set(lacking.flatMap(({ version }) => version ?? []))].sort();
  const names = lacking.map(({ name }) => name);
  const details = [firstOf(versions, VERSIONS_NAMED), firstOf(names, NODES_NAMED)].filter(
    (text) => text !== '',
  );
  const verb = lacking.length === 1 ? 'lacks' : 'lack';
  return `${lacking.length} of ${meant.length} node${meant.length === 1 ? '' : 's'} ${verb} ${what} (${details.join('; ')})`;
}

function firstOf(texts: readonly string[], most: number): string {
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
