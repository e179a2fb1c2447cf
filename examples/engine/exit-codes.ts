/**
 * Vector's exit codes. Everything that fails after the topology has started ends with 0,
 * a port in use included: whoever supervises the process must treat an unasked exit as a crash.
 */
export const EXIT_OK = 0;
export const EXIT_USAGE = 2;
export const EXIT_CONFIG = 78;
