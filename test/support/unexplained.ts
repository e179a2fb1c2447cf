const UNEXPLAINED = /"msg":"request failed"|unhandled|uncaught|at file:\/\/|FATAL/i;
/** It quotes the end of Postgres' own log, with what Postgres calls fatal. */
const QUOTES_POSTGRES = '"msg":"PostgreSQL does not start yet';

/** Lines of a controller's output that tell of an error which nobody has thought of. */
export const unexplainedLines = (output: string): string[] =>
  output.split('\n').filter((line) => UNEXPLAINED.test(line) && !line.includes(QUOTES_POSTGRES));
