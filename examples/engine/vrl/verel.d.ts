// The package types only its main entry; a bundler would take its browser build from there.
declare module '@bpinternal/verel/dist/node/index.js' {
  import * as verel from '@bpinternal/verel';

  export default verel;
}
