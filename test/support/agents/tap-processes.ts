import { readdirSync, readFileSync } from 'node:fs';

/** Pids of the processes that tap an engine whose API is at one of these ports. */
export function tapsOf(...apiPorts: number[]): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .filter((pid) => {
      const words = wordsOf(pid);
      return words.includes('tap') && apiPorts.some((port) => words.includes(`http://127.0.0.1:${port}`));
    })
    .map(Number);
}

function wordsOf(pid: string): string[] {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0');
  } catch {
    return [];
  }
}
