import type { PipelineEntry, PipelineProcessStatus } from '../../schemas/agent/protocol.ts';
import { blanker } from '../report/redact.ts';
import { cleanEnvironment } from '../supervise/engine/engine-environment.ts';
import { findExecutable } from '../supervise/engine/engine-executable.ts';
import type { Blank } from './tap-event.ts';

/** What has to be known of a pipeline to look at its events. */
export interface ObservedPipeline {
  readonly status: PipelineProcessStatus;
  readonly pid: number | undefined;
  /** Port of the engine's API on loopback. */
  readonly apiPort: number | undefined;
  readonly current: Pick<PipelineEntry, 'secrets'>;
}

export interface TapTargetParts {
  engineBin: string;
  env: Readonly<Record<string, string | undefined>>;
  /** First line of the engine's `--version`; empty where it is not known. */
  engineVersion: () => string;
  find: (pipelineId: string) => ObservedPipeline | undefined;
}

/** A running engine, ready for a tap by its own executable. */
export interface TapTarget {
  executable: string;
  url: string;
  env: Record<string, string>;
  /** Whether the engine puts each event under the name of its kind. */
  wrapped: boolean;
  blank: Blank;
  /** Tells this engine from the next one of the same pipeline. */
  pid: number;
}

/** The engine of a pipeline, or the reason why there is none, as users read it. */
export function resolveTapTarget(pipelineId: string, parts: TapTargetParts): TapTarget | string {
  const pipeline = parts.find(pipelineId);
  if (!pipeline || pipeline.status === 'STOPPED') return 'the pipeline does not run on this node';
  const { status, pid, apiPort, current } = pipeline;
  if (status !== 'RUNNING' || pid === undefined || apiPort === undefined)
    return `the pipeline is ${status} on this node: try again when it is RUNNING`;
  const executable = findExecutable(parts.engineBin, parts.env);
  if (!executable) return 'the engine was not found on this node: set SVC_ENGINE_BIN';
  const old = isBeforeWrapping(parts.engineVersion());
  return {
    executable,
    url: apiUrl(apiPort, old),
    env: tapEnvironment(parts.env),
    wrapped: !old,
    blank: blanker(Object.values(current.secrets)),
    pid,
  };
}

/** Why this key must not be given to the engine, which would take it for a pattern, a list or an option. */
export function componentKeyError(key: string): string | undefined {
  return /^-|[*?![\]{},\\\p{Cc}]/u.test(key) ? 'not a component id: patterns are not taken' : undefined;
}

/** Up to 0.54 Vector's API is GraphQL, and events are printed as they are. */
export function isBeforeWrapping(banner: string): boolean {
  const minor = /^vector 0\.(\d{1,4})\./.exec(banner)?.[1];
  return minor !== undefined && Number(minor) <= 54;
}

export function apiUrl(port: number, old: boolean): string {
  return `http://127.0.0.1:${port}${old ? '/graphql' : ''}`;
}

/** The API is on loopback: no proxy may come between. */
function tapEnvironment(agent: Readonly<Record<string, string | undefined>>): Record<string, string> {
  const env = cleanEnvironment(agent);
  for (const name of Object.keys(env)) if (/_proxy$/i.test(name)) delete env[name];
  return env;
}
