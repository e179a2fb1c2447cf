/** Which versions of Vector the agents and the controller support, by the version banner that the engine prints. */

/**
 * Older versions differ from the tested ones. Later changes are handled by version: line breaks in values (0.51), interpolation
 * (0.52), API and tap (0.55), VRL compiled by `validate` (0.57).
 */
export const OLDEST_ENGINE = '0.50.0';

export interface EngineSupport {
  /** `unknown`: no banner yet, or the banner of another program. */
  state: 'supported' | 'unsupported' | 'unknown';
  /** Vector's version (`0.57.0`); null for other programs. */
  version: string | null;
  /** Empty for a supported version. */
  message: string;
}

// `vector 0.57.0 (x86_64-unknown-linux-gnu 2bcad9b 2026-…)`; builds of distributions add `-1`, nightlies `-nightly.…`.
const VECTOR = /^vector v?((\d{1,4})\.(\d{1,4})\.(\d{1,4}))(?:[-+][\w.+-]*)?(?:\s|$)/i;

export function engineSupport(banner: string | null): EngineSupport {
  const text = banner?.trim() ?? '';
  if (text === '') {
    return { state: 'unknown', version: null, message: 'The engine has not reported its version' };
  }
  const found = VECTOR.exec(text);
  // Other engines, such as the reference engine, number their versions in another way.
  if (!found) return { state: 'unknown', version: null, message: '' };
  const version = found[1] ?? '';
  const numbers = found.slice(2, 5).map(Number);
  const oldest = OLDEST_ENGINE.split('.').map(Number);
  const at = oldest.findIndex((number, index) => numbers[index] !== number);
  if (at < 0 || (numbers[at] ?? 0) > (oldest[at] ?? 0)) return { state: 'supported', version, message: '' };
  return {
    state: 'unsupported',
    version,
    message: `Engine ${version} is older than ${OLDEST_ENGINE}, the oldest that is supported: pipelines may not start there, and samples and taps may fail. Install a newer Vector on the node`,
  };
}
