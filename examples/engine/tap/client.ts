import { get } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { EXIT_OK, EXIT_UNAVAILABLE } from '../exit-codes.ts';
import type { TapCommand } from './command.ts';
import { type FormatEvent, formatterOf } from './format.ts';
import { queryOf } from './request.ts';
import type { StreamLine } from './streams.ts';

const RECONNECT_MS = 5_000;

export interface TapDeps {
  out: NodeJS.WritableStream;
  complain: (text: string) => void;
  /** Aborted by the first SIGTERM or SIGINT. */
  stop: AbortSignal;
}

/** `tap`: prints events until it is stopped; returns the exit code. */
export async function tap(command: TapCommand, { out, complain, stop }: TapDeps): Promise<number> {
  const signals = [stop];
  if (command.durationMs !== undefined) signals.push(AbortSignal.timeout(command.durationMs));
  const end = AbortSignal.any(signals);
  const format = await formatterOf(command.format, command.meta);
  // The reader has left.
  out.on('error', () => process.exit(EXIT_OK));
  for (let first = true; ; first = false) {
    const failure = await follow(command, { out, complain, end, format });
    if (end.aborted) return EXIT_OK;
    if (first && failure !== undefined) {
      complain(`[tap] Couldn't connect to the API at ${command.url.origin}: ${failure}\n`);
      return EXIT_UNAVAILABLE;
    }
    if (!command.reconnect) return EXIT_OK;
    complain(`[tap] Connection failed. Reconnecting in ${RECONNECT_MS / 1000} seconds.\n`);
    await sleep(RECONNECT_MS, undefined, { signal: end }).catch(() => {});
    if (end.aborted) return EXIT_OK;
  }
}

interface Following {
  out: NodeJS.WritableStream;
  complain: (text: string) => void;
  end: AbortSignal;
  format: FormatEvent;
}

/** One connection to its end; gives the reason where there was none. */
function follow(command: TapCommand, { out, complain, end, format }: Following): Promise<string | undefined> {
  return new Promise((done) => {
    let connected = false;
    const request = get(address(command), { signal: end }, (response) => {
      response.setEncoding('utf8');
      if (response.statusCode !== 200) {
        let text = '';
        response.on('data', (part: string) => {
          text = (text + part).slice(0, 500);
        });
        response.on('close', () => done(`status ${response.statusCode} ${text}`.trim()));
        return;
      }
      connected = true;
      let rest = '';
      response.on('data', (part: string) => {
        const lines = (rest + part).split('\n');
        rest = lines.pop() ?? '';
        const text = lines
          .filter((line) => line !== '')
          .map((line) => print(JSON.parse(line) as StreamLine))
          .join('');
        if (text === '' || out.write(text)) return;
        response.pause();
        out.once('drain', () => response.resume());
      });
      response.on('error', () => {});
      response.on('close', () => done(undefined));
    });
    request.on('error', (error) => done(connected ? undefined : error.message || 'not reachable'));
  });

  function print(line: StreamLine): string {
    if (!('notice' in line)) return format(line) ?? '';
    if (!command.quiet) complain(`${line.notice}\n`);
    return '';
  }
}

/** Also from the address of the GraphQL API that Vector had up to 0.54. */
function address(command: TapCommand): URL {
  const url = new URL(command.url);
  url.pathname = `${url.pathname.replace(/\/(graphql\/?)?$/, '')}/tap`;
  url.search = queryOf(command);
  return url;
}
