import { expect } from 'chai';
import { type HealthInput, nodeHealth } from '../../../controller/fleet/status/health.ts';

const NOW = 1_000_000_000;
const well: HealthInput = {
  lastHeartbeatAt: NOW - 1_000,
  intervalMs: 5_000,
  unhealthyThreshold: 3,
  now: NOW,
  listeningSince: NOW - 3_600_000,
  crashed: [],
  lagging: [],
  reverted: [],
  updateError: null,
  revoked: false,
};

describe('the health of a node', () => {
  const rows: { reason: string; input: Partial<HealthInput>; status: string; says: RegExp }[] = [
    {
      reason: 'it has never been heard from',
      input: { lastHeartbeatAt: null },
      status: 'UNKNOWN',
      says: /not been heard from/,
    },
    {
      reason: 'its token was revoked, though it was heard from a moment ago',
      input: { revoked: true },
      status: 'UNREACHABLE',
      says: /token was revoked; delete .* new SVC_TOKEN/,
    },
    { reason: 'it was heard from a moment ago', input: {}, status: 'HEALTHY', says: /^$/ },
    {
      reason: 'it was silent for exactly the limit',
      input: { lastHeartbeatAt: NOW - 15_000 },
      status: 'HEALTHY',
      says: /^$/,
    },
    {
      reason: 'it was silent for longer',
      input: { lastHeartbeatAt: NOW - 15_001 },
      status: 'UNREACHABLE',
      says: /No heartbeat for 15 s/,
    },
    {
      reason: 'its own interval is longer',
      input: { lastHeartbeatAt: NOW - 60_000, intervalMs: 30_000 },
      status: 'HEALTHY',
      says: /^$/,
    },
    {
      reason: 'the controller has only just begun to listen',
      input: { lastHeartbeatAt: NOW - 3_600_000, listeningSince: NOW - 15_000 },
      status: 'HEALTHY',
      says: /^$/,
    },
    {
      reason: 'the grace after a start is over',
      input: { lastHeartbeatAt: NOW - 3_600_000, listeningSince: NOW - 15_001 },
      status: 'UNREACHABLE',
      says: /No heartbeat for 3600 s/,
    },
    {
      reason: 'a pipeline has crashed',
      input: { crashed: ['web', 'orders'] },
      status: 'DEGRADED',
      says: /Crashed: web, orders/,
    },
    {
      reason: 'its update failed',
      input: { updateError: 'wrong checksum' },
      status: 'DEGRADED',
      says: /update failed: wrong checksum/,
    },
    {
      reason: 'it lags behind',
      input: { lagging: ['web'] },
      status: 'DEGRADED',
      says: /Not yet on the deployed version: web/,
    },
    {
      reason: 'it is silent and a pipeline had crashed',
      input: { lastHeartbeatAt: NOW - 60_000, crashed: ['web'] },
      status: 'UNREACHABLE',
      says: /No heartbeat/,
    },
    {
      reason: 'its clock is ahead of ours',
      input: { lastHeartbeatAt: NOW + 60_000 },
      status: 'HEALTHY',
      says: /^$/,
    },
  ];
  for (const { reason, input, status, says } of rows) {
    it(`is ${status} where ${reason}`, () => {
      const health = nodeHealth({ ...well, ...input });
      expect(health.status).to.equal(status);
      expect(health.reason).to.match(says);
    });
  }
});
