/**
 * Guards for what the controller answers. Written by hand, since a schema library would cost the agent more memory
 * than all of its own code. A wrong answer must never look like a right one: absence of a pipeline means stop it.
 */
import type {
  CertFile,
  ConfigResponse,
  EnrollResponse,
  HeartbeatResponse,
  LogsResponse,
  PendingAction,
  PipelineEntry,
} from '../../schemas/agent/protocol.ts';
import { ID } from '../limits.ts';
import { LinkError } from './http.ts';
import { parseSampleRequest } from './observe-request.ts';

type Json = Record<string, unknown>;

/** The answer is not what the protocol says; the message names the field. */
export class MalformedAnswer extends LinkError {
  override name = 'MalformedAnswer';
}

const MAX_PIPELINES = 2_000;
const MAX_SAMPLE_REQUESTS = 100;

export function parseConfig(text: string): ConfigResponse {
  const json = object(parse(text), 'answer');
  const pipelines = array(json.pipelines, 'pipelines').map(pipeline);
  if (pipelines.length > MAX_PIPELINES) throw new MalformedAnswer(`more than ${MAX_PIPELINES} pipelines`);
  const ids = new Set(pipelines.map((entry) => entry.pipelineId));
  if (ids.size !== pipelines.length) throw new MalformedAnswer('a pipelineId appears twice');
  const revision = json.configRevision;
  const pushUrl = json.pushUrl;
  return {
    pipelines,
    // From here on nothing stops or starts a pipeline: other controllers leave these out.
    pollIntervalMs: json.pollIntervalMs == null ? undefined : integer(json.pollIntervalMs, 'pollIntervalMs'),
    secretBackend: typeof json.secretBackend === 'string' ? json.secretBackend : '',
    sampleRequests:
      json.sampleRequests == null
        ? []
        : array(json.sampleRequests, 'sampleRequests')
            .slice(0, MAX_SAMPLE_REQUESTS)
            .flatMap((value) => parseSampleRequest(value) ?? []),
    pendingAction: pendingAction(json.pendingAction),
    configRevision: typeof revision === 'number' ? revision : undefined,
    pushUrl: typeof pushUrl === 'string' && pushUrl !== '' ? pushUrl : undefined,
  };
}

export function parseEnrollment(text: string): EnrollResponse {
  const json = object(parse(text), 'answer');
  const answer = {
    nodeId: string(json.nodeId, 'nodeId'),
    nodeToken: string(json.nodeToken, 'nodeToken'),
    environmentId: string(json.environmentId, 'environmentId'),
    environmentName: string(json.environmentName, 'environmentName'),
  };
  if (!ID.test(answer.nodeId)) throw new MalformedAnswer('nodeId is not an id');
  if (!isToken(answer.nodeToken)) throw new MalformedAnswer('nodeToken is not a token');
  return answer;
}

/** Printable and without spaces, so that it fits a header. */
export function isToken(text: string): boolean {
  return /^[\x21-\x7e]{1,512}$/.test(text);
}

/** An empty answer counts as delivered too: the protocol shows none (spec 1, Endpoints). */
export function parseHeartbeatReply(text: string): HeartbeatResponse {
  if (text.trim() === '') return { ok: true };
  const json = object(parse(text), 'answer');
  if (json.ok !== true) throw new MalformedAnswer('ok is not true');
  const { configRevision, rejected, sendEngineComponents, mayOmitEmpty } = json;
  return {
    ok: true,
    ...(typeof configRevision === 'number' && { configRevision }),
    ...(sendEngineComponents === true && { sendEngineComponents }),
    ...(mayOmitEmpty === true && { mayOmitEmpty }),
    ...(Array.isArray(rejected) && { rejected: rejected.slice(0, 100).filter(isRejection) }),
  };
}

export function parseLogsReply(text: string): LogsResponse {
  const json = object(parse(text), 'answer');
  // Whatever else answers with 200 has stored nothing.
  if (json.ok !== true) throw new MalformedAnswer('ok is not true');
  return { ok: true, rejected: typeof json.rejected === 'number' ? json.rejected : 0 };
}

function isRejection(value: unknown): value is { pipelineId: string; reason: string } {
  if (typeof value !== 'object' || value === null) return false;
  return (
    'pipelineId' in value &&
    typeof value.pipelineId === 'string' &&
    'reason' in value &&
    typeof value.reason === 'string'
  );
}

function pipeline(value: unknown, index: number): PipelineEntry {
  const at = `pipelines[${index}]`;
  const json = object(value, at);
  return {
    pipelineId: string(json.pipelineId, `${at}.pipelineId`),
    pipelineName: string(json.pipelineName, `${at}.pipelineName`),
    version: integer(json.version, `${at}.version`),
    configYaml: string(json.configYaml, `${at}.configYaml`),
    checksum: string(json.checksum, `${at}.checksum`),
    logLevel: json.logLevel == null ? 'info' : string(json.logLevel, `${at}.logLevel`),
    secrets: json.secrets == null ? {} : secrets(json.secrets, `${at}.secrets`),
    certFiles: json.certFiles == null ? [] : certFiles(json.certFiles, `${at}.certFiles`),
    ...(typeof json.drainSeconds === 'number' ? { drainSeconds: json.drainSeconds } : {}),
  };
}

function secrets(value: unknown, at: string): Record<string, string> {
  const json = object(value, at);
  for (const [name, text] of Object.entries(json)) string(text, `${at}.${name.slice(0, 40)}`);
  return json as Record<string, string>;
}

function certFiles(value: unknown, at: string): CertFile[] {
  return array(value, at).map((file) => certFile(file, at));
}

function certFile(value: unknown, at: string): CertFile {
  const json = object(value, at);
  return {
    name: string(json.name, `${at}.name`),
    filename: string(json.filename, `${at}.filename`),
    data: string(json.data, `${at}.data`),
  };
}

/** An action of a type that this agent does not know is left to newer agents. */
function pendingAction(value: unknown): PendingAction | null {
  if (value == null) return null;
  const json = object(value, 'pendingAction');
  if (json.type !== 'self_update') return null;
  return {
    type: 'self_update',
    targetVersion: string(json.targetVersion, 'pendingAction.targetVersion'),
    downloadUrl: string(json.downloadUrl, 'pendingAction.downloadUrl'),
    checksum: string(json.checksum, 'pendingAction.checksum'),
    signature: json.signature == null ? undefined : string(json.signature, 'pendingAction.signature'),
  };
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new MalformedAnswer('not JSON');
  }
}

function object(value: unknown, at: string): Json {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new MalformedAnswer(`${at} is no object`);
  return value as Json;
}

function array(value: unknown, at: string): unknown[] {
  if (!Array.isArray(value)) throw new MalformedAnswer(`${at} is no array`);
  return value;
}

function string(value: unknown, at: string): string {
  if (typeof value !== 'string') throw new MalformedAnswer(`${at} is no text`);
  return value;
}

function integer(value: unknown, at: string): number {
  if (!Number.isSafeInteger(value)) throw new MalformedAnswer(`${at} is no integer`);
  return value as number;
}
