const NAME = 'headgate-engine';
export const ENGINE_VERSION = '0.1.0';

const MACHINES: Record<string, string> = { x64: 'x86_64', arm64: 'aarch64' };
const SYSTEMS: Record<string, string> = { linux: 'unknown-linux-gnu', darwin: 'apple-darwin' };

/** The target triple of this process, as in `x86_64-unknown-linux-gnu`. */
export function targetTriple(): string {
  const machine = MACHINES[process.arch] ?? process.arch;
  const system = SYSTEMS[process.platform] ?? process.platform;
  return `${machine}-${system}`;
}

/** The one line that `--version` prints. */
export function versionLine(): string {
  return `${NAME} ${ENGINE_VERSION} (${targetTriple()})`;
}
