/** The protocol's limits, and its patterns ready for use. */
import {
  AGENT_LIMITS,
  CERT_FILENAME_PATTERN,
  ID_PATTERN,
  SECRET_VARIABLE_PATTERN,
} from '../schemas/agent/limits.ts';

export { RESERVED_PREFIX } from '../schemas/agent/limits.ts';
export const LIMITS = AGENT_LIMITS;
export const ID = new RegExp(ID_PATTERN);
export const CERT_FILENAME = new RegExp(CERT_FILENAME_PATTERN);
export const SECRET_VARIABLE = new RegExp(SECRET_VARIABLE_PATTERN);
