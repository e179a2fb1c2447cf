/** Ready-made bytes of the requests that agents send. */
import type { HeartbeatRequest } from '../../schemas/agent/protocol.ts';
import type { BenchNode } from './fleet.ts';

export function pollRequest(node: BenchNode, etag?: string): Buffer {
  const condition = etag === undefined ? '' : `If-None-Match: ${etag}\r\n`;
  return Buffer.from(
    `GET /api/agent/config HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${node.token}\r\n${condition}\r\n`,
    'latin1',
  );
}

/** The counters of a heartbeat carry this, so that each one can be told from the one before. */
export const COUNTER_BASE = 1_000_000_000;
const TOKEN_PLACE = 'T'.repeat(95);

/** Added to restarts, so that all are written with as many digits. */
export const RESTARTS_BASE = 10_000_000;

/**
 * Makes heartbeats by patching token, counters and restarts into one template. `sequence` up to 999,999,999 appears in every
 * pipeline's `eventsIn`, added to COUNTER_BASE; `restarts` up to 9,999,999, which are state, added to RESTARTS_BASE.
 */
export function heartbeatWriter(pipelineIds: readonly string[]) {
  const body = JSON.stringify(heartbeat(pipelineIds));
  const text =
    `POST /api/agent/heartbeat HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${TOKEN_PLACE}\r\n` +
    `Content-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`;
  const template = Buffer.from(text, 'latin1');
  const tokenAt = text.indexOf(TOKEN_PLACE);
  const placesAfter = (start: RegExp) =>
    [...text.matchAll(start)].map((match) => match.index + match[0].length);
  const counters = placesAfter(/"eventsIn":1/g);
  const states = placesAfter(/"restarts":1/g);
  return (node: BenchNode, sequence: number, restarts = 0): Buffer => {
    const request = Buffer.from(template);
    request.write(node.token, tokenAt, 'latin1');
    const digits = String(sequence).padStart(9, '0');
    for (const at of counters) request.write(digits, at, 'latin1');
    if (restarts > 0) for (const at of states) request.write(String(restarts).padStart(7, '0'), at, 'latin1');
    return request;
  };
}

/** What an agent with running engines of three components each reports. */
function heartbeat(pipelineIds: readonly string[]): HeartbeatRequest {
  const component = (name: string, componentKind: 'source' | 'transform' | 'sink') => ({
    componentId: `web_${name}`,
    componentKind,
    receivedEvents: 1_204_331,
    sentEvents: 1_204_330,
    receivedBytes: 331_204_331,
    sentBytes: 331_204_331,
    errorsTotal: 0,
    discardedEvents: 12,
  });
  return {
    pipelines: pipelineIds.map((pipelineId, index) => ({
      pipelineId,
      version: 1,
      status: 'RUNNING',
      pid: 4_000 + index,
      uptimeSeconds: 86_400,
      eventsIn: COUNTER_BASE,
      eventsOut: 1_204_330,
      bytesIn: 331_204_331,
      bytesOut: 301_204_331,
      errorsTotal: 0,
      eventsDiscarded: 12,
      utilization: 0.12,
      configChecksum: `sha256:${'ab'.repeat(32)}`,
      restarts: RESTARTS_BASE,
      lastError: null,
      componentMetrics: [
        component('in', 'source'),
        component('parse', 'transform'),
        component('out', 'sink'),
      ],
      recentLogs: [],
    })),
    hostMetrics: {
      memoryTotalBytes: 8_000_000_000,
      memoryUsedBytes: 3_000_000_000,
      memoryFreeBytes: 5_000_000_000,
      cpuSecondsTotal: 123_456.7,
      cpuSecondsIdle: 100_000.1,
      loadAvg1: 0.3,
      loadAvg5: 0.2,
      loadAvg15: 0.1,
      fsTotalBytes: 100_000_000_000,
      fsUsedBytes: 40_000_000_000,
      fsFreeBytes: 60_000_000_000,
      diskReadBytes: 1_000_000,
      diskWrittenBytes: 2_000_000,
      netRxBytes: 3_000_000,
      netTxBytes: 4_000_000,
    },
    agentVersion: '0.1.0',
    engineVersion: 'vector 0.50.0',
    deploymentMode: 'STANDALONE',
    labels: { role: 'edge', zone: 'a' },
    agentHealth: { pollErrorsTotal: 0, pushConnected: true, pipelinesRunning: 5, uptimeSeconds: 86_400 },
    runningAs: 'svc-agent',
  };
}

export function enrollRequest(token: string, hostname: string): Buffer {
  const body = JSON.stringify({ token, hostname, os: 'linux/x64', agentVersion: '0.1.0', engineVersion: '' });
  return Buffer.from(
    `POST /api/agent/enroll HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n` +
      `Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
    'latin1',
  );
}
