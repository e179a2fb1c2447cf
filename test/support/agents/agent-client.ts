/** What a node agent says over HTTP, raw. */
import type { EnrollRequest, EnrollResponse } from '../../../schemas/agent/protocol.ts';
import { type HttpResponse, type OpenStream, openStream, type SendOptions, send } from '../clients/http.ts';

export function enrollRequest(token: string, more: Partial<EnrollRequest> = {}): EnrollRequest {
  return {
    token,
    hostname: 'node-1',
    os: 'linux/x64',
    agentVersion: '0.6.0',
    engineVersion: 'vector 0.57.0',
    ...more,
  };
}

export interface TestNode extends EnrollResponse {
  config(headers?: SendOptions['headers']): Promise<HttpResponse>;
  heartbeat(body: unknown, headers?: SendOptions['headers']): Promise<HttpResponse>;
  logs(body: unknown, headers?: SendOptions['headers']): Promise<HttpResponse>;
  samples(body: unknown, headers?: SendOptions['headers']): Promise<HttpResponse>;
  tapEvents(body: unknown, headers?: SendOptions['headers']): Promise<HttpResponse>;
  push(): Promise<OpenStream>;
}

export function tryEnroll(url: string, body: unknown): Promise<HttpResponse> {
  return send(`${url}/api/agent/enroll`, { body });
}

export async function enrollNode(
  url: string,
  token: string,
  more: Partial<EnrollRequest> = {},
): Promise<TestNode> {
  const answer = await tryEnroll(url, enrollRequest(token, more));
  if (answer.status !== 200) throw new Error(`enroll: ${answer.status} ${answer.text}`);
  const enrolled = answer.json<EnrollResponse>();
  const authorization = `Bearer ${enrolled.nodeToken}`;
  return {
    ...enrolled,
    config: (headers) => send(`${url}/api/agent/config`, { headers: { authorization, ...headers } }),
    heartbeat: (body, headers) =>
      send(`${url}/api/agent/heartbeat`, { body, headers: { authorization, ...headers } }),
    logs: (body, headers) => send(`${url}/api/agent/logs`, { body, headers: { authorization, ...headers } }),
    samples: (body, headers) =>
      send(`${url}/api/agent/samples`, { body, headers: { authorization, ...headers } }),
    tapEvents: (body, headers) =>
      send(`${url}/api/agent/tap-events`, { body, headers: { authorization, ...headers } }),
    push: () => openStream(`${url}/api/agent/push`, { authorization }),
  };
}

/** A node that is well and runs nothing. */
export function heartbeat(more: Record<string, unknown> = {}): Record<string, unknown> {
  return {
    pipelines: [],
    hostMetrics: { memoryTotalBytes: 8e9, memoryUsedBytes: 4e9, cpuSecondsTotal: 100, loadAvg1: 0.5 },
    agentVersion: '0.6.0',
    engineVersion: 'vector 0.57.0',
    deploymentMode: 'STANDALONE',
    agentHealth: { pollErrorsTotal: 0, pushConnected: true, pipelinesRunning: 0, uptimeSeconds: 5 },
    ...more,
  };
}
