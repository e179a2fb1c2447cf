import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type {
  ConfigResponse,
  EnrollRequest,
  HeartbeatRequest,
  LogsRequest,
  PipelineEntry,
  PipelineReport,
  PushMessage,
  SampleRequest,
  SampleResult,
  SamplesRequest,
  TapEventsRequest,
} from '../../../schemas/agent/protocol.ts';

type Answer = (request: IncomingMessage, response: ServerResponse) => void;

/** A controller that says exactly what a test wants it to say, and keeps what it was told. */
export interface ScriptedServer {
  url: string;
  token: string;
  pipelines: PipelineEntry[];
  pollIntervalMs: number;
  pushUrl: string | undefined;
  /** Answers one endpoint in place of the usual answer. */
  override: Partial<
    Record<'enroll' | 'config' | 'heartbeat' | 'logs' | 'push' | 'samples' | 'tap-events', Answer>
  >;
  /** What is at a path outside of /api/agent. */
  files: Record<string, Answer>;
  pendingAction: ConfigResponse['pendingAction'];
  revision: number;
  enrollments: EnrollRequest[];
  heartbeats: HeartbeatRequest[];
  /** Deliveries of log lines. */
  logs: LogsRequest[];
  /** Asked for in every config answer. */
  sampleRequests: SampleRequest[];
  /** Deliveries of samples and of live taps. */
  samples: SamplesRequest[];
  tapEvents: TapEventsRequest[];
  polls: { at: number; status: number }[];
  pushStreams: ServerResponse[];
  push(message: PushMessage | { type: string }): void;
  /** What was answered to a request for samples. */
  resultsOf(requestId: string): SampleResult[];
  /** All lines of a pipeline that were delivered, in order. */
  linesOf(pipelineId: string): string[];
  /** The newest report on a pipeline. */
  report(pipelineId: string): PipelineReport | undefined;
  /** The statuses that were reported, each change once. */
  statuses(pipelineId: string): string[];
  close(): Promise<void>;
}

