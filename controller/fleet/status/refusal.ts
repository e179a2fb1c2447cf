/** A version that does not run on a node, as it is told: what it is, who refused it, and what runs in its place. Pure. */
import type { Refusal } from '../../../schemas/api/pipelines.ts';
import type { PipelineRow, ReportRow } from './queries.ts';

/** A row of `node_reverts`, as it is stored in JSON. */
export interface RevertView {
  refusedVersionId: string;
  refusedVersion: number;
  servedVersionId: string;
  servedVersion: number;
  by: Refusal['by'];
  reason: string;
  /** Why the version before cannot be served at the moment; null where it is. */
  fault: string | null;
  since: string;
}

const SECTIONS: Readonly<Record<string, string>> = {
  source: 'source',
  sources: 'source',
  transform: 'transform',
  transforms: 'transform',
  sink: 'sink',
  sinks: 'sink',
};

/** The component and the option that an engine's message names, where it names any: `Sink "out": …`, ``in `sinks.out` ``. */
export function namedIn(reason: string): Pick<Refusal, 'component' | 'option'> {
  const found =
    /\b(source|transform|sink) "([^"\n]{1,260})"/i.exec(reason) ??
    /\b(sources|transforms|sinks)\.([\w-]{1,260})/.exec(reason);
  const kind = SECTIONS[found?.[1]?.toLowerCase() ?? ''];
  const component = found && kind ? `${kind} ${found[2]}` : null;
  const option =
    /\b(?:unknown|missing|duplicate) field `([\w.-]{1,128})`/.exec(reason)?.[1] ??
    /\boption "?`?([\w.-]{1,128})/.exec(reason)?.[1] ??
    /\b(?:sources|transforms|sinks)\.[\w-]+\.([\w.-]{1,128})/.exec(reason)?.[1] ??
    null;
  return { component, option };
}

/** What does not run on the node of the version that it is meant to run; null where nothing is known of that. */
export function refusalOf(
  revert: RevertView | undefined,
  meant: { versionId: string | null; version: number | null },
  report: Pick<ReportRow, 'version' | 'refused'> | undefined,
  { manifest }: Pick<PipelineRow, 'manifest'>,
): Refusal | null {
  const place = manifest && { path: manifest.path, line: manifest.line };
  if (revert && revert.refusedVersionId === meant.versionId)
    return {
      version: revert.refusedVersion,
      servedVersion: revert.fault === null ? revert.servedVersion : null,
      by: revert.by,
      reason: revert.reason,
      ...namedIn(revert.reason),
      place,
      fault: revert.fault,
      since: new Date(revert.since),
    };
  const refused = report?.refused;
  if (!refused || refused.version !== meant.version) return null;
  const { version, error: reason } = refused;
  const named = { ...namedIn(reason), place, fault: null, since: null };
  return { version, servedVersion: null, by: 'NODE_CHECK', reason, ...named };
}

/** The message in a line, with what it is about before it. */
export function reasonLine({ reason, component, option }: Refusal): string {
  const line = reason.split('\n').find((one) => one.trim() !== '') ?? '';
  const about = [component, option && `option ${option}`].filter((one) => one !== null).join(', ');
  return [about, line.trim().slice(0, 300)].filter((part) => part !== '').join(': ');
}
