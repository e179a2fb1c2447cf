/** Which programs the backend EXEC may run: the operator's list, with their arguments, for super admins too. */
import { isDeepStrictEqual } from 'node:util';
import type { ExecConfig } from '../../../schemas/api/secret-backends.ts';
import { BackendError } from '../backends/backend.ts';

const execIsOff = (): BackendError =>
  new BackendError(
    'refused',
    'EXEC is off on this controller: its operator lists the programs that may run in HEADGATE_EXEC_SECRET_COMMANDS',
  );

/** @throws BackendError where EXEC is off: `refused`; where the operator does not list the command: `forbidden`. */
export function assertListed(execCommands: readonly string[], { command, args = [] }: ExecConfig): void {
  if (execCommands.length === 0) throw execIsOff();
  const parts = [command, ...args];
  // An argument with a blank in it is none of the list, however it reads when it is joined.
  if (execCommands.some((line) => isDeepStrictEqual(line.split(' '), parts))) return;
  throw new BackendError(
    'forbidden',
    `${parts.join(' ').slice(0, 200)} is not one of the commands that the operator of this controller lists in HEADGATE_EXEC_SECRET_COMMANDS, which fixes the arguments too; choose one of them, or ask the operator to list this one`,
  );
}
