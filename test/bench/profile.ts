/** A CPU profile as V8 writes it, told in a few lines: which functions the time was spent in. */
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';

interface CpuProfile {
  nodes: {
    id: number;
    callFrame: { functionName: string; url: string; lineNumber: number };
  }[];
  samples: number[];
  /** Microseconds from one sample to the next. */
  timeDeltas: number[];
}

const ROOT = join(import.meta.dirname, '../..');
const LINES = 25;

export interface ProfileFolder {
  path: string;
  /** The functions with the most time of their own, a line each; empty when no profile was written. */
  summary(): string;
}

/** A folder for the profiles of a controller; `summary` takes it away. */
export function profileFolder(): ProfileFolder {
  const path = mkdtempSync(join(tmpdir(), 'headgate-profile-'));
  return {
    path,
    summary() {
      try {
        // A thread of its own writes its own, smaller, profile.
        const [largest] = readdirSync(path)
          .map((name) => join(path, name))
          .sort((a, b) => statSync(b).size - statSync(a).size);
        return largest ? summarise(JSON.parse(readFileSync(largest, 'utf8')) as CpuProfile) : '';
      } finally {
        rmSync(path, { recursive: true, force: true });
      }
    },
  };
}

function summarise({ nodes, samples, timeDeltas }: CpuProfile): string {
  const names = new Map(nodes.map(({ id, callFrame }) => [id, nameOf(callFrame)]));
  const own = new Map<string, number>();
  for (const [at, id] of samples.entries()) {
    const name = names.get(id) ?? '(unknown)';
    own.set(name, (own.get(name) ?? 0) + (timeDeltas[at] ?? 0));
  }
  const total = [...own.values()].reduce((sum, time) => sum + time, 0);
  const idle = own.get('(idle)') ?? 0;
  own.delete('(idle)');
  const busy = total - idle;
  const lines = [...own]
    .sort(([, a], [, b]) => b - a)
    .slice(0, LINES)
    .map(([name, time]) => `${((time / busy) * 100).toFixed(1).padStart(5)} %  ${name}`);
  return [
    `busy for ${((busy / total) * 100).toFixed(0)} % of ${(total / 1e6).toFixed(0)} s; of that:`,
    ...lines,
  ].join('\n');
}

function nameOf({ functionName, url, lineNumber }: CpuProfile['nodes'][number]['callFrame']): string {
  const name = functionName || '(anonymous)';
  if (url === '') return name;
  const file = url.startsWith('file://') ? relative(ROOT, url.slice('file://'.length)) : url;
  return `${name}  ${file}:${lineNumber + 1}`;
}
