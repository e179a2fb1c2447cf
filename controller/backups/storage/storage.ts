/** Where backups are kept: a folder, or a bucket. */
import type { Readable } from 'node:stream';

export interface StoredFile {
  filename: string;
  size: number;
  modifiedAt: Date;
}

export interface BackupStorage {
  /** In no order. What is no backup is left out. */
  list(signal: AbortSignal): Promise<StoredFile[]>;
  /** Whole or not at all: what fails leaves nothing behind. Answers the size. */
  write(filename: string, chunks: AsyncIterable<Buffer>, signal: AbortSignal): Promise<number>;
  /** @throws NOT_FOUND */
  read(filename: string, signal: AbortSignal): Promise<Readable>;
  /** What is not there is no fault. */
  delete(filename: string, signal: AbortSignal): Promise<void>;
  /** What is left of a write whose controller died. */
  deletePartial(filename: string, signal: AbortSignal): Promise<void>;
  close(): void;
}

/** Beside each archive: its manifest, which a preview reads without the archive. */
export const manifestNameOf = (filename: string): string => filename.replace(/\.tar\.gz$/, '.manifest.json');

const FILENAME = /^headgate-\d{8}T\d{6}Z-[a-z0-9]{4,12}\.tar\.gz$/;

/** Files of other names may lie beside the backups: of those it is not known what they are. */
export const isBackupName = (name: string): boolean => name.length <= 200 && FILENAME.test(name);

/** `headgate-20260131T030000Z-4k7x.tar.gz` */
export function newBackupName(now: Date, id: string): string {
  const time = now.toISOString().replaceAll(/[-:]|\.\d+/g, '');
  return `headgate-${time}-${id
    .toLowerCase()
    .replaceAll(/[^a-z0-9]/g, '')
    .slice(-6)}.tar.gz`;
}
