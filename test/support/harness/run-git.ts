/** A program: runs git as a controller does, with its own arguments, prints what it prints, and has nothing else to do. */
import { runGit } from '../../../controller/delivery/repository/index.ts';

const { signal } = new AbortController();
const env = { PATH: process.env.PATH ?? '' };
const { stdout } = await runGit(process.argv.slice(2), { cwd: '/', env, signal, deadlineMs: 600_000 });
process.stdout.write(stdout);
