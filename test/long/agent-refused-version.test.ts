import { testRefusedVersions } from '../e2e/agent/refused-version.ts';

testRefusedVersions('long');
