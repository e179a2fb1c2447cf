import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { PipelineEntry } from '../../../schemas/agent/protocol.ts';
import { type AgentProcess, makeWorkplace, type Workplace } from './agent-process.ts';
import type { InProcessAgent } from './in-process-agent.ts';
import { pipeline, type ScriptedServer, startServer } from './scripted-server.ts';

/** A scripted controller and a node beside it. */
export interface Scene {
  server: ScriptedServer;
  place: Workplace;
  /** Starts an agent in this process against that controller. */
  run(env?: Record<string, string>): InProcessAgent;
  /** Starts the compiled one. */
  runCompiled(env?: Record<string, string>): AgentProcess;
  /** Waits for a state; the clock of agents in this process moves on meanwhile. */
  until: Workplace['until'];
  /** Waits until the newest heartbeat names the pipeline with this status. */
  reach(id: string, status: string, timeoutMs?: number): Promise<void>;
  /** Waits until the newest heartbeat names an engine of each. The compiled agent needs 2 s more to say RUNNING. */
  untilStarted(...ids: string[]): Promise<void>;
  /** The lines of a pipeline that heartbeats have brought. */
  logs(id: string): string[];
  close(): Promise<void>;
}

/** `ports`: how many in a row the engines may take. */
export async function makeScene(ports?: number): Promise<Scene> {
  const server = await startServer();
  const place = await makeWorkplace(ports);
  const settings = (env: Record<string, string>) => ({
    SVC_URL: server.url,
    SVC_TOKEN: 'enroll-me',
    ...env,
  });
  return {
    server,
    place,
    run: (env = {}) => place.run(settings(env)),
    runCompiled: (env = {}) => place.runCompiled(settings(env)),
    until: place.until,
    reach: (id, status, timeoutMs = 10_000) =>
      place.until(() => server.report(id)?.status === status, {
        what: () => `${id} is reported ${status}: ${JSON.stringify(server.report(id))}`,
        timeoutMs,
      }),
    untilStarted: (...ids) =>
      place.until(() => ids.every((id) => place.engines().includes(server.report(id)?.pid ?? 0)), {
        what: () => `engines of ${ids} run: ${JSON.stringify(server.heartbeats.at(-1)?.pipelines)}`,
      }),
    logs: (id) =>
      server.heartbeats.flatMap(
        (beat) => beat.pipelines.find((entry) => entry.pipelineId === id)?.recentLogs ?? [],
      ),
    async close() {
      await place.clean();
      await server.close();
    },
  };
}

/** A pipeline whose engine is the fake one, with that fault. `note` makes another content of it. */
export const faulty = (
  id: string,
  fault: string,
  fields: Partial<PipelineEntry> = {},
  note = '',
): PipelineEntry => pipeline(id, { configYaml: `# fault: ${fault}\n# ${note}\n`, ...fields });

/** Bytes that the process holds, or has held at most. */
export function residentBytes(pid: number, name: 'VmRSS' | 'VmHWM' = 'VmRSS'): number {
  const text = readFileSync(`/proc/${pid}/status`, 'utf8');
  return Number(new RegExp(`^${name}:\\s+(\\d+) kB`, 'm').exec(text)?.[1]) * 1024;
}

/** Children of the process that have ended and that nobody has waited for. */
export function zombiesOf(parent: number): string[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .filter((name) => {
      try {
        const status = readFileSync(`/proc/${name}/status`, 'utf8');
        return /^State:\s+Z/m.test(status) && new RegExp(`^PPid:\\s+${parent}$`, 'm').test(status);
      } catch {
        return false;
      }
    });
}

export function filesUnder(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));
}
