import { monotonicFactory } from 'ulid';

const next = monotonicFactory();
/** A new id: 26 characters, lower case, sorts by time of creation. */
export const newId = (): string => next().toLowerCase();
