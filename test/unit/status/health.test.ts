import { expect } from 'chai';
import { type HealthInput, isOverdue, nodeHealth } from '../../../controller/fleet/status/node-health.ts';

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
  const rows: [reason: string, input: Partial<HealthInput>, status: string, says: RegExp][] = [
    ['it has never been heard from', { lastHeartbeatAt: null }, 'UNKNOWN', /not sent a heartbeat yet/],
    [
      'its token was revoked, though it was heard from a moment ago',
      { revoked: true },
      'UNREACHABLE',
      /token was revoked; delete .* new SVC_TOKEN/,
    ],
    ['it was heard from a moment ago', {}, 'HEALTHY', /^$/],
    [
      'it was silent for exactly the limit, and the second that storing may take',
      { lastHeartbeatAt: NOW - 16_000 },
      'HEALTHY',
      /^$/,
    ],
    ['it was silent for longer', { lastHeartbeatAt: NOW - 16_001 }, 'UNREACHABLE', /No heartbeat for 16 s/],
    ['its own interval is longer', { lastHeartbeatAt: NOW - 60_000, intervalMs: 30_000 }, 'HEALTHY', /^$/],
    [
      'the controller has only just begun to listen',
      { lastHeartbeatAt: NOW - 3_600_000, listeningSince: NOW - 16_000 },
      'HEALTHY',
      /^$/,
    ],
    [
      'the grace after a start is over',
      { lastHeartbeatAt: NOW - 3_600_000, listeningSince: NOW - 16_001 },
      'UNREACHABLE',
      /No heartbeat for 3600 s/,
    ],
    ['a pipeline has crashed', { crashed: ['web', 'orders'] }, 'DEGRADED', /Crashed: web, orders/],
    ['its update failed', { updateError: 'wrong checksum' }, 'DEGRADED', /update failed: wrong checksum/],
    ['it lags behind', { lagging: ['web'] }, 'DEGRADED', /Not yet on the deployed version: web/],
    [
      'it is silent and a pipeline had crashed',
      { lastHeartbeatAt: NOW - 60_000, crashed: ['web'] },
      'UNREACHABLE',
      /No heartbeat/,
    ],
    ['its clock is ahead of ours', { lastHeartbeatAt: NOW + 60_000 }, 'HEALTHY', /^$/],
  ];
  for (const [reason, input, status, says] of rows) {
    it(`is ${status} where ${reason}`, () => {
      const health = nodeHealth({ ...well, ...input });
      expect(health.status).to.equal(status);
      expect(health.reason).to.match(says);
    });
  }
});

describe('the last report of a node', () => {
  const rows: [
    reason: string,
    input: { lastHeartbeatAt?: number | null; lastReportAt?: number | null },
    boolean,
  ][] = [
    ['it never came', { lastHeartbeatAt: null, lastReportAt: null }, false],
    ['the node was heard a moment ago', {}, false],
    ['the node was heard as long ago as one that answers may be', { lastHeartbeatAt: NOW - 16_000 }, false],
    ['the node was heard longer ago', { lastHeartbeatAt: NOW - 16_001 }, true],
    ['it was stored within the minute of large fleets', { lastReportAt: NOW - 76_000 }, false],
    ['it was stored before that', { lastReportAt: NOW - 76_001 }, true],
  ];
  for (const [reason, input, expected] of rows) {
    it(`${expected ? 'says nothing of now' : 'counts'} where ${reason}`, () => {
      expect(isOverdue({ ...well, lastReportAt: NOW - 1_000, ...input })).to.equal(expected);
    });
  }
});
