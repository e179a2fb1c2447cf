/** An update of an agent on its way: when it is over, and why. */
import { expect } from 'chai';
import {
  channelOf,
  EXPIRES_MS,
  findExpiry,
  hasRestarted,
  type PendingAgentUpdate,
  presentPending,
  type Reported,
  reportedOutcome,
  sameVersion,
  startsTry,
  TRY_MS,
} from '../../../controller/fleet/updates/pending-update.ts';

const NOW = Date.UTC(2026, 0, 1);
const MINUTE = 60_000;
const update = (more: Partial<PendingAgentUpdate> = {}): PendingAgentUpdate => ({
  action: {
    type: 'self_update',
    targetVersion: 'v1.2.0',
    downloadUrl: 'https://example.org/agent',
    checksum: `sha256:${'ab'.repeat(32)}`,
  },
  requestedAt: NOW,
  tries: 0,
  triedAt: null,
  errorBefore: null,
  ...more,
});
const report = (more: Partial<Reported> = {}): Reported => ({
  agentVersion: 'v1.1.0',
  updateError: null,
  uptimeSeconds: 100,
  ...more,
});
const failed = (reason: string) => ({ updated: false, reason });

describe('an update of an agent', () => {
  const REPORTS: {
    reason: string;
    update?: Partial<PendingAgentUpdate>;
    report: Partial<Reported>;
    is: unknown;
  }[] = [
    { reason: 'goes on while nothing is told', report: {}, is: null },
    { reason: 'is over with the version', report: { agentVersion: 'v1.2.0' }, is: { updated: true } },
    { reason: 'takes 1.2.0 for v1.2.0', report: { agentVersion: '1.2.0' }, is: { updated: true } },
    { reason: 'fails with an error', report: { updateError: 'no space' }, is: failed('no space') },
    {
      reason: 'has arrived where an error of before still stands',
      report: { agentVersion: 'v1.2.0', updateError: 'no space' },
      is: { updated: true },
    },
    {
      reason: 'is not ended by the error of the update before',
      update: { errorBefore: 'no space', tries: 1, triedAt: NOW - MINUTE },
      report: { updateError: 'no space' },
      is: null,
    },
    {
      reason: 'is ended by the same error once it must be over',
      update: { errorBefore: 'no space', tries: 1, triedAt: NOW - 7 * MINUTE },
      report: { updateError: 'no space' },
      is: failed('no space'),
    },
    {
      reason: 'is not ended by the error of one that it has taken the place of',
      update: { tries: 1, triedAt: NOW - 7 * MINUTE },
      report: { updateError: 'update to v1.3.0 failed: no space' },
      is: null,
    },
    {
      reason: 'is not ended by a refusal of one that it has taken the place of',
      update: { tries: 1, triedAt: NOW - 7 * MINUTE },
      report: { updateError: 'update to v1.3.0 refused: it is not signed' },
      is: null,
    },
    {
      reason: 'is ended by its own refusal',
      report: { updateError: 'update to 1.2.0 refused: it is not signed' },
      is: failed('update to 1.2.0 refused: it is not signed'),
    },
    {
      reason: 'is ended by its own',
      report: { updateError: 'update to 1.2.0 failed: no space' },
      is: failed('update to 1.2.0 failed: no space'),
    },
  ];
  for (const row of REPORTS) {
    it(row.reason, () => {
      expect(reportedOutcome(update(row.update), report(row.report), NOW)).to.deep.equal(row.is);
    });
  }

  it('is given up after a day, and ten minutes after its third try', () => {
    expect(findExpiry(update(), NOW + EXPIRES_MS)).to.equal(null);
    expect(findExpiry(update(), NOW + EXPIRES_MS + 1)).to.deep.equal(
      failed('It was not carried out within 24 hours'),
    );
    const third = update({ tries: 3, triedAt: NOW + MINUTE });
    expect(findExpiry(third, NOW + MINUTE + TRY_MS)).to.equal(null);
    expect(findExpiry(third, NOW + MINUTE + TRY_MS + 1)?.updated).to.equal(false);
    expect(findExpiry(update({ tries: 2, triedAt: NOW }), NOW + 2 * TRY_MS)).to.equal(null);
  });

  it('is begun by the first answer that carries it, and again by one ten minutes later', () => {
    expect(startsTry(update(), NOW)).to.equal(true);
    const tried = update({ tries: 1, triedAt: NOW });
    expect(startsTry(tried, NOW + TRY_MS)).to.equal(false);
    expect(startsTry(tried, NOW + TRY_MS + 1)).to.equal(true);
  });

  it('is begun again where the agent was started after the last try', () => {
    const tried = update({ tries: 1, triedAt: NOW });
    expect(hasRestarted(tried, 30, NOW + MINUTE)).to.equal(true);
    expect(hasRestarted(tried, 60, NOW + MINUTE)).to.equal(false);
    expect(hasRestarted(tried, 3_600, NOW + MINUTE)).to.equal(false);
    expect(hasRestarted(tried, null, NOW + MINUTE)).to.equal(false);
    expect(hasRestarted(update(), 1, NOW + MINUTE)).to.equal(false);
  });

  it('is shown with its end, and without what only the agent needs', () => {
    expect(presentPending(update({ tries: 2 }))).to.deep.equal({
      targetVersion: 'v1.2.0',
      downloadUrl: 'https://example.org/agent',
      checksum: `sha256:${'ab'.repeat(32)}`,
      requestedAt: new Date(NOW),
      expiresAt: new Date(NOW + EXPIRES_MS),
      tries: 2,
    });
  });

  it('tells channels by the form of versions', () => {
    expect([channelOf('dev-1a2b3c4'), channelOf('v1.0.0'), channelOf('1.0.0-dev')]).to.deep.equal([
      'dev',
      'stable',
      'stable',
    ]);
    expect(sameVersion('v1.0.0', '1.0.0')).to.equal(true);
    expect(sameVersion('v1.0.0', 'v1.0.1')).to.equal(false);
  });
});
