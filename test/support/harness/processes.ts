/** What runs on this machine (Linux only), found as an operator would: by command line and environment. */
import { readdirSync, readFileSync } from 'node:fs';

export interface Process {
  pid: number;
  commandLine: string[];
}

/** Those that name the text on their command line or in their environment, and that this user may look into. */
export function processesNaming(text: string): Process[] {
  return processes().filter(
    ({ pid, commandLine }) =>
      commandLine.some((word) => word.includes(text)) || read(`/proc/${pid}/environ`).includes(text),
  );
}

export function childrenOf(parent: number): Process[] {
  // The fourth field; the second is in parentheses and may hold blanks.
  return processes().filter(
    ({ pid }) => Number(read(`/proc/${pid}/stat`).split(') ').at(-1)?.split(' ')[1]) === parent,
  );
}

/** Of everything that runs, as any user may read it. */
const commandLines = (): string[] => processes().map(({ commandLine }) => commandLine.join(' '));

/** Every command line that was seen while `work` went on. */
export async function commandLinesDuring(work: () => Promise<unknown>): Promise<Set<string>> {
  const seen = new Set<string>();
  const watching = setInterval(() => {
    for (const line of commandLines()) seen.add(line);
  }, 10);
  try {
    await work();
  } finally {
    clearInterval(watching);
  }
  return seen;
}

/** The engines of the pipeline with this id. */
export function enginesOf(pipelineId: string): number[] {
  return processes()
    .filter(({ commandLine }) => commandLine.some((word) => word.endsWith(`/${pipelineId}.yaml`)))
    .map(({ pid }) => pid);
}

export function environmentOf(pid: number): Record<string, string> {
  const pairs = read(`/proc/${pid}/environ`).split('\0').filter(Boolean);
  return Object.fromEntries(
    pairs.map((pair) => [pair.slice(0, pair.indexOf('=')), pair.slice(pair.indexOf('=') + 1)]),
  );
}

function processes(): Process[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid)
    .map((name) => ({
      pid: Number(name),
      commandLine: read(`/proc/${name}/cmdline`).split('\0').filter(Boolean),
    }))
    .filter(({ commandLine }) => commandLine.length > 0);
}

function read(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}
