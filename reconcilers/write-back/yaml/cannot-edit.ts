/** Why a change cannot be written into a file without touching what was not meant. Nothing was written. */
export class CannotEdit extends Error {
  constructor(reason: string) {
    super(reason);
    this.name = 'CannotEdit';
  }
}
