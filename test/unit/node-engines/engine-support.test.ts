/** Which engines are supported, by the banner that they print. */
import { expect } from 'chai';
import { engineSupport, OLDEST_ENGINE } from '../../../controller/fleet/engines/index.ts';

const CASES: readonly [banner: string | null, state: string, version: string | null][] = [
  ['vector 0.57.0 (x86_64-unknown-linux-gnu)', 'supported', '0.57.0'],
  ['vector 0.58.0 (x86_64-unknown-linux-musl 2bcad9b 2026-08-26 10:00:00.000000000)', 'supported', '0.58.0'],
  ['vector 0.50.0 (aarch64-apple-darwin)', 'supported', '0.50.0'],
  ['vector 1.0.0', 'supported', '1.0.0'],
  ['vector 0.100.3 (x86_64)', 'supported', '0.100.3'],
  ['vector 0.51.1-nightly.20260101 (x86_64)', 'supported', '0.51.1'],
  ['vector 0.49.9 (x86_64-unknown-linux-gnu)', 'unsupported', '0.49.9'],
  ['vector 0.40.0 (x86_64-unknown-linux-gnu 1167aa9 2024-07-29)', 'unsupported', '0.40.0'],
  ['vector 0.9.2', 'unsupported', '0.9.2'],
  ['Vector v0.40.0', 'unsupported', '0.40.0'],
  // Numbers of other programs mean something else.
  ['headgate-engine 0.1.0 (x86_64-unknown-linux-gnu)', 'unknown', null],
  ['fake-engine 1.0', 'unknown', null],
  ['vector', 'unknown', null],
  ['vector 0.40', 'unknown', null],
  ['vectorized 0.40.0', 'unknown', null],
  ['', 'unknown', null],
  [null, 'unknown', null],
];

describe('the support of an engine', () => {
  for (const [banner, state, version] of CASES) {
    it(`of ${JSON.stringify(banner)} is ${state}`, () => {
      const support = engineSupport(banner);
      expect(support).to.include({ state, version });
      if (state === 'unsupported')
        expect(support.message)
          .to.include(`Engine ${version} is older than ${OLDEST_ENGINE}`)
          .and.include('Install a newer Vector');
      if (state === 'supported') expect(support.message).to.equal('');
    });
  }
});