export async function startServer(): Promise<ScriptedServer> {
  const http = createServer((request, response) => void route(request, response));
  http.listen(0, '127.0.0.1');
  await once(http, 'listening');
  const server: ScriptedServer = {
    url: `http://127.0.0.1:${(http.address() as AddressInfo).port}`,
    token: 'node-token-of-the-test',
    pipelines: [],
    pollIntervalMs: 500,
    pushUrl: undefined,
    override: {},
    files: {},
    pendingAction: null,
    revision: 1,
    enrollments: [],
    heartbeats: [],
    logs: [],
    sampleRequests: [],
    samples: [],
    tapEvents: [],
    polls: [],
    pushStreams: [],
    push(message) {
      for (const stream of server.pushStreams)
        stream.write(`event: ${message.type}\ndata: ${JSON.stringify(message)}\n\n`);
    },
    resultsOf(requestId) {
      return server.samples
        .flatMap(({ results }) => results)
        .filter((result) => result.requestId === requestId);
    },
    linesOf(pipelineId) {
      const entries = server.logs.flat().filter((entry) => entry.pipelineId === pipelineId);
      return entries.flatMap(({ lines }) => lines);
    },
    report(pipelineId) {
      return server.heartbeats.at(-1)?.pipelines.find((entry) => entry.pipelineId === pipelineId);
    },
    statuses(pipelineId) {
      const seen = server.heartbeats.flatMap((beat) =>
        beat.pipelines.filter((entry) => entry.pipelineId === pipelineId),
      );
      return seen.map((entry) => entry.status).filter((status, index, all) => status !== all[index - 1]);
    },
    async close() {
      http.closeAllConnections();
      http.close();
      await once(http, 'close');
    },
  };

  async function route(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const endpoint = request.url?.replace('/api/agent/', '') as keyof ScriptedServer['override'];
    const file = server.files[request.url ?? ''];
    if (file) return file(request, response);
    const body = await read(request);
    if (endpoint === 'enroll') server.enrollments.push(JSON.parse(body) as EnrollRequest);
    const special = server.override[endpoint];
    if (special) {
      if (endpoint === 'config')
        response.once('close', () => server.polls.push({ at: Date.now(), status: response.statusCode }));
      special(request, response);
      return;
    }
    if (endpoint !== 'enroll' && request.headers.authorization !== `Bearer ${server.token}`) {
      send(response, 401, { error: 'unknown node token' });
      return;
    }
    switch (endpoint) {
      case 'enroll':
        send(response, 200, {
          nodeId: 'node-1',
          nodeToken: server.token,
          environmentId: 'env-1',
          environmentName: 'Test',
        });
        return;
      case 'config':
        sendConfig(request, response);
        return;
      case 'heartbeat':
        server.heartbeats.push(JSON.parse(body) as HeartbeatRequest);
        send(response, 200, { ok: true, configRevision: server.revision });
        return;
      case 'logs':
        server.logs.push(JSON.parse(body) as LogsRequest);
        send(response, 200, { ok: true, rejected: 0 });
        return;
      case 'samples':
        server.samples.push(JSON.parse(body) as SamplesRequest);
        send(response, 200, { ok: true });
        return;
      case 'tap-events':
        server.tapEvents.push(JSON.parse(body) as TapEventsRequest);
        send(response, 200, { ok: true });
        return;
      case 'push':
        response.writeHead(200, { 'content-type': 'text/event-stream' });
        response.write(': connected\n\n');
        server.pushStreams.push(response);
        response.once('close', () => {
          server.pushStreams = server.pushStreams.filter((stream) => stream !== response);
        });
        return;
      default:
        send(response, 404, { error: 'not found' });
    }
  }

  function sendConfig(request: IncomingMessage, response: ServerResponse): void {
    const answer: ConfigResponse = {
      pipelines: server.pipelines,
      pollIntervalMs: server.pollIntervalMs,
      secretBackend: 'BUILTIN',
      sampleRequests: server.sampleRequests,
      pendingAction: server.pendingAction,
      configRevision: server.revision,
      pushUrl: server.pushUrl,
    };
    const text = JSON.stringify(answer);
    const etag = `"${createHash('sha256').update(text).digest('hex')}"`;
    const same = request.headers['if-none-match'] === etag;
    server.polls.push({ at: Date.now(), status: same ? 304 : 200 });
    response.writeHead(same ? 304 : 200, { 'content-type': 'application/json', etag });
    response.end(same ? undefined : text);
  }

  return server;
}

async function read(request: IncomingMessage): Promise<string> {
  const parts: Buffer[] = [];
  for await (const part of request) parts.push(part as Buffer);
  return Buffer.concat(parts).toString('utf8');
}

export function send(
  response: ServerResponse,
  status: number,
  body: unknown,
  headers: Record<string, string> = {},
): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers });
  response.end(JSON.stringify(body));
}

/** A pipeline whose checksum follows from its content, as the controller makes it. */
export function pipeline(pipelineId: string, fields: Partial<PipelineEntry> = {}): PipelineEntry {
  const entry = {
    pipelineId,
    pipelineName: pipelineId,
    version: 1,
    configYaml: DEMO_CONFIG,
    logLevel: 'info',
    secrets: {},
    certFiles: [],
    ...fields,
  };
  const { configYaml, secrets, logLevel, certFiles } = entry;
  const digest = createHash('sha256')
    .update(JSON.stringify([configYaml, secrets, logLevel, certFiles]))
    .digest('hex');
  return { checksum: `sha256:${digest}`, ...entry };
}

export const DEMO_CONFIG = `sources:
  in:
    type: demo_logs
    format: json
    interval: 0.1
sinks:
  out:
    type: blackhole
    inputs: [in]
    print_interval_secs: 0
`;
