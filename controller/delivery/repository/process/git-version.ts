/** What the git of this machine can. */
import { RepositoryError } from '../repository-error.ts';

/** `http.curloptResolve` came with 2.37; an earlier git does without a word what it would have done without it. */
const PINS = [2, 37] as const;

/**
 * The answer throws where git would look the name of a server up by itself, and could be led to an address that nobody has
 * checked. `ask` gives what `git --version` prints: only a git that is new enough is remembered, since it may be updated.
 */
export function createPinCheck(): (ask: () => Promise<string>) => Promise<void> {
  let pins = false;
  return async (ask) => {
    if (pins) return;
    const told = await ask();
    const [, major = '0', minor = '0'] = /^git version (\d+)\.(\d+)/.exec(told) ?? [];
    pins = Number(major) > PINS[0] || (Number(major) === PINS[0] && Number(minor) >= PINS[1]);
    if (pins) return;
    throw new RepositoryError(
      'program',
      `git servers over http(s) need git ${PINS.join('.')} or newer on the controller, which has ${told.trim().slice(0, 60) || 'one that does not say its version'}: an older one does not keep to the address that was checked; update it, or reach the server through a proxy or over ssh`,
    );
  };
}
