/** The `headgate` command as a process: its arguments, streams and exit code. */
// For who starts this file by itself: `bin/headgate` has loaded it before.
import './cli/compile-cache.cjs';
import { EXIT } from './cli/command.ts';
import { explain, runCommand } from './cli/run-command.ts';

// A terminal that is closed takes its streams along; everything is to be ended in order all the same.
for (const stream of [process.stdout, process.stderr]) stream.on('error', () => {});

/** What was written to a pipe is not there yet when a process exits. */
function flushed(stream: NodeJS.WriteStream): Promise<void> {
  return new Promise((resolve) => {
    if (stream.writableLength === 0 || stream.destroyed) resolve();
    else stream.write('', () => resolve());
  });
}

const io = {
  out: (text: string) => void process.stdout.write(text),
  err: (text: string) => void process.stderr.write(text),
  env: process.env,
  cwd: process.cwd(),
};

runCommand(process.argv.slice(2), io).then(
  async (code) => {
    await Promise.all([flushed(process.stdout), flushed(process.stderr)]);
    process.exit(code);
  },
  (error: unknown) => {
    process.stderr.write(explain(error));
    process.exit(EXIT.couldNotRun);
  },
);
