/** The backend EXEC runs only commands that the operator lists, arguments included. This holds for super admins too. */
import { isDeepStrictEqual } from 'node:util';
import type { ExecConfig } from '../../../schemas/api/secrets/secret-backends.ts';
import { BackendError } from '../backends/backend.ts';

const execIsOff = (): BackendError =>
  new BackendError(
    'refused',
    'EXEC is off on this controller: its operator has to list the allowed commands in HEADGATE_EXEC_SECRET_COMMANDS',
  );

/** @throws BackendError `refused` where EXEC is off, `forbidden` where the operator does not list the command. */
export function assertListed(execCommands: readonly string[], { command, args = [] }: ExecConfig): void {
  if (execCommands.length === 0) throw execIsOff();
  const parts = [command, ...args];
  // The parts are compared, not the joined line: an argument that contains a blank is never on the list.
  if (execCommands.some((line) => isDeepStrictEqual(line.split(' '), parts))) return;
  throw new BackendError(
    'forbidden',
    `${parts.join(' ').slice(0, 200)} is not one of the commands that the operator of this controller lists in HEADGATE_EXEC_SECRET_COMMANDS, which fixes the arguments too; choose one of them, or ask the operator to list this one`,
  );
}
