/** Renders why a change does not become a commit, for the user who made it. */
import { DomainError, preconditionFailed } from '../../../controller/platform/operation/errors.ts';
import { CannotEdit } from '../yaml/cannot-edit.ts';

/** One field that has changed in git since it was applied, and what was asked for. Values are JSON texts. */
export interface ConflictingField {
  pointer: string;
  git: string | null;
  yours: string | null;
  applied: string | null;
}

const SHOWN = 200;
const KEPT = 4_000;

export const asJson = (value: unknown): string | null =>
  value === undefined ? null : JSON.stringify(value).slice(0, KEPT);
const shown = (text: string | null): string =>
  text === null ? 'nothing' : text.length > SHOWN ? `${text.slice(0, SHOWN)}…` : text;

export class ChangeConflict extends DomainError {
  readonly fields: readonly ConflictingField[];
  constructor(path: string, fields: readonly ConflictingField[]) {
    const texts = fields
      .slice(0, 3)
      .map(
        ({ pointer, git, yours }) => `${pointer} is ${shown(git)} in git and ${shown(yours)} in your change`,
      );
    const more = fields.length > 3 ? `, and ${fields.length - 3} more` : '';
    super(
      'CONFLICT',
      `${path} was changed in git since it was applied: ${texts.join('; ')}${more}. What git has stays, and your change was not made; load the page again once git is applied, and repeat it if it is still wanted`,
      { path, fields: fields.slice(0, 20) },
    );
    this.fields = fields;
  }
}

/** What `CannotEdit` says, with the place where people can do it themselves. */
export function explained(error: unknown, path: string, line: number): unknown {
  if (!(error instanceof CannotEdit)) return error;
  return preconditionFailed(
    `The change cannot be written into ${path}:${line} (${error.message}); change it there and push, and it follows`,
    { managedBy: 'git', path, line },
  );
}
