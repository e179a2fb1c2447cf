/** Which engines are supported, by the banner that they print. */
import { expect } from 'chai';
import { engineSupport, OLDEST_ENGINE } from '../../../controller/fleet/engines/index.ts';

const CASES: readonly { banner: string | null; state: string; version: string | null }[] = [
  { banner: 'vector 0.57.0 (x86_64-unknown-linux-gnu)', state: 'supported', version: '0.57.0' },
  {
    banner: 'vector 0.58.0 (x86_64-unknown-linux-musl 2bcad9b 2026-08-26 10:00:00.000000000)',
    state: 'supported',
    version: '0.58.0',
  },
  { banner: 'vector 0.50.0 (aarch64-apple-darwin)', state: 'supported', version: '0.50.0' },
  { banner: 'vector 1.0.0', state: 'supported', version: '1.0.0' },
  { banner: 'vector 0.100.3 (x86_64)', state: 'supported', version: '0.100.3' },
  { banner: 'vector 0.51.1-nightly.20260101 (x86_64)', state: 'supported', version: '0.51.1' },
  { banner: 'vector 0.49.9 (x86_64-unknown-linux-gnu)', state: 'unsupported', version: '0.49.9' },
  {
    banner: 'vector 0.40.0 (x86_64-unknown-linux-gnu 1167aa9 2024-07-29)',
    state: 'unsupported',
    version: '0.40.0',
  },
  { banner: 'vector 0.9.2', state: 'unsupported', version: '0.9.2' },
  { banner: 'Vector v0.40.0', state: 'unsupported', version: '0.40.0' },
  // Numbers of other programs mean something else.
  { banner: 'headgate-engine 0.1.0 (x86_64-unknown-linux-gnu)', state: 'unknown', version: null },
  { banner: 'fake-engine 1.0', state: 'unknown', version: null },
  { banner: 'vector', state: 'unknown', version: null },
  { banner: 'vector 0.40', state: 'unknown', version: null },
  { banner: 'vectorized 0.40.0', state: 'unknown', version: null },
  { banner: '', state: 'unknown', version: null },
  { banner: null, state: 'unknown', version: null },
];

describe('the support of an engine', () => {
  for (const { banner, state, version } of CASES) {
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
