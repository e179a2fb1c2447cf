/** Files that an agent is offered as its new version, and signatures of them. */
import { createHash, generateKeyPairSync, sign } from 'node:crypto';
import { releaseStatement } from '../../../agent/update/release-statement.ts';

export const keys = generateKeyPairSync('ed25519');

/** A new version that is a shell script: says its version, and does what is given when it is started. */
export const script = (version: string, otherwise = 'exit 1') =>
  Buffer.from(`#!/bin/sh\n[ "$1" = --version ] && { echo ${version}; exit 0; }\n${otherwise}\n`);

export const digestOf = (data: Buffer) => createHash('sha256').update(data).digest('hex');

/** By `keys` unless others are given, for this machine. */
export function signed(version: string, sha256: string, { privateKey } = keys): string {
  const { platform: os, arch } = process;
  return sign(null, releaseStatement({ version, os, arch, sha256 }), privateKey).toString('base64');
}
