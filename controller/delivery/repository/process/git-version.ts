/** Whether the git of this machine pins the address of a server. */
import { RepositoryError } from '../repository-error.ts';

/** `http.curloptResolve` came with git 2.37; an older git silently ignores it. */
const PINS = [2, 37] as const;

/**
 * Returns a check that throws for a git that would resolve the name of a server itself, and could be led to an address that
 * nobody checked. `ask` returns the output of `git --version`; only a sufficient version is remembered, since git may be
 * updated.
 */
export function createPinCheck(): (ask: () => Promise<string>) => Promise<void> {
  let pins = false;
  return async (ask) => {
    if (pins) return;
    const output = await ask();
    const [, major = '0', minor = '0'] = /^git version (\d+)\.(\d+)/.exec(output) ?? [];
    pins = Number(major) > PINS[0] || (Number(major) === PINS[0] && Number(minor) >= PINS[1]);
    if (pins) return;
    throw new RepositoryError(
      'program',
      `git servers over http(s) need git ${PINS.join('.')} or newer on the controller, which has ${output.trim().slice(0, 60) || 'one without a version'}: an older one does not keep to the address that was checked; update it, or reach the server through a proxy or over ssh`,
    );
  };
}
