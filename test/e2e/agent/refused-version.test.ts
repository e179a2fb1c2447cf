import { testRefusedVersions } from './refused-version.ts';

testRefusedVersions('short');
