/**
 * Vector's exit codes. Everything that fails after the topology has started ends with 0,
 * a port in use included: a supervisor of the process must treat an unasked exit as a crash.
 */
export const EXIT_OK = 0;
export const EXIT_USAGE = 2;
/** `tap`: there is no API at the address. */
export const EXIT_UNAVAILABLE = 69;
/** `generate-schema`: the file is there already, or cannot be written. */
export const EXIT_CANNOT_CREATE = 73;
export const EXIT_IO = 74;
export const EXIT_CONFIG = 78;
/** A panic: `VECTOR_LOG` cannot be read. */
export const EXIT_PANIC = 101;
