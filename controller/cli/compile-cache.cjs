/**
 * Loaded before the headgate command, and in its threads. What a command loads is stripped of its types and compiled once for
 * each installation: half a second less the next time. Beside the code, where nobody writes who could not write the code; where
 * that cannot be written, nothing is kept. This file is JavaScript, since what strips types takes a tenth of a second to load.
 */
const { enableCompileCache } = require('node:module');
const { join } = require('node:path');

enableCompileCache(join(__dirname, '../../node_modules/.cache/headgate'));
