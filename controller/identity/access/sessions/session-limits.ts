/** How long a session lasts. */

/** From the sign-in, in milliseconds. */
export const SESSION_MS = 7 * 24 * 3_600_000;

/** A session ends after so many hours without use: OWASP ASVS 5.0 7.3.1. */
export const IDLE_HOURS = 24;
