/** What one kind of object promises to whoever creates, lists, updates and deletes it. One row of data is one kind. */

/** Where an object is created. */
export interface Place {
  teamId: string;
  environmentId: string;
}

/** Fields that differ from a valid input, and what the message says of them. */
export interface WrongInput {
  reason: string;
  fields: object;
  says: RegExp;
}

export interface CrudRow {
  /** In the plural, as a sentence begins with it. */
  objects: string;
  create: string;
  remove: string;
  update?: string;
  list: string;
  /** Shows all of one; where it is left out, the list does. */
  get?: string;
  /** A name is taken once in it. */
  scope: 'team' | 'environment';
  /** How a list and a new object name their place. */
  at(place: Place): object;
  /** What `update` and `remove` want beside the id. */
  beside?(place: Place): object;
  /** A valid input without the name and the place. */
  input: object;
  wrong: readonly WrongInput[];
  /** What an update alone may say. */
  wrongUpdates?: readonly WrongInput[];
  /** Names beside those of other rows that are taken. */
  names?: readonly string[];
  /** The longest and largest that is taken. */
  largest?: object;
  /** What follows "exists already in this …". */
  advice: RegExp;
  /** White space at the ends of a name is not removed: it is wrong, or part of the name. */
  keepsSpaces?: true;
  /** An update of one field, and what it was. The audit log has it in its diff unless it says otherwise. */
  change?: { field: string; from: unknown; to: unknown; audited?: false };
  /** How many a scope (`?`) may hold, and SQL that creates as many as it is told (`?`). */
  limit?: { count: number; fill: string; says: RegExp };
  /** `vrlSnippet` of `vrlSnippet.created`. */
  audit: string;
  /** What the audit row of an update tells beside the name. */
  updatedMetadata?: object;
  /** Text of the input that no audit row may hold. */
  unaudited?: string;
}
