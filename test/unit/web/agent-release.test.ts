/** Which nodes an update of agents leaves out, and why. */
import { expect } from 'chai';
import type { NodeSummary } from '../../../schemas/api/fleet/fleet.ts';
import type { Versions } from '../../../schemas/api/fleet/releases.ts';
import { whyNotByFile, whyNotUpdated } from '../../../web/src/features/fleet/updates/agent-release.ts';

const node = (more: Partial<NodeSummary> = {}) =>
  ({
    ...{ os: 'linux/x64', channel: 'stable', agentVersion: '0.6.0', deploymentMode: 'STANDALONE' },
    ...{ enrolledAt: new Date(0), revoked: false, ...more },
  }) as NodeSummary;
const VERSIONS = {
  agent: { version: 'v0.7.0', files: [{ os: 'linux', arch: 'x64', libc: 'glibc' }] },
  devAgent: null,
} as unknown as Versions;

describe('nodes that an update leaves out', () => {
  for (const { reason, of, libc = 'glibc', says } of [
    { reason: 'none that is older', of: node(), says: null },
    {
      reason: 'in a container',
      of: node({ deploymentMode: 'DOCKER' }),
      says: 'runs in a container: pull a new image instead',
    },
    { reason: 'never enrolled', of: node({ enrolledAt: null }), says: 'has not enrolled yet' },
    { reason: 'revoked', of: node({ revoked: true }), says: 'was revoked' },
    {
      reason: 'of a channel without a release',
      of: node({ channel: 'dev' }),
      says: 'no agent of the channel dev is served here',
    },
    { reason: 'up to date', of: node({ agentVersion: '0.7.0' }), says: 'has v0.7.0 already' },
    {
      reason: 'of another C library',
      of: node(),
      libc: 'musl',
      says: 'v0.7.0 has no file for linux/x64, musl',
    },
    {
      reason: 'of another system',
      of: node({ os: 'linux/arm64' }),
      says: 'v0.7.0 has no file for linux/arm64, glibc',
    },
  ] as const)
    it(`to the newest release: ${reason}`, () => expect(whyNotUpdated(of, VERSIONS, libc)).to.equal(says));

  for (const { reason, of = node(), version, system = 'linux/x64', says } of [
    { reason: 'none, as long as it is not said which', version: '', says: null },
    { reason: 'none of its channel and system', version: 'v0.8.1', says: null },
    { reason: 'another channel', version: 'dev-0123abc', says: 'follows the channel stable' },
    {
      reason: 'another system',
      version: 'v0.8.1',
      system: 'linux/arm64',
      says: 'runs on linux/x64',
    },
    { reason: 'what it has', version: '0.6.0', says: 'has 0.6.0 already' },
    { reason: 'a revoked one', of: node({ revoked: true }), version: 'v0.8.1', says: 'was revoked' },
  ])
    it(`to a file: ${reason}`, () => expect(whyNotByFile(of, version, system)).to.equal(says));
});
