/** The system's words for the codes that matter, as Rust prints them. */
const SYSTEM_ERRORS: Record<string, string> = {
  EADDRINUSE: 'Address already in use (os error 98)',
  EADDRNOTAVAIL: 'Cannot assign requested address (os error 99)',
  EACCES: 'Permission denied (os error 13)',
  EISDIR: 'Is a directory (os error 21)',
  ENOENT: 'No such file or directory (os error 2)',
};

export function systemErrorText(error: NodeJS.ErrnoException): string {
  return SYSTEM_ERRORS[error.code ?? ''] ?? error.message;
}
