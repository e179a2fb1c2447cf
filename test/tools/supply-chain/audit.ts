/**
 * Part of `make check`: known vulnerabilities of what is shipped fail it; those of tools are told. A registry that keeps no
 * advisories, or is away, cannot stop the work.
 */
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { FOLDERS, type Folder, ROOT, shippedPackages } from './shipped.ts';

const DEADLINE_MS = 60_000;

/** What `npm audit --json` says. */
export interface AuditReport {
  vulnerabilities?: Record<string, { name: string; severity: string; range?: string; nodes?: string[] }>;
  error?: { summary?: string };
  statusCode?: number;
  message?: string;
}

export interface Verdict {
  fails: boolean;
  lines: string[];
}

export function judge(report: AuditReport | null, shipped: ReadonlySet<string>): Verdict {
  if (!report?.vulnerabilities) {
    const why = report?.statusCode
      ? `the registry answered ${report.statusCode}`
      : 'the registry is not reached';
    return { fails: false, lines: [`Dependencies were not looked up among known vulnerabilities: ${why}`] };
  }
  const found = Object.values(report.vulnerabilities);
  const isShipped = ({ nodes = [] }: { nodes?: string[] }) => nodes.some((path) => shipped.has(path));
  const line = ({ name, severity, range = '*' }: { name: string; severity: string; range?: string }) =>
    `${name} ${range}: ${severity}`;
  const ours = found.filter(isShipped);
  const tools = found.filter((one) => !isShipped(one));
  return {
    fails: ours.length > 0,
    lines: [
      ...ours.map(
        (one) => `Known vulnerability in what is shipped: ${line(one)}. Update it; npm audit tells more`,
      ),
      ...tools.map((one) => `Known vulnerability in a tool: ${line(one)}`),
    ],
  };
}

function ask(folder: Folder): Promise<AuditReport | null> {
  return new Promise((resolve) => {
    const options = { cwd: join(ROOT, folder), timeout: DEADLINE_MS, maxBuffer: 64 * 1024 * 1024 };
    // It exits with 1 where it finds something, and where it finds nobody to ask.
    execFile('npm', ['audit', '--audit', '--json', '--package-lock-only'], options, (_, stdout) => {
      try {
        resolve(JSON.parse(stdout) as AuditReport);
      } catch {
        resolve(null);
      }
    });
  });
}

if (import.meta.main) {
  const verdicts = await Promise.all(
    FOLDERS.map(async (folder) => judge(await ask(folder), shippedPackages(folder))),
  );
  // The same of each where the registry does not tell.
  for (const line of new Set(verdicts.flatMap(({ lines }) => lines))) process.stderr.write(`${line}\n`);
  process.exitCode = verdicts.some(({ fails }) => fails) ? 1 : 0;
}
