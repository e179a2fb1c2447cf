/**
 * Presents a version that does not run on a node: the component that it concerns, what refused it, and the version that runs
 * instead. Pure.
 */
import type { Refusal } from '../../../schemas/api/pipelines/on-nodes.ts';
import type { PipelineRow, ReportRow } from './observed-rows.ts';

/** A row of `node_reverts` as JSON. */
export interface RevertView {
  refusedVersionId: string;
  refusedVersion: number;
  servedVersionId: string;
  servedVersion: number;
  by: Refusal['by'];
  reason: string;
  /** Why the previous version cannot be served at the moment; null if it is served. */
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

/** Parses the component and the option out of an engine's message, if it names them: `Sink "out": …`, ``in `sinks.out` ``. */
export function parseSubject(reason: string): Pick<Refusal, 'component' | 'option'> {
  const match =
    /\b(source|transform|sink) "([^"\n]{1,260})"/i.exec(reason) ??
    /\b(sources|transforms|sinks)\.([\w-]{1,260})/.exec(reason);
  const kind = SECTIONS[match?.[1]?.toLowerCase() ?? ''];
  const component = match && kind ? `${kind} ${match[2]}` : null;
  const option =
    /\b(?:unknown|missing|duplicate) field `([\w.-]{1,128})`/.exec(reason)?.[1] ??
    /\boption "?`?([\w.-]{1,128})/.exec(reason)?.[1] ??
    /\b(?:sources|transforms|sinks)\.[\w-]+\.([\w.-]{1,128})/.exec(reason)?.[1] ??
    null;
  return { component, option };
}

/** The refusal of the version that is intended for the node; null if none is known. */
export function refusalOf(
  revert: RevertView | undefined,
  intended: { versionId: string | null; version: number | null },
  report: Pick<ReportRow, 'version' | 'refused'> | undefined,
  { manifest }: Pick<PipelineRow, 'manifest'>,
): Refusal | null {
  const place = manifest && { path: manifest.path, line: manifest.line };
  if (revert && revert.refusedVersionId === intended.versionId)
    return {
      version: revert.refusedVersion,
      servedVersion: revert.fault === null ? revert.servedVersion : null,
      by: revert.by,
      reason: revert.reason,
      ...parseSubject(revert.reason),
      place,
      fault: revert.fault,
      since: new Date(revert.since),
    };
  const refused = report?.refused;
  if (!refused || refused.version !== intended.version) return null;
  const { version, error: reason } = refused;
  const details = { ...parseSubject(reason), place, fault: null, since: null };
  return { version, servedVersion: null, by: 'NODE_CHECK', reason, ...details };
}

/** The reason as one line, prefixed with the component and option that it concerns. */
export function reasonLine({ reason, component, option }: Refusal): string {
  const line = reason.split('\n').find((text) => text.trim() !== '') ?? '';
  const subject = [component, option && `option ${option}`].filter((part) => part !== null).join(', ');
  return [subject, line.trim().slice(0, 300)].filter((part) => part !== '').join(': ');
}
